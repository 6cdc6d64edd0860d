/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IMPORTING_H
#define TANDEM_SERVER_IMPORTING_H

// The import at the first start (journal.import): the store is open, its own jobs are back, and no
// client is served yet. All jobs of the source are brought in, all is synced, and a memo says that
// it is done and what the source was like. A later start compares the source with that, and reads
// no more of it than it must.
//
// A memo that says that it has begun comes before the first job, when the source was looked
// through: what cannot be brought in at all leaves no trace. Where the process ends in the middle,
// the next start goes on: nobody was served, so that what is there is as it was brought in. An
// import that has begun and is not done stops a start that does not ask for it.
//
// Jobs keep their ids, so that the journal must not have given out any: it remembers that it has
// not. Once it has, this import is refused, and `tandemctl import` gives new ones.

#include "core/base/macros.h"
#include "core/memo.h"
#include "transfer/source.h"
#include "server/importing_log.h"
#include "core/base/error_text.h"
#include "server/store/store.h"

#include <stdbool.h>

struct importing_options {
    const char *text;    // of the source; empty: none
    const char *journal; // the directory of the journal
    bool repair;         // what can be read is brought in, whatever cannot
    bool give_up;        // one that is not done, and is not asked for any more, is left as it is
};

enum importing_stage {
    IMPORTING_NOT,    // there is nothing to do, or all is done
    IMPORTING_SURVEY, // what is in the source
    IMPORTING_JOBS,   // they are brought in
    IMPORTING_SETTLE, // the store makes them last, as the operator wants it
    IMPORTING_SYNC    // and on the disk
};

struct importing {
    struct importing_options options;
    char shown[IMPORTING_SHOWN];  /* private: the text, as others may see it */
    char key[MEMO_KEY_MAX + 1];   /* private: what its memo is found by */
    bool own;                     /* private: it is in the journal's own directory, or beside it */
    bool used;                    /* private: ids were perhaps given out before this start */
    uint64_t first_id;            /* private: of this start */
    struct broker *broker;        /* private */
    struct store *store;          /* private */
    struct source *source;        /* private */
    enum importing_stage stage;   /* private */
    bool resumed;                 /* private: it had begun before this start */
    bool was_done;                /* private: it is only compared */
    bool waits;                   /* private: for the store */
    uint64_t position;            /* private: of the store, that all depends on */
    struct importing_tally tally; /* private */
};

// Looks what is to be done; nothing is without a source. Without a store, there is no source.
// False with the reason: the process is not to start.
bool importing_open(struct importing *importing, const struct importing_options *options,
                    struct broker *broker, struct store *store, struct error_text *why) MUST_USE;

static inline bool importing_is_on(const struct importing *importing)
{
    return importing->stage != IMPORTING_NOT;
}

// As long as it is on: a slice, and a turn of the store. False with the reason.
bool importing_work(struct importing *importing, struct instant now,
                    struct error_text *why) MUST_USE;

// Whether the next slice may wait until the store has news, or some milliseconds.
static inline bool importing_waits(const struct importing *importing)
{
    return importing->waits;
}

// How far it is: half of the way is the survey.
void importing_progress(const struct importing *importing, struct store_progress *progress);

// Clients are served from now on, and may learn ids. False with the reason.
bool importing_serve(struct importing *importing, struct error_text *why) MUST_USE;
// They are not any more, and the store is about to be closed. A zeroed one is allowed.
void importing_rest(struct importing *importing);

// A zeroed one is allowed.
void importing_close(struct importing *importing);

#endif
