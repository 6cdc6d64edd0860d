/* SPDX-License-Identifier: MIT */
#include "tests/server/server_bed.h"
#include "server/conn/conn.h"
#include "server/io/io_private.h"

#include "tests/server/bed_caller.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/rights.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Turns after which nothing more is expected.
enum { MANY_TURNS = 2000 };

#define START_AT (1000 * NSEC_PER_SEC)

struct bed_stub {
    struct bed_front *front;
    struct wire *wire;
    bool blocked;
    bool again;
    bool dear; // so is the feed
    char *buffer;
    size_t wanted;
    size_t filled;
    struct bed_caller caller;
};

struct instant bed_clock;

struct instant bed_now(void)
{
    return bed_clock;
}

static enum status stub_start(void *shared, struct broker *broker, const void *options,
                              const struct process_facts *facts)
{
    struct bed_front *front = shared;

    (void)options;
    (void)facts;
    front->broker = broker;
    return STATUS_OK;
}

static void stub_stop(void *shared)
{
    (void)shared;
}

static enum status stub_open(void *state, void *shared, struct wire *wire)
{
    struct bed_stub *stub = state;
    struct bed_front *front = shared;

    if (front->refuses) {
        return STATUS_NO_MEMORY;
    }
    stub->front = front;
    stub->wire = wire;
    stub->caller = (struct bed_caller){.wire = wire, .front = front};
    front->latest = stub;
    front->open++;
    return STATUS_OK;
}

static void stub_answer(struct bed_stub *stub, const char *text)
{
    output_write(&stub->wire->out, slice_str(text));
}

static void stub_send_big(struct bed_stub *stub, size_t len)
{
    struct blob *blob = blob_new(len);

    assert_non_null(blob);
    memset(blob->bytes, 'B', len);
    output_blob(&stub->wire->out, blob);
    blob_unref(blob);
    stub_answer(stub, "\n");
}

static void stub_took(struct bed_stub *stub)
{
    stub_answer(stub, "took ");
    output_write(&stub->wire->out, slice_of(stub->buffer, stub->wanted));
    stub_answer(stub, "\n");
    free(stub->buffer);
    stub->buffer = NULL;
}

// Whether the line is the word and a number.
static bool stub_is(const char *line, const char *word, size_t *number)
{
    size_t len = strlen(word);

    if (strncmp(line, word, len) != 0 || line[len] != ' ') {
        return false;
    }
    *number = strtoul(line + len, NULL, 10);
    return true;
}

// Answers with what stands behind the word when the store has reached the next position.
static void stub_keep(struct bed_stub *stub, const char *line)
{
    uint64_t position = ++stub->front->store.given;

    if (*line == 'h') {
        wire_submitted(stub->wire, position);
    } else {
        wire_hold(stub->wire, position);
    }
    stub_answer(stub, line + sizeof "keep");
    stub_answer(stub, "\n");
}

// Executes a line, without its end. FEED_MORE: go on with the next.
static enum feed_state stub_execute(struct bed_stub *stub, const char *line)
{
    char text[32];
    size_t n;

    if (strcmp(line, "block") == 0) {
        stub->blocked = true;
        return FEED_BLOCKED;
    }
    if (strcmp(line, "again") == 0) {
        stub->again = true;
        return FEED_AGAIN;
    }
    if (strcmp(line, "quit") == 0) {
        return FEED_FINISHED;
    }
    if (stub_is(line, "big", &n)) {
        stub_send_big(stub, n);
    } else if (stub_is(line, "take", &n)) {
        stub->buffer = malloc(n);
        stub->wanted = n;
        stub->filled = 0;
    } else if (strcmp(line, "dear") == 0) {
        stub->dear = true;
        stub_answer(stub, "dear\n");
    } else if (stub_is(line, "late", &n)) {
        stub->wire->deadline_at = broker_now(stub->front->broker).mono + nsec_from_seconds(n);
    } else if (strcmp(line, "now") == 0) {
        (void)snprintf(text, sizeof text, "%lld\n",
                       (long long)(broker_now(stub->front->broker).mono / NSEC_PER_SEC));
        stub_answer(stub, text);
    } else if (strncmp(line, "keep ", 5) == 0 || strncmp(line, "hand ", 5) == 0) {
        stub_keep(stub, line);
    } else if (!bed_caller_ask(&stub->caller, line)) {
        stub_answer(stub, line);
        stub_answer(stub, "\n");
    }
    return FEED_MORE;
}

