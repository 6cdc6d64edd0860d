/* SPDX-License-Identifier: MIT */

// What shows later that the end of the journal is missing. Each batch says how far its segment was
// synced before; behind the last one nothing would say so. So when all is synced and nobody has
// anything to record for a moment, a record of that kind is written by itself; it need not be
// synced, and is not repeated. And the file `about` says which segment is the youngest, and, when
// the journal is closed, where that ends.

#include "journal/journal_private.h"

#include <string.h>

#define QUIET_FOR NSEC_PER_SEC

void proof_is_wanted(struct journal *journal)
{
    journal->quiet_at = nsec_add(journal_present(journal), QUIET_FOR);
}

// Whether all there is has been synced, and there is space for one more record.
static bool is_quiet(const struct journal *journal)
{
    const struct segment *current = journal->current;

    return !journal->busy && !journal->closing && !journal->given_up &&
           journal->failing_at == NSEC_NEVER && journal->dirty_at == NSEC_NEVER &&
           batch_empty(&journal->gathering) && batch_empty(&journal->writing) &&
           batch_empty(&journal->unsynced) && current->published && !current->failed &&
           current->synced == current->end && journal->pool.count > 0 &&
           current->end + CODEC_NUMBER_SIZE + journal->reserved <= current->size;
}

nsec_t proof_due_at(const struct journal *journal)
{
    return journal->quiet_at != NSEC_NEVER && is_quiet(journal) ? journal->quiet_at : NSEC_NEVER;
}

void proof_step(struct journal *journal)
{
    if (journal->quiet_at <= journal_present(journal) && is_quiet(journal)) {
        journal->quiet_at = NSEC_NEVER;
        append_mark(journal);
    }
}

bool proof_is_all(const struct batch *batch)
{
    return batch->marked && batch->bytes == CODEC_NUMBER_SIZE;
}

bool proof_next_about(struct journal *journal, struct about *about)
{
    const struct segment *last;

    if (journal->current->number <= journal->about.youngest) {
        return false;
    }
    last = turn_written_last(journal);
    if (!last || last->number <= journal->about.youngest) {
        return false;
    }
    *about = journal->about;
    about->youngest = last->number;
    about->end = 0;
    return true;
}

bool proof_close(struct journal *journal)
{
    const struct segment *current = journal->current;
    struct about about = journal->about;
    const struct journal_io *io = journal->io;

    if (!current->published || current->failed) {
        return true;
    }
    about.youngest = current->number;
    about.end = current->end;
    return about_save(&about, io) == 0 && io->sync_directory(io->disk) == 0;
}

void proof_name_host(struct journal *journal, const char *host)
{
    if (journal->about.host[0] == '\0' && host) {
        size_t len = strnlen(host, ABOUT_HOST_MAX);

        memcpy(journal->about.host, host, len);
        journal->about.host[len] = '\0';
    }
}
