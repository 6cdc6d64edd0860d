/* SPDX-License-Identifier: MIT */
#include "server/store/init_store.h"

#include "journal/pg/schema.h"

enum exit_reason init_store(const struct store_settings *settings, FILE *output,
                            struct error_text *why)
{
    char said[SCHEMA_TEXT_SIZE];

    if (settings->store != STORE_POSTGRES) {
        error_set(why, "--init-store: needs `store = postgres` in [journal]");
        return EXIT_REASON_USAGE;
    }
    if (!journal_pg_init_store(settings->postgres, settings->shard, said, sizeof said)) {
        error_set(why, "--init-store: %s", said);
        return EXIT_REASON_JOURNAL;
    }
    (void)fprintf(output, "-- The database keeps a journal for the shard %s.\n%s", settings->shard,
                  said);
    return EXIT_REASON_NONE;
}
