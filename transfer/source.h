/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_SOURCE_H
#define TANDEM_TRANSFER_SOURCE_H

// A source: jobs that another broker has left behind, in a store of its own, which is read and
// never changed. It knows no broker: it gives images of jobs (core/record.h), and whoever asks for
// them brings them in (core/import.h).
//
// Its text is `KIND:PLACE`. A kind is a table of functions; a struct of a kind begins with a struct
// source. What another library is needed for is a room of its own, below this one.
//
// Use. source_open(); where the jobs were brought in before, source_glance() says whether the store
// is as it was then, without reading all of it. source_survey() again and again until it says
// SOURCE_END: then it is known what is there, what of it is damaged, and source_fingerprint() is
// the store's. source_next() gives one job after the other. Each of these calls does a slice of the
// work, some milliseconds at most, so that others can be answered in between.
//
// As long as a source is open no other broker can use the store, as far as the store can see to
// that. Memory is for an index of what is there; a body is read when its job is asked for.

#include "core/base/macros.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum source_answer {
    SOURCE_JOB,    // a job: it is in `image`
    SOURCE_MORE,   // not done yet: to be called again
    SOURCE_END,    // all of it was seen, or given
    SOURCE_TORN,   // something was being written when its broker ended, and nobody has been told of
                   // it: it is left out. `where`, `offset`, `what`; the next call goes on
    SOURCE_DAMAGE, // something cannot be read: `where`, `offset`, `what`. The next call goes on
    SOURCE_FAILED  // it cannot go on: `what` is the reason, for the operator
};

// What a call tells.
struct source_news {
    struct job_image image; // JOB; borrowed until the next call
    uint64_t offset;        // TORN, DAMAGE: in bytes, or a number of the row
    char where[64];         // TORN, DAMAGE: the file, or the table
    char what[256];         // TORN, DAMAGE, FAILED
};

// What is known of a store without reading all of it.
enum source_glance {
    SOURCE_SAME,  // it is as it was
    SOURCE_GONE,  // there is nothing any more
    SOURCE_UNSURE // a survey has to tell
};

struct source_progress {
    uint64_t read; // of the survey: in bytes, or in rows
    uint64_t size; // 0: not known
    uint64_t jobs; // that there are; 0: not known yet
};

struct source;

struct source_ops {
    enum source_glance (*glance)(struct source *source, struct slice old); // NULL: UNSURE
    enum source_answer (*survey)(struct source *source, struct source_news *news);
    void (*progress)(const struct source *source, struct source_progress *progress);
    struct slice (*fingerprint)(const struct source *source);
    bool (*same)(const struct source *source, struct slice old); // NULL: the same bytes
    enum source_answer (*next)(struct source *source, struct source_news *news);
    // NULL: nothing is known but what its text says.
    bool (*place)(const struct source *source, char *to, size_t size);
    void (*close)(struct source *source);
};

struct source {
    const struct source_ops *ops;
};

struct source_kind {
    const char *name;
    // NULL with the reason in news->what. A place that is not there is no failure: its store is
    // empty, and source_glance() says SOURCE_GONE.
    struct source *(*open)(const char *place, struct source_news *news);
};

// Whether the text names one of the kinds, the last of which is NULL, and a place. Otherwise the
// reason in news->what.
bool source_check(const struct source_kind *const *kinds, const char *text,
                  struct source_news *news) MUST_USE;

// NULL with the reason in news->what.
struct source *source_open(const struct source_kind *const *kinds, const char *text,
                           struct source_news *news) MUST_USE;

// What the place is, however its text leads there: two texts of one kind with the same answer name
// the same store. It begins with a path, behind which `?` may follow. False where that is not
// known.
bool source_place(const struct source *source, char *to, size_t size);

// Before the survey: how the store compares with the one that had the fingerprint `old`.
enum source_glance source_glance(struct source *source, struct slice old);

// MORE, TORN, DAMAGE, END or FAILED. Not after END or FAILED.
enum source_answer source_survey(struct source *source, struct source_news *news) MUST_USE;
void source_progress(const struct source *source, struct source_progress *progress);

// After the survey: bytes that are others when the store has changed, at most 1 MiB; borrowed.
struct slice source_fingerprint(const struct source *source);
// After the survey: whether the store is as it was when it had the fingerprint `old`.
bool source_same(const struct source *source, struct slice old);

// After the survey: a job, in the order of their ids, which are above 0 and all different; jobs
// that are buried come behind all others, in the order in which they were buried. Any answer.
enum source_answer source_next(struct source *source, struct source_news *news) MUST_USE;

// NULL is allowed.
void source_close(struct source *source);

//
// For kinds
//

// FAILED and DAMAGE in words, as printf has them.
__attribute__((format(printf, 2, 3))) enum source_answer source_fail(struct source_news *news,
                                                                     const char *format, ...);
__attribute__((format(printf, 4, 5))) enum source_answer source_damage(struct source_news *news,
                                                                       const char *where,
                                                                       uint64_t offset,
                                                                       const char *format, ...);

// The path without links, dots and doubled slashes; what of its end is not there stays as it is.
// False where `size` bytes do not take it.
bool source_real_path(const char *path, char *to, size_t size);

#endif
