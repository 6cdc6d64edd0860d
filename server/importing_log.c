/* SPDX-License-Identifier: MIT */
#include "server/importing_log.h"

#include "core/base/log.h"
#include "server/config/journal_settings.h"
#include "server/process/clock.h"

#include <stdio.h>

// The most log lines for torn places, and for damaged ones.
#define LINES_MOST 1000

void importing_show(const char *text, char *shown, size_t size)
{
    FILE *file = fmemopen(shown, size, "w");

    shown[0] = '\0';
    if (file) {
        import_show(text, file);
        (void)fclose(file);
        shown[size - 1] = '\0';
    }
}

void importing_note(struct importing_tally *tally, bool torn, const struct source_news *news)
{
    uint64_t *count = torn ? &tally->torn : &tally->damaged;

    if (!torn && tally->damaged == 0) {
        tally->damage = *news;
    }
    if (++*count > LINES_MOST) {
        return;
    }
    if (torn) {
        log_warn("import_torn", log_string("where", news->where),
                 log_number("offset", (int64_t)news->offset), log_string("what", news->what),
                 log_string("note", "nobody was told of it, and it is left out"));
    } else {
        log_error("import_damage", log_string("where", news->where),
                  log_number("offset", (int64_t)news->offset), log_string("what", news->what));
    }
}

void importing_log_done(const struct importing_tally *tally, const char *text)
{
    log_info("import_done", log_string("from", text), log_number("jobs", (int64_t)tally->jobs),
             log_number("there_before", (int64_t)tally->there),
             log_number("joined", (int64_t)tally->joined), log_number("torn", (int64_t)tally->torn),
             log_number("damaged", (int64_t)tally->damaged),
             log_number("ms", (clock_awake() - tally->began_at) / NSEC_PER_MSEC));
}

void importing_log_progress(const struct importing_tally *tally, const char *text, uint64_t read,
                            uint64_t size)
{
    log_info("importing", log_string("from", text), log_number("read", (int64_t)read),
             log_number("of", (int64_t)size), log_number("jobs", (int64_t)tally->jobs),
             log_number("ms", (clock_awake() - tally->began_at) / NSEC_PER_MSEC));
}
