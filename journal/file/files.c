/* SPDX-License-Identifier: MIT */
#include "journal/file/files.h"

#include "core/base/hash.h"
#include "core/base/log.h"

#include <errno.h>
#include <string.h>

void files_close_segment(const struct journal *journal, struct segment *segment)
{
    const struct journal_io *io = files_of(journal)->io;

    if (segment_is_open(segment)) {
        io->close(io->disk, segment->file);
        segment->file = -1;
    }
}

uint64_t files_draw_salt(struct journal *journal)
{
    return hash_mix(journal->settings.secret + files_of(journal)->salts++);
}

bool files_disk_is_full(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

void files_follow(struct journal *journal, struct segment *next)
{
    row_follow(&journal->row, next, journal->ids.asked,
               (uint64_t)(broker_now(journal->broker).wall / NSEC_PER_MSEC));
}

bool files_take_spare(struct journal *journal)
{
    struct files *files = files_of(journal);
    struct segment *current = journal->row.current;
    struct segment *spare = files->spare;

    if (!spare) {
        return false;
    }
    current->file = spare->file;
    current->size = spare->size;
    current->salt = spare->salt;
    segment_free(spare);
    files->spare = NULL;
    return true;
}

// There is one: nothing is handed over without.
struct segment *files_replace(struct journal *journal, struct segment *bad)
{
    struct files *files = files_of(journal);
    struct segment *current = journal->row.current;
    struct segment *next;

    if (!current->published) {
        if (bad == current && segment_is_open(current)) {
            files_close_segment(journal, current);
            current->size = 0;
        }
        return current;
    }
    next = files->spare ? files->spare : journal->row.replacement;
    ENSURE(next);
    if (next == files->spare) {
        files->spare = NULL;
    } else {
        journal->row.replacement = NULL;
    }
    files_follow(journal, next);
    return next;
}

//
// The file `about`
//

// What is wrong with it is passed over by who repairs: it has nothing that the segments need.
bool files_load_about(struct journal *journal, struct error_text *why)
{
    int error;

    switch (about_load(&files_of(journal)->about, files_of(journal)->io, &error)) {
    case ABOUT_GOOD:
    case ABOUT_NONE:
        return true;
    case ABOUT_OTHER:
        return error_set(why, ABOUT_NAME ": written by another version");
    case ABOUT_FAILED:
        error_set(why, ABOUT_NAME ": %s", strerror(error));
        break;
    case ABOUT_BAD:
        error_set(why, ABOUT_NAME " is damaged (--repair does without it)");
        break;
    }
    if (journal->settings.repair) {
        log_warn("journal_lost", log_string("file", ABOUT_NAME), log_string("why", "damaged"));
    }
    return journal->settings.repair;
}

bool files_next_about(struct journal *journal, struct about *about)
{
    const struct segment *last;

    if (journal->row.current->number <= files_of(journal)->about.youngest) {
        return false;
    }
    last = row_syncable(&journal->row);
    if (!last || last->number <= files_of(journal)->about.youngest) {
        return false;
    }
    *about = files_of(journal)->about;
    about->youngest = last->number;
    about->end = 0;
    return true;
}
