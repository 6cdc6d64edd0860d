/* SPDX-License-Identifier: MIT */
// Two processes share a journal: jobs come and go, commits fail or are in doubt, owners are killed,
// sleep for too long or leave, and the other one, which has followed, takes over, all by chance.
// What was acknowledged is there, and what was told to have ended is not. To repeat a run that
// failed, set TANDEM_JOURNAL_SEED to the seed that it printed.
#include "core/base/hash.h"
#include "tests/journal/pg/shared_bed.h"

#include <stdlib.h>

enum { SEEDS = 20, TAKEOVERS = 8, ENTRIES = 4096 };

enum state_of {
    IS_UNSURE, // it may be there, or not
    IS_KEPT,
    IS_ENDED
};

struct entry {
    uint64_t id;
    enum state_of now;
    enum state_of then; // when what was appended last is acknowledged
};

struct game {
    struct shared_bed *bed;
    uint64_t dice;
    struct member *owner;
    unsigned ends_at; // the owner ends when the other has waited so often
    struct entry entries[ENTRIES];
    size_t count;
};

static struct game game;

static uint64_t roll(uint64_t bound)
{
    game.dice ^= game.dice << 13;
    game.dice ^= game.dice >> 7;
    game.dice ^= game.dice << 17;
    return (game.dice >> 32) % bound;
}

// All that the owner was told so far is as it says.
static void note_acknowledged(void)
{
    if (!member_acknowledged(game.owner)) {
        return;
    }
    for (size_t i = 0; i < game.count; i++) {
        game.entries[i].now = game.entries[i].then;
    }
}

static void put(void)
{
    static const size_t lens[] = {10, 100, 3000, 20000};
    uint64_t id = game.count < ENTRIES ? member_put(game.owner, "q", lens[roll(4)]) : 0;

    if (id > 0) {
        for (size_t i = 0; i < game.count; i++) {
            assert_true(game.entries[i].id != id);
        }
        game.entries[game.count++] = (struct entry){.id = id, .now = IS_UNSURE, .then = IS_KEPT};
    }
}

static void end(void)
{
    struct entry *entry = game.count ? &game.entries[roll(game.count)] : NULL;

    if (entry && member_has(game.owner, entry->id)) {
        member_end(game.owner, entry->id);
        entry->now = entry->now == IS_KEPT ? IS_UNSURE : entry->now;
        entry->then = IS_ENDED;
    }
}

static void go_wrong(struct member *member)
{
    static const enum fake_fate fates[] = {FATE_AWAY, FATE_DONE, FATE_UNDONE};

    if (roll(4) == 0) {
        fake_rows_set_fate(member->rows, fates[roll(3)], 1 + (unsigned)roll(4));
    }
    member->rows->cut = roll(30) == 0;
    member->rows->unremovable = roll(2) == 0;
}

static void work(void)
{
    for (uint64_t i = roll(8); i > 0; i--) {
        if (roll(5) < 3) {
            put();
        } else {
            end();
        }
    }
    go_wrong(game.owner);
    member_turns(game.owner);
    note_acknowledged();
}

// It leaves, is killed, or sleeps until another has taken over.
static void end_owner(void)
{
    switch (roll(3)) {
    case 0:
        member_close(game.owner);
        return;
    case 1:
        member_kill(game.owner);
        return;
    default:
        return;
    }
}

static void while_it_follows(struct member *self)
{
    go_wrong(self);
    self->rows->cut |= roll(10) == 0;
    if (self->step < game.ends_at) {
        work();
    } else if (game.owner->journal && self->step == game.ends_at) {
        end_owner();
    } else if (roll(3) == 0) {
        self->rows->cut = false;
    }
}

// Between its look at the lease and its reading.
static void while_it_reads(void *context, uint64_t unit)
{
    const struct member *self = context;

    (void)unit;
    for (uint64_t i = roll(6); i > 0 && game.owner->journal && self->step < game.ends_at; i--) {
        work();
    }
}

static void have_others_work_while_it_reads(struct member *self)
{
    self->rows->reads = while_it_reads;
}

static void compare(void)
{
    uint64_t there = 0;

    for (size_t i = 0; i < game.count; i++) {
        struct entry *entry = &game.entries[i];
        bool has = member_has(game.owner, entry->id);

        assert_true(has || entry->now != IS_KEPT);
        assert_true(!has || entry->now != IS_ENDED);
        entry->now = has ? IS_KEPT : IS_ENDED;
        entry->then = entry->now;
        there += has;
    }
    assert_int_equal(member_count(game.owner), there);
}

static void take_over(void)
{
    struct member *next = game.owner == &game.bed->a ? &game.bed->b : &game.bed->a;

    game.ends_at = 1 + (unsigned)roll(60);
    next->made = have_others_work_while_it_reads;
    next->script = while_it_follows;
    if (!member_open(next)) {
        fail_msg("not opened: %s", next->why.text);
    }
    next->script = NULL;
    next->rows->cut = false;
    if (game.owner->journal) {
        bool was = member_acknowledged(game.owner);

        put();
        member_turns(game.owner);
        assert_false(member_may_answer(game.owner));
        assert_true(was || !member_acknowledged(game.owner));
        member_kill(game.owner);
    }
    game.owner = next;
    compare();
}

static void play(unsigned long seed)
{
    game = (struct game){.bed = shared_bed_new(), .dice = hash_mix(seed) | 1};
    game.owner = &game.bed->a;
    assert_true(member_open(game.owner));
    for (int i = 0; i < TAKEOVERS; i++) {
        take_over();
    }
    assert_in_range(game.bed->db->most_units, 1, ROWS_UNITS_MAX);
    shared_bed_free(game.bed);
}

static void nothing_acknowledged_is_lost_and_nothing_ended_comes_back(void **state)
{
    const char *text = getenv("TANDEM_JOURNAL_SEED");
    unsigned long first = text ? strtoul(text, NULL, 10) : 1;

    (void)state;
    for (unsigned long seed = first; seed < first + SEEDS; seed++) {
        print_message("seed %lu\n", seed);
        play(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_and_nothing_ended_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
