/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_SOURCE_H
#define TANDEM_TRANSFER_SOURCE_H

// A source: the store of another broker, which is read and never changed. It yields images of jobs
// (core/record.h), which the caller imports (core/submit.h).
//
// Its text is `KIND:PLACE`. A kind is a table of functions; a struct of a kind begins with a struct
// source. A kind that needs another library has its own folder below this one.
//
// Usage: source_open(). If the jobs were imported before, source_glance() says whether the store
// has changed, without reading all of it. Then call source_survey() until SOURCE_END: it finds the
// jobs and the damage, and source_fingerprint() is valid from then on. source_next() yields the
// jobs. Each of these calls takes a few milliseconds at most, so that the caller stays responsive.
//
// While a source is open, it locks the store against other brokers if the store allows that. Only
// an index is in memory; a body is read with its job.

#include "core/base/macros.h"
#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum source_answer {
    SOURCE_JOB,    // a job, in `image`
    SOURCE_MORE,   // not done yet: call again
    SOURCE_END,    // no more
    SOURCE_TORN,   // an incomplete, never acknowledged write, which is left out: `where`, `offset`,
                   // `what`. The next call goes on
    SOURCE_DAMAGE, // an unreadable place: `where`, `offset`, `what`. The next call goes on
    SOURCE_FAILED  // it cannot go on: `what` is the reason for the operator
};

// The result of a call, by its answer.
struct source_news {
    struct job_image image; // JOB; borrowed until the next call
    uint64_t offset;        // TORN, DAMAGE: in bytes, or the number of the row
    char where[64];         // TORN, DAMAGE: the file, or the table
    char what[256];         // TORN, DAMAGE, FAILED
};

// The result of a comparison that does not read all of the store.
enum source_glance {
    SOURCE_SAME,  // unchanged
    SOURCE_GONE,  // the store is missing
    SOURCE_UNSURE // only a survey can tell
};

struct source_progress {
    uint64_t read; // of the survey: bytes, or rows
    uint64_t size; // 0: unknown
    uint64_t jobs; // found; 0: unknown
};

struct source;

struct source_ops {
    enum source_glance (*glance)(struct source *source, struct slice old); // NULL: UNSURE
    enum source_answer (*survey)(struct source *source, struct source_news *news);
    void (*progress)(const struct source *source, struct source_progress *progress);
    struct slice (*fingerprint)(const struct source *source);
    bool (*same)(const struct source *source, struct slice old); // NULL: compare the bytes
    enum source_answer (*next)(struct source *source, struct source_news *news);
    // NULL: the place is unknown.
    bool (*place)(const struct source *source, char *to, size_t size);
    void (*close)(struct source *source);
};

struct source {
    const struct source_ops *ops;
};

struct source_kind {
    const char *name;
    // NULL with the reason in news->what. A missing place is not a failure: its store is empty,
    // and source_glance() says SOURCE_GONE.
    struct source *(*open)(const char *place, struct source_news *news);
};

// Whether the text names one of the kinds and a place. `kinds` ends with NULL. If false, the reason
// is in news->what.
bool source_check(const struct source_kind *const *kinds, const char *text,
                  struct source_news *news) MUST_USE;

// NULL with the reason in news->what.
struct source *source_open(const struct source_kind *const *kinds, const char *text,
                           struct source_news *news) MUST_USE;

// The canonical place: two texts of one kind with the same place name the same store. It begins
// with a path, after which `?` may follow. False if it is unknown.
bool source_place(const struct source *source, char *to, size_t size);

// Before the survey: how the store compares with the one that had the fingerprint `old`.
enum source_glance source_glance(struct source *source, struct slice old);

// MORE, TORN, DAMAGE, END or FAILED. Do not call it after END or FAILED.
enum source_answer source_survey(struct source *source, struct source_news *news) MUST_USE;
void source_progress(const struct source *source, struct source_progress *progress);

// After the survey: bytes that differ once the store has changed, at most 1 MiB; borrowed.
struct slice source_fingerprint(const struct source *source);
// After the survey: whether the store is as it was when it had the fingerprint `old`.
bool source_same(const struct source *source, struct slice old);

// After the survey: the next job, by ascending id; buried jobs come last, in the order in which
// they were buried. Ids are above 0 and unique. Any answer.
enum source_answer source_next(struct source *source, struct source_news *news) MUST_USE;

// NULL is allowed.
void source_close(struct source *source);

//
// For kinds
//

// Set the text of `news`, and return FAILED or DAMAGE.
__attribute__((format(printf, 2, 3))) enum source_answer source_fail(struct source_news *news,
                                                                     const char *format, ...);
__attribute__((format(printf, 4, 5))) enum source_answer source_damage(struct source_news *news,
                                                                       const char *where,
                                                                       uint64_t offset,
                                                                       const char *format, ...);

// Resolves links, dots and doubled slashes; a missing end of the path stays as it is. False if the
// result does not fit in `size` bytes.
bool source_real_path(const char *path, char *to, size_t size);

#endif
