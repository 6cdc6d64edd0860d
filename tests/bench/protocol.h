/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_PROTOCOL_H
#define TANDEM_BENCH_PROTOCOL_H

// The requests of a workload, as one protocol writes them. Replies come in the order of
// the requests, so a reply is read knowing what was asked.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct args;
struct buffer;

enum op {
    OP_NONE,
    OP_PUT,    // submit a job
    OP_RESULT, // no request of its own: the result of a job that was put in order to have it
    OP_TAKE,   // ask for a job and hold it
    OP_SLEEP,  // after a take that came back empty: say when there may be a job
    OP_DONE,   // the job that is held is done
    OP_PING    // the cheapest question
};
#define OP_COUNT (OP_PING + 1)

enum reply_kind {
    REPLY_OK,    // done as asked. OP_PUT: `id`. OP_RESULT, OP_TAKE: `id` and the body
    REPLY_EMPTY, // OP_TAKE: no job is there
    REPLY_ERROR  // the server refused: `text` says why
};

// Bytes within the parsed input.
struct span {
    const char *ptr;
    size_t len;
};

struct reply {
    enum reply_kind kind;
    uint64_t id;      // rising by one from job to job
    struct span name; // of the job, where the id alone does not do
    struct span body;
    struct span text;
    uint32_t queue; // OP_TAKE: where the job waited
};

struct submission {
    uint32_t queue; // 0 and up
    uint32_t pri;
    uint64_t key; // 0: none
    bool awaited; // the result is wanted
    const char *body;
    size_t len;
};

struct protocol {
    const char *name;
    bool results; // a job may be awaited
    // Ends the process where the protocol cannot do what the arguments want. May be NULL.
    void (*check)(const struct args *args);
    // A worker wants the jobs of this queue; not answered. NULL: it has them all without asking.
    void (*subscribe)(struct buffer *out, uint32_t queue);
    void (*put)(struct buffer *out, const struct submission *submission);
    void (*take)(struct buffer *out);
    // Takes up to `count` jobs with one request. NULL: jobs are taken one by one.
    void (*take_many)(struct buffer *out, uint32_t count);
    // NULL: a take waits until there is a job, and never comes back empty.
    void (*sleep)(struct buffer *out);
    // `job` is the reply that brought it. Where there are no results, none is sent.
    void (*done)(struct buffer *out, const struct reply *job, struct span result);
    bool done_answered;
    void (*ping)(struct buffer *out);
    // Says that the client goes; not answered. NULL: it just goes.
    void (*quit)(struct buffer *out);
    // Reads one reply to `asked`: how many bytes it has, 0 when it is not complete, -1 when this is
    // no reply at all.
    ssize_t (*parse)(const char *bytes, size_t len, enum op asked, struct reply *reply);
};

extern const struct protocol protocol_beanstalk;
extern const struct protocol protocol_gearman;
extern const struct protocol protocol_http;

// The protocol of that name, NULL where there is none.
const struct protocol *protocol_find(const char *name);

#endif
