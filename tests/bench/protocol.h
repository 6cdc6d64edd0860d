/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_PROTOCOL_H
#define TANDEM_BENCH_PROTOCOL_H

// What a workload asks of a server, and how one protocol spells it. Replies come in the order of
// the requests, so a reply is read knowing what was asked.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;

enum op {
    OP_PUT,  // submit a job
    OP_TAKE, // wait for a job and hold it
    OP_DONE, // the job that is held is done
    OP_PING  // the cheapest question
};

enum reply_kind {
    REPLY_OK,   // done as asked. OP_PUT: `id`. OP_TAKE: `id` and the body
    REPLY_ERROR // the server refused
};

struct reply {
    enum reply_kind kind;
    uint64_t id;
    const char *body; // within the bytes that were parsed
    size_t body_len;
};

struct protocol {
    const char *name;
    void (*put)(struct buffer *out, uint32_t pri, const char *body, size_t len);
    void (*take)(struct buffer *out);
    void (*done)(struct buffer *out, uint64_t id);
    void (*ping)(struct buffer *out);
    // Reads one reply to `asked`: how many bytes it has, 0 when it is not complete, -1 when this is
    // no reply at all.
    ssize_t (*parse)(const char *bytes, size_t len, enum op asked, struct reply *reply);
};

extern const struct protocol protocol_beanstalk;

// The protocol of that name, NULL where there is none.
const struct protocol *protocol_find(const char *name);

#endif
