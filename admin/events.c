/* SPDX-License-Identifier: MIT */
#include "admin/events.h"

#include "core/base/memory.h"
#include "core/base/siphash.h"
#include "http1/events.h"
#include "proto_common/unread.h"

#include "admin/context.h"
#include "admin/event_source.h"
#include "admin/reply.h"

#include <stdlib.h>
#include <string.h>

#define ROUND_FOR NSEC_PER_SEC
// The rest for each slice of a round: what 100,000 queues need is a slice in a millisecond then.
#define REST_FOR NSEC_PER_MSEC
// What a client may leave unread.
#define UNREAD_MOST ((uint64_t)1024 * 1024)

// A source in a stream.
struct part {
    void *state;    // owned; NULL: it shows nothing
    uint64_t shown; // a hash of what it has said last
};

struct stream {
    unsigned *streams; // of which this is one
    uint64_t said;     // how many events
    nsec_t said_at;    // monotonic: when it was last not silent
    nsec_t began_at;   // the present round, monotonic
    nsec_t due_at;     // the next one
    unsigned slices;   // of the present round
    unsigned at;       // the part that works
    bool in_round;
    struct part parts[EVENT_SOURCES_MAX];
};

static nsec_t now_of(const struct http1_conn *conn)
{
    return broker_now(conn->shared->broker).mono;
}

static void say(struct http1_conn *conn, struct stream *stream, const char *event,
                struct slice data)
{
    stream->said_at = now_of(conn);
    http1_event(&conn->wire->out, admin_request(conn)->chunked, ++stream->said, event, data);
}

//
// Rounds
//

// Whoever could make a text of the same hash could hide from himself that something has changed.
static uint64_t hash_of(struct slice text)
{
    static const struct siphash_key key = {{1, 2}};

    return siphash(&key, text.ptr, text.len);
}

// Says the document, unless that is what was said last.
static void say_document(struct http1_conn *conn, struct stream *stream, const char *event,
                         struct slice data)
{
    struct part *part = &stream->parts[stream->at];
    uint64_t hash = hash_of(data);

    if (event_sources[stream->at]->always || hash != part->shown) {
        part->shown = hash;
        say(conn, stream, event, data);
    }
}

// What has not left yet shows as well that the stream is alive.
static void say_something(struct http1_conn *conn, struct stream *stream)
{
    if (now_of(conn) - stream->said_at >= HTTP1_QUIET_FOR) {
        stream->said_at = now_of(conn);
        if (output_pending(&conn->wire->out) == 0) {
            http1_event_comment(&conn->wire->out, admin_request(conn)->chunked);
        }
    }
}

static void end_round(struct http1_conn *conn, struct stream *stream)
{
    say_something(conn, stream);
    nsec_t rest_at = nsec_add(now_of(conn), (nsec_t)stream->slices * REST_FOR);
    nsec_t next_at = nsec_add(stream->began_at, ROUND_FOR);

    stream->in_round = false;
    stream->due_at = rest_at > next_at ? rest_at : next_at;
}

// A slice of the present round.
static void go_on(struct http1_conn *conn, struct stream *stream)
{
    const struct event_source *source = event_sources[stream->at];
    struct part *part = &stream->parts[stream->at];
    enum status status = STATUS_EMPTY;
    const char *event = NULL;
    char *text = NULL;

    if (part->state) {
        stream->slices++;
        status = source->make(conn, part->state, &event, &text);
    }
    if (status == STATUS_OK) {
        say_document(conn, stream, event, slice_str(text));
        free(text);
    } else if (status == STATUS_NO_MEMORY) {
        output_fail(&conn->wire->out);
    } else if (status == STATUS_EMPTY && !event_sources[++stream->at]) {
        end_round(conn, stream);
    }
}

// False: it is left out, since what was said before has not left: the client does not take it, or
// it waits for the store. That it leaves one day is the host's to see to.
static bool begin_round(struct http1_conn *conn, struct stream *stream)
{
    stream->began_at = now_of(conn);
    stream->slices = 0;
    stream->at = 0;
    stream->in_round = stream->said == 0 || output_pending(&conn->wire->out) == 0;
    if (!stream->in_round) {
        end_round(conn, stream);
    }
    return stream->in_round;
}

static enum http1_progress make(struct http1_conn *conn, void *making)
{
    struct stream *stream = making;

    if (!session_may_somewhere(conn->session, MAY_OBSERVE)) {
        // The rules were read again.
        say(conn, stream, "bye", SLICE("{}"));
        return HTTP1_ENDED;
    }
    if (wire_drop_unread(conn->wire, 0, UNREAD_MOST)) {
        return HTTP1_BLOCKED;
    }
    if (!stream->in_round && (now_of(conn) < stream->due_at || !begin_round(conn, stream))) {
        conn->wire->deadline_at = stream->due_at;
        return HTTP1_BLOCKED;
    }
    go_on(conn, stream);
    return HTTP1_WROTE;
}

static void stop(struct http1_conn *conn, void *making)
{
    say(conn, making, "bye", SLICE("{}"));
    http1_pieces_end(&conn->wire->out, admin_request(conn)->chunked);
}

static void forget(void *making)
{
    struct stream *stream = making;

    for (unsigned i = 0; event_sources[i]; i++) {
        if (stream->parts[i].state) {
            event_sources[i]->close(stream->parts[i].state);
        }
    }
    --*stream->streams;
    memory_free(stream, sizeof *stream);
}

static size_t holds(const void *making)
{
    const struct stream *stream = making;
    size_t size = sizeof *stream;

    for (unsigned i = 0; event_sources[i]; i++) {
        if (stream->parts[i].state && event_sources[i]->holds) {
            size += event_sources[i]->holds(stream->parts[i].state);
        }
    }
    return size;
}

//
// The beginning
//

static struct stream *stream_new(struct admin_shared *shared)
{
    struct stream *stream = memory_alloc(sizeof *stream);

    if (stream) {
        memset(stream, 0, sizeof *stream);
        stream->said_at = broker_now(shared->http1.broker).mono;
        stream->streams = &shared->streams;
        shared->streams++;
    }
    return stream;
}

static enum http1_next answer_events(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const struct admin_maker maker = {
        .make = make, .stopping = stop, .forget = forget, .holds = holds};
    const struct http1_reply head = {
        .status = 200, .type = "text/event-stream", .extra = HTTP1_EVENTS_EXTRA};
    struct admin_shared *shared = admin_shared(conn);
    struct stream *stream;
    struct input input;

    (void)body;
    (void)blob;
    if (shared->streams >= EVENTS_STREAMS) {
        return admin_refuse(conn, 503, "too many streams of events are open");
    }
    stream = stream_new(shared);
    if (!stream) {
        http1_refuse_memory(conn);
        return HTTP1_NEXT_REQUEST;
    }
    input_begin_query(&input, conn);
    input_parameters(&input, event_parameters);
    for (unsigned i = 0; event_sources[i] && input_good(&input); i++) {
        stream->parts[i].state = event_sources[i]->open(&input);
    }
    if (!input_good(&input)) {
        forget(stream);
        return input_refuse(&input);
    }
    return admin_make(conn, &head, &maker, stream);
}

const struct admin_route events_routes[] = {
    {.path = "/api/v1/events", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_events},
    {.path = NULL},
};
