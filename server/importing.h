/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IMPORTING_H
#define TANDEM_SERVER_IMPORTING_H

// The import at the first start (journal.import). It runs after the store has restored its own jobs
// and before any client is served. It imports all jobs of the source, syncs them, and records in a
// memo that it is done, with the fingerprint of the source. A later start compares the source with
// the fingerprint, and reads only as much of it as that needs.
//
// After the survey and before the first job, a memo records that the import has begun, so that a
// source that fails the survey leaves no trace. If the process ends during the import, the next
// start resumes it: no client was served, so the imported jobs are unchanged. An unfinished import
// stops a start that does not ask for it.
//
// Jobs keep their ids, so the journal must not have given out any id; a memo records that. Once
// it has, this import is refused, and `tandemctl import` assigns new ids.

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/memo.h"
#include "server/store/store.h"
#include "transfer/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORTING_SHOWN 512

struct importing_options {
    const char *text;    // of the source; empty: none
    const char *journal; // the directory of the journal
    bool repair;         // import the readable jobs of a damaged source
    bool give_up;        // abandon an unfinished import that `text` does not name
};

enum importing_stage {
    IMPORTING_NOT,    // nothing to do, or done
    IMPORTING_SURVEY, // reads the source, imports nothing
    IMPORTING_JOBS,   // imports jobs
    IMPORTING_SETTLE, // waits until the store has written them, by journal.fsync
    IMPORTING_SYNC    // syncs all files to disk
};

// Results so far.
struct importing_tally {
    nsec_t began_at;           // by the monotonic clock
    uint64_t jobs;             // imported
    uint64_t there;            // already imported by an earlier start
    uint64_t joined;           // with the key of another job
    uint64_t torn;             // incomplete and never acknowledged, so left out
    uint64_t damaged;          // unreadable places, and jobs that could not be imported
    struct source_news damage; // the first of these
};

struct importing {
    struct importing_options options;
    char shown[IMPORTING_SHOWN];  /* private: the text without passwords */
    char key[MEMO_KEY_MAX + 1];   /* private: of its memo */
    bool own;                     /* private: the source is in or beside the journal's directory */
    bool used;                    /* private: ids were perhaps given out before this start */
    uint64_t first_id;            /* private: of this start */
    struct broker *broker;        /* private */
    struct store *store;          /* private */
    struct source *source;        /* private */
    enum importing_stage stage;   /* private */
    bool resumed;                 /* private: begun before this start */
    bool was_done;                /* private: done before; the source is only compared */
    bool waits;                   /* private: for the store */
    uint64_t position;            /* private: of the store; the import waits for it */
    struct importing_tally tally; /* private */
};

// Finds out what there is to do. Without a journal directory, there is nothing. False with the
// reason if the process must not start.
bool importing_open(struct importing *importing, const struct importing_options *options,
                    struct broker *broker, struct store *store, struct error_text *why) MUST_USE;

static inline bool importing_is_on(const struct importing *importing)
{
    return importing->stage != IMPORTING_NOT;
}

// While importing_is_on(): does a slice, and a turn of the store. False with the reason.
bool importing_work(struct importing *importing, struct instant now,
                    struct error_text *why) MUST_USE;

// Whether the next slice may wait for the store, or for some milliseconds.
static inline bool importing_waits(const struct importing *importing)
{
    return importing->waits;
}

// The survey counts as half of the progress.
void importing_progress(const struct importing *importing, struct restore_progress *progress);

// Call before clients are served, and so may learn ids. False with the reason.
bool importing_serve(struct importing *importing, struct error_text *why) MUST_USE;
// Call when clients are no longer served, before the store is closed. A zeroed one is allowed.
void importing_rest(struct importing *importing);

// A zeroed one is allowed.
void importing_close(struct importing *importing);

// Logs the progress of a running import.
void importing_log_progress(const struct importing *importing);

#endif