// Takes bytes of the wanted buffer; returns their number.
static size_t stub_take(struct bed_stub *stub, struct slice input)
{
    size_t missing = stub->wanted - stub->filled;
    size_t len = input.len < missing ? input.len : missing;

    memcpy(stub->buffer + stub->filled, input.ptr, len);
    stub->filled += len;
    if (stub->filled == stub->wanted) {
        stub_took(stub);
    }
    return len;
}

// The next line of the input, executed; the bytes used, 0 where there is none.
static size_t stub_line(struct bed_stub *stub, struct slice input, enum feed_state *state)
{
    const char *end = input.len ? memchr(input.ptr, '\n', input.len) : NULL;
    char line[128] = "";

    if (!end) {
        return 0;
    }
    assert_in_range(end - input.ptr, 0, sizeof line - 1);
    memcpy(line, input.ptr, (size_t)(end - input.ptr));
    *state = stub_execute(stub, line);
    return (size_t)(end - input.ptr) + 1;
}

static struct feed stub_result(struct bed_stub *stub, enum feed_state state, size_t used)
{
    struct feed feed = {.state = state, .used = used, .dear = stub->dear || state == FEED_AGAIN};

    stub->dear = false;
    if (state == FEED_MORE && stub->buffer) {
        feed.into = stub->buffer + stub->filled;
        feed.into_len = stub->wanted - stub->filled;
    }
    return feed;
}

static struct feed stub_feed(void *state, struct slice input, unsigned budget)
{
    struct bed_stub *stub = state;
    enum feed_state result = FEED_MORE;
    size_t used = 0;
    unsigned count = 0;

    stub->front->feeds++;
    stub->front->fed_first = stub->front->fed_first ? stub->front->fed_first : stub;
    if (stub->blocked) {
        return stub_result(stub, FEED_BLOCKED, 0);
    }
    if (stub->again) {
        stub->again = false;
        stub_answer(stub, "again\n");
    }
    while (result == FEED_MORE) {
        size_t step;

        if (count == budget) {
            result = FEED_AGAIN;
            break;
        }
        step = stub->buffer ? stub_take(stub, slice_from(input, used))
                            : stub_line(stub, slice_from(input, used), &result);
        if (step == 0) {
            break;
        }
        used += step;
        count++;
    }
    if (count > stub->front->most) {
        stub->front->most = count;
    }
    return stub_result(stub, result, used);
}

static struct feed stub_filled(void *state, size_t len, unsigned budget)
{
    struct bed_stub *stub = state;

    (void)budget;
    stub->front->fills++;
    stub->filled += len;
    assert_in_range(stub->filled, 0, stub->wanted);
    if (stub->filled == stub->wanted) {
        stub_took(stub);
    }
    return stub_result(stub, FEED_MORE, 0);
}

static void stub_unblock(struct bed_stub *stub)
{
    stub->blocked = false;
    stub_answer(stub, "unblocked\n");
    wire_wake(stub->wire);
}

static bool stub_eof(void *state)
{
    struct bed_stub *stub = state;

    stub->front->eofs++;
    if (stub->front->eof_means_gone) {
        return false;
    }
    if (stub->blocked) {
        stub_unblock(stub);
    }
    return true;
}

// A blocked one waits for a job.
static enum grant_progress stub_granted(void *state, struct grants *grants)
{
    struct bed_stub *stub = state;
    bool lost = stub->blocked && grants && !(rights_on(grants, SLICE("jobs")) & MAY_WORK);

    stub->front->granted++;
    bed_caller_take(&stub->caller, grants);
    if (stub == stub->front->latest && stub->front->grants_later > 0) {
        stub->front->grants_later--;
        return GRANT_MORE;
    }
    return lost ? GRANT_LOST : GRANT_DONE;
}

static void stub_expired(void *state)
{
    stub_answer(state, "late\n");
}

