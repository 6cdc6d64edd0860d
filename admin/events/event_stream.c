/* SPDX-License-Identifier: MIT */
#include "admin/events/event_stream.h"

#include "core/base/memory.h"
#include "core/base/siphash.h"
#include "http1/http1_answer.h"
#include "proto_common/unread.h"

#include "admin/events/event_source.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <stdlib.h>
#include <string.h>

#define ROUND_FOR NSEC_PER_SEC
// The pause after a round, for each of its slices. With 100,000 queues, a slice runs once in a
// millisecond.
#define PAUSE_FOR NSEC_PER_MSEC
// Maximum output that the client may leave unread.
#define UNREAD_MOST ((uint64_t)1024 * 1024)

struct stream_source {
    void *state;   // owned; NULL: the source is not part of the stream
    uint64_t hash; // of the last document that was sent
};

struct event_stream {
    unsigned *open_streams; // the count that includes this stream
    uint64_t sent;          // number of events
    nsec_t sent_at;         // monotonic: the last output
    nsec_t began_at;        // of the present round, monotonic
    nsec_t due_at;          // of the next round
    unsigned slices;        // of the present round
    unsigned at;            // the active source
    bool in_round;
    struct stream_source sources[EVENT_SOURCES_MAX];
};

static nsec_t stream_now(const struct http1_conn *conn)
{
    return broker_now(conn->shared->broker).mono;
}

static void stream_send(struct http1_conn *conn, struct event_stream *stream, const char *event,
                        struct slice data)
{
    stream->sent_at = stream_now(conn);
    http1_event(&conn->wire->out, admin_request(conn)->chunked, ++stream->sent, event, data);
}

//
// Rounds
//

// Ends the round. After a long silence, a comment keeps the connection open; unsent output serves
// the same purpose.
static void stream_end_round(struct http1_conn *conn, struct event_stream *stream)
{
    nsec_t pause_end_at;
    nsec_t next_at;

    if (stream_now(conn) - stream->sent_at >= HTTP1_QUIET_FOR) {
        stream->sent_at = stream_now(conn);
        if (output_pending(&conn->wire->out) == 0) {
            http1_event_comment(&conn->wire->out, admin_request(conn)->chunked);
        }
    }
    pause_end_at = nsec_add(stream_now(conn), (nsec_t)stream->slices * PAUSE_FOR);
    next_at = nsec_add(stream->began_at, ROUND_FOR);
    stream->in_round = false;
    stream->due_at = pause_end_at > next_at ? pause_end_at : next_at;
}

// Begins a round. Returns false and skips the round if earlier output has not left: the client does
// not read, or the output waits for the store. The host disconnects clients that never read.
static bool stream_begin_round(struct http1_conn *conn, struct event_stream *stream)
{
    stream->began_at = stream_now(conn);
    stream->slices = 0;
    stream->at = 0;
    stream->in_round = stream->sent == 0 || output_pending(&conn->wire->out) == 0;
    if (!stream->in_round) {
        stream_end_round(conn, stream);
    }
    return stream->in_round;
}

// Does a slice of the round. A document that equals the last one is not sent. A client that
// provokes equal hashes hides changes only from itself, so the key need not be secret.
static void stream_step(struct http1_conn *conn, struct event_stream *stream)
{
    static const struct siphash_key key = {{1, 2}};
    const struct event_source *source = event_sources[stream->at];
    struct stream_source *entry = &stream->sources[stream->at];
    enum status status = STATUS_EMPTY;
    const char *event = NULL;
    char *text = NULL;

    if (entry->state) {
        stream->slices++;
        status = source->make(conn, entry->state, &event, &text);
    }
    if (status == STATUS_OK) {
        uint64_t hash = siphash(&key, text, strlen(text));

        if (source->always || hash != entry->hash) {
            entry->hash = hash;
            stream_send(conn, stream, event, slice_str(text));
        }
        free(text);
    } else if (status == STATUS_NO_MEMORY) {
        output_fail(&conn->wire->out);
    } else if (status == STATUS_EMPTY && !event_sources[++stream->at]) {
        stream_end_round(conn, stream);
    }
}

//
// The maker
//

static enum http1_progress stream_make(struct http1_conn *conn, void *making)
{
    struct event_stream *stream = making;

    if (!session_may_somewhere(conn->session, MAY_OBSERVE)) {
        // New access rules have revoked the right.
        stream_send(conn, stream, "bye", SLICE("{}"));
        return HTTP1_ENDED;
    }
    if (wire_drop_unread(conn->wire, 0, UNREAD_MOST)) {
        return HTTP1_BLOCKED;
    }
    if (!stream->in_round &&
        (stream_now(conn) < stream->due_at || !stream_begin_round(conn, stream))) {
        conn->wire->deadline_at = stream->due_at;
        return HTTP1_BLOCKED;
    }
    stream_step(conn, stream);
    return HTTP1_WROTE;
}

static void stream_stopping(struct http1_conn *conn, void *making)
{
    stream_send(conn, making, "bye", SLICE("{}"));
    http1_pieces_end(&conn->wire->out, admin_request(conn)->chunked);
}

static void stream_forget(void *making)
{
    struct event_stream *stream = making;

    for (unsigned i = 0; event_sources[i]; i++) {
        if (stream->sources[i].state) {
            event_sources[i]->close(stream->sources[i].state);
        }
    }
    --*stream->open_streams;
    memory_free(stream, sizeof *stream);
}

static size_t stream_holds(const void *making)
{
    const struct event_stream *stream = making;
    size_t size = sizeof *stream;

    for (unsigned i = 0; event_sources[i]; i++) {
        if (stream->sources[i].state && event_sources[i]->holds) {
            size += event_sources[i]->holds(stream->sources[i].state);
        }
    }
    return size;
}

static enum http1_next answer_events(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const struct admin_maker maker = {.make = stream_make,
                                             .stopping = stream_stopping,
                                             .forget = stream_forget,
                                             .holds = stream_holds};
    const struct http1_reply head = {
        .status = 200, .type = "text/event-stream", .extra = HTTP1_EVENTS_EXTRA};
    struct admin_shared *shared = admin_shared(conn);
    struct event_stream *stream;
    struct input input;

    (void)body;
    (void)blob;
    if (shared->event_streams >= EVENTS_STREAMS) {
        return admin_refuse(conn, 503, "too many event streams are open");
    }
    stream = memory_zeroed(sizeof *stream);
    if (!stream) {
        http1_refuse_memory(conn);
        return HTTP1_NEXT_REQUEST;
    }
    stream->sent_at = stream_now(conn);
    stream->open_streams = &shared->event_streams;
    shared->event_streams++;
    input_begin_query(&input, conn);
    input_parameters(&input, event_parameters);
    for (unsigned i = 0; event_sources[i] && input_good(&input); i++) {
        stream->sources[i].state = event_sources[i]->open(&input);
    }
    if (!input_good(&input)) {
        stream_forget(stream);
        return input_refuse(&input);
    }
    return admin_make(conn, &head, &maker, stream);
}

const struct admin_route event_routes[] = {
    {.path = "/api/v1/events", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_events},
    {.path = NULL},
};
