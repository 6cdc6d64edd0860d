/* SPDX-License-Identifier: MIT */
#include "core/base/hash.h"
#include "journal/pg/pg.h"

uint64_t pg_draw_salt(struct journal *journal)
{
    return hash_mix(journal->settings.secret + pg_of(journal)->salts++);
}

void pg_follow(struct journal *journal, struct segment *next)
{
    row_follow(&journal->row, next, journal->ids.asked,
               (uint64_t)(broker_now(journal->broker).wall / NSEC_PER_MSEC));
}

bool pg_make_spare(struct journal *journal)
{
    struct pg *pg = pg_of(journal);

    if (!pg->spare) {
        pg->spare = segment_new(0, pg_draw_salt(journal));
    }
    return pg->spare && segment_make_room(pg->spare);
}

struct segment *pg_take_spare(struct journal *journal)
{
    struct segment *spare = pg_of(journal)->spare;

    pg_of(journal)->spare = NULL;
    spare->size = PG_UNIT_SIZE;
    return spare;
}