static void stub_stopping(void *state)
{
    struct bed_stub *stub = state;

    stub->front->goings++;
    if (stub->blocked) {
        stub->blocked = false;
        stub_answer(stub, "going\n");
        wire_wake(stub->wire);
    }
}

static size_t stub_holds(const void *state)
{
    const struct bed_stub *stub = state;

    return stub->buffer ? stub->wanted : 0;
}

static void stub_close(void *state)
{
    struct bed_stub *stub = state;

    stub->front->open--;
    free(stub->buffer);
    bed_caller_take(&stub->caller, NULL);
}

static struct pace stub_pace(void *state)
{
    const struct bed_stub *stub = state;

    return (struct pace){.kind = stub->buffer ? PACE_BODY : PACE_NEXT};
}

static void stub_overdue(void *state, enum pace_result verdict, struct slice kept)
{
    struct bed_stub *stub = state;

    (void)kept;
    stub_answer(stub, verdict == PACE_IDLE_OVER ? "idle\n" : "slow\n");
    wire_finish(stub->wire);
}

static const struct frontend stub_frontend = {
    .name = "stub",
    .shared_size = sizeof(struct bed_front),
    .conn_size = sizeof(struct bed_stub),
    .start = stub_start,
    .stop = stub_stop,
    .open = stub_open,
    .granted = stub_granted,
    .feed = stub_feed,
    .filled = stub_filled,
    .eof = stub_eof,
    .expired = stub_expired,
    .pace = stub_pace,
    .overdue = stub_overdue,
    .stopping = stub_stopping,
    .holds = stub_holds,
    .close = stub_close,
};

void bed_init(struct bed *bed, struct instant (*now)(void))
{
    const struct broker_options options = {0};

    memset(bed, 0, sizeof *bed);
    bed_clock = (struct instant){.mono = START_AT, .wall = START_AT};
    bed->broker = broker_new(&options, now());
    assert_non_null(bed->broker);
    assert_true(loop_init(&bed->loop, bed->broker, now));
    bed->frontend = stub_frontend;
    bed->service = (struct service){.frontend = &bed->frontend,
                                    .shared = &bed->front,
                                    .turn = &bed->loop.turn,
                                    .counters = &bed->counters};
    bed_use_transport(bed, &transport_plain);
    assert_int_equal(stub_start(&bed->front, bed->broker, NULL, NULL), STATUS_OK);
    if (BED_IO_THREADS > 0) {
        bed->loop.turn.io = io_open(BED_IO_THREADS, true, bed->loop.turn.base, &bed->loop.turn.open,
                                    &conn_io_host, &bed->loop.turn);
        assert_non_null(bed->loop.turn.io);
    }
}

void bed_use_transport(struct bed *bed, const struct transport *transport)
{
    bed->service.transport = transport;
    bed->service.io = (struct io_service){.transport = transport, .context = &bed->service};
}

void bed_close(struct bed *bed)
{
    loop_close_all(&bed->loop);
    io_close(bed->loop.turn.io);
    bed->loop.turn.io = NULL;
    loop_close(&bed->loop);
    assert_int_equal(bed->front.open, 0);
    broker_free(bed->broker);
}

static struct bed_store *bed_store_of(const struct store *store)
{
    return container_of((struct store *)(uintptr_t)store, struct bed_store, store);
}

static void store_turn(struct store *store)
{
    bed_store_of(store)->turns++;
}

static uint64_t store_reached(const struct store *store)
{
    return bed_store_of(store)->reached;
}

static nsec_t store_next_due(const struct store *store)
{
    return bed_store_of(store)->due_at;
}

static enum store_pressure store_pressure(const struct store *store)
{
    return bed_store_of(store)->pressure;
}

static bool store_gave_up(struct store *self)
{
    struct bed_store *store = bed_store_of(self);
    bool gave_up = store->gave_up;

    store->gave_up = false;
    return gave_up;
}

static const struct fence *store_fence(const struct store *store)
{
    return bed_store_of(store)->has_fence ? &bed_store_of(store)->fence : NULL;
}

// A loop asks for nothing else.
static const struct store_ops bed_store_ops = {.turn = store_turn,
                                               .reached = store_reached,
                                               .next_due = store_next_due,
                                               .pressure = store_pressure,
                                               .gave_up = store_gave_up};

static const struct store_shared_ops bed_store_shared_ops = {.fence = store_fence};

void bed_keep(struct bed *bed)
{
    struct bed_store *store = &bed->front.store;

    store->store.ops = &bed_store_ops;
    store->store.shared = &bed_store_shared_ops;
    store->due_at = NSEC_NEVER;
    loop_use_store(&bed->loop, &store->store);
    if (bed->loop.turn.io) {
        io_set_limits(bed->loop.turn.io, &(struct io_limits){.fence = bed->loop.turn.fence});
    }
}

int bed_connect(struct bed *bed)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    bed_serve(bed, fds[0]);
    return fds[1];
}

int bed_connect_tcp(struct bed *bed)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof addr;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    int fd;

    assert_int_equal(bind(listening, (const struct sockaddr *)&addr, len), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&addr, &len), 0);
    assert_int_equal(connect(client, (const struct sockaddr *)&addr, len), 0);
    fd = accept(listening, NULL, NULL);
    assert_true(fd >= 0);
    (void)close(listening);
    assert_int_equal(evutil_make_socket_nonblocking(fd), 0);
    assert_int_equal(evutil_make_socket_nonblocking(client), 0);
    bed_serve(bed, fd);
    return client;
}

void reset_client(int client)
{
    const struct linger now = {.l_onoff = 1};

    assert_int_equal(setsockopt(client, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
    (void)close(client);
}

void bed_serve(struct bed *bed, int fd)
{
    conn_open(&bed->service, fd, NULL, "test");
    bed_turns(bed, 1);
}

// The I/O threads of a bed run when it says so.
static void bed_thread_rounds(const struct bed *bed)
{
    const struct io *io = bed->loop.turn.io;

    for (unsigned i = 0; io && i < io->count; i++) {
        (void)io_thread_round(&io->threads[i], false);
    }
}

void bed_turn(struct bed *bed, bool wait)
{
    bed_thread_rounds(bed);
    // With I/O threads it must not wait: they stand still and would not wake it.
    loop_turn(&bed->loop, wait && !bed->loop.turn.io);
    bed_thread_rounds(bed);
}

void bed_turns(struct bed *bed, unsigned count)
{
    while (count-- > 0) {
        bed_turn(bed, false);
    }
}

struct conn *bed_latest(struct bed *bed)
{
    struct conn *latest = conn_registry_first(&bed->loop.turn);

    assert_non_null(latest);
    for (struct conn *conn; (conn = conn_registry_next(latest));) {
        latest = conn;
    }
    return latest;
}

void bed_unblock(struct bed_front *front)
{
    stub_unblock(front->latest);
}

void bed_send(struct bed *bed, int client, const char *text)
{
    size_t len = strlen(text);

    for (unsigned turns = 0; len > 0; turns++) {
        ssize_t sent = send(client, text, len, MSG_NOSIGNAL);

        assert_in_range(turns, 0, MANY_TURNS);
        if (sent > 0) {
            text += sent;
            len -= (size_t)sent;
        }
        bed_turns(bed, 1);
    }
}

void bed_expect(struct bed *bed, int client, const char *text)
{
    size_t len = strlen(text);
    size_t got = 0;
    char *bytes = calloc(1, len + 1);

    for (unsigned turns = 0; got < len && turns < MANY_TURNS; turns++) {
        ssize_t n = recv(client, bytes + got, len - got, 0);

        if (n == 0) {
            break;
        }
        got += n > 0 ? (size_t)n : 0;
        bed_turns(bed, 1);
    }
    assert_string_equal(bytes, text);
    free(bytes);
}

void bed_expect_silence(struct bed *bed, int client)
{
    char byte;

    bed_turns(bed, 5);
    assert_int_equal(recv(client, &byte, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
}

void bed_expect_end(struct bed *bed, int client)
{
    ssize_t n = -1;
    char byte;

    for (unsigned turns = 0; turns < MANY_TURNS && n < 0; turns++) {
        bed_turns(bed, 1);
        n = recv(client, &byte, 1, 0);
        if (n < 0 && errno != EAGAIN) {
            n = 0;
        }
    }
    assert_int_equal(n, 0);
    (void)close(client);
}
