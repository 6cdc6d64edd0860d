/* SPDX-License-Identifier: MIT */
// A connection over a fake transport: pieces of any size, calls that move nothing, and an end and a
// failure at every point.
#include "server/transport/transport.h"

#include "core/base/log.h"
#include "server/io/io_private.h"
#include "tests/server/server_bed.h"
#include "tests/support/with_cmocka.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char INPUT[] = "one\ntake 5\nabcdethree\nfour\nagain\nfive\n";
static const char ANSWERS[] = "one\ntook abcde\nthree\nfour\nagain\nfive\n";

// More than any of these needs.
enum { MANY_TURNS = 500 };

// A call that moves nothing, and the event that tells when it can move something: the one for the
// call, none, or the other one, as something must be sent, or received, first.
enum lull { LULL_NEVER, LULL_UNTIL_EVENT, LULL_UNTIL_NEXT_CALL, LULL_UNTIL_OTHER_EVENT };

// The behaviour of the transport, and the calls that it has seen.
struct fake {
    size_t piece;      // bytes that a call moves at most
    bool mute;         // there is no input yet
    bool keeps;        // it has read its socket empty: it is drained when everything was received
    enum lull lull;    // the result of every second call
    unsigned fails_at; // the call that fails; 0: none
    unsigned calls;
    size_t received;
    char sent[sizeof ANSWERS];
    size_t sent_len;
    bool told_end;
    int to_receive;      // the event that the last receive asked for, or 0
    int to_send;         // the last send, or shut
    unsigned shuts;      // that were told to the peer
    unsigned shut_lulls; // the number of times that there is no room for it
    unsigned closes;
};

static struct fake fake;

// Its state in the connection.
struct fake_own {
    uint64_t calls;
};

// Counts a call. TRANSFER_BYTES: it may move something.
static enum transfer fake_call(void *state)
{
    struct fake_own *own = state;

    assert_int_equal(own->calls, fake.calls);
    own->calls++;
    fake.calls++;
    assert_int_equal(fake.closes, 0);
    if (fake.calls == fake.fails_at) {
        return TRANSFER_FAILED;
    }
    return fake.lull != LULL_NEVER && fake.calls % 2 ? TRANSFER_NONE : TRANSFER_BYTES;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Copies up to `most` bytes between the parts and `bytes`; returns how many.
static size_t fake_copy(const struct iovec *parts, unsigned count, char *bytes, size_t most,
                        bool out)
{
    size_t done = 0;

    for (unsigned i = 0; i < count && done < most; i++) {
        size_t piece = least(parts[i].iov_len, most - done);

        if (out) {
            memcpy(bytes + done, parts[i].iov_base, piece);
        } else {
            memcpy(parts[i].iov_base, bytes + done, piece);
        }
        done += piece;
    }
    return done;
}

static struct received fake_receive(int fd, void *own, const struct iovec *parts, unsigned count,
                                    size_t len)
{
    struct received received = {.result = (uint8_t)fake_call(own), .error = ECONNRESET};
    char rest[sizeof INPUT];
    size_t left = sizeof INPUT - 1 - fake.received;

    assert_int_equal(fd, -1);
    if (fake.mute) {
        received.result = TRANSFER_NONE;
        received.drained = true;
    } else if (received.result == TRANSFER_NONE) {
        received.drained = fake.lull != LULL_UNTIL_NEXT_CALL;
        received.needs_room = fake.lull == LULL_UNTIL_OTHER_EVENT;
    } else if (received.result == TRANSFER_BYTES && left == 0) {
        received.result = TRANSFER_END;
        fake.told_end = true;
    } else if (received.result == TRANSFER_BYTES) {
        memcpy(rest, INPUT + fake.received, left);
        received.len = fake_copy(parts, count, rest, least(least(fake.piece, left), len), false);
        fake.received += received.len;
        received.drained = !fake.keeps || fake.received == sizeof INPUT - 1;
    }
    fake.to_receive = received.needs_room                  ? EV_WRITE
                      : received.drained && !fake.told_end ? EV_READ
                                                           : 0;
    return received;
}

static struct sent fake_send(int fd, void *own, const struct iovec *parts, unsigned count,
                             size_t len)
{
    struct sent sent = {.result = (uint8_t)fake_call(own), .error = ECONNRESET};

    assert_int_equal(fd, -1);
    if (sent.result == TRANSFER_NONE) {
        sent.needs_input = fake.lull == LULL_UNTIL_OTHER_EVENT;
        sent.full = !sent.needs_input;
    } else if (sent.result == TRANSFER_BYTES) {
        sent.len =
            fake_copy(parts, count, fake.sent + fake.sent_len,
                      least(least(fake.piece, sizeof ANSWERS - 1 - fake.sent_len), len), true);
        fake.sent_len += sent.len;
        sent.full = sent.len < len;
    }
    fake.to_send = sent.needs_input ? EV_READ : sent.full ? EV_WRITE : 0;
    return sent;
}

static int fake_error(int fd, void *own)
{
    (void)fd;
    (void)own;
    return 0;
}

static void fake_peer(int fd, const void *own, char *text, size_t room)
{
    (void)fd;
    (void)own;
    assert_true(room > 1);
    text[0] = '\0';
}

static bool fake_shut(int fd, void *own)
{
    (void)fd;
    (void)own;
    if (fake.shut_lulls > 0) {
        fake.shut_lulls--;
        fake.to_send = EV_WRITE;
        return false;
    }
    fake.shuts++;
    fake.to_send = 0;
    return true;
}

static void fake_close(int fd, void *own)
{
    const struct fake_own *calls = own;

    assert_int_equal(fd, -1);
    assert_int_equal(calls->calls, fake.calls);
    fake.closes++;
}

// It was called before there is a connection.
static bool no_begin(int fd, void *own, void *shared)
{
    (void)fd;
    (void)own;
    (void)shared;
    UNREACHABLE();
}

static const struct transport fake_transport = {
    .state_size = sizeof(struct fake_own),
    .receive = fake_receive,
    .send = fake_send,
    .error = fake_error,
    .peer = fake_peer,
    .shut = fake_shut,
    .close = fake_close,
};

// The event that watches the only connection: its own, or that of its link, which may outlive it.
static struct event *served_event(const struct bed *bed)
{
    const struct io *io = bed->loop.turn.io;

    for (unsigned i = 0; io && i < io->count; i++) {
        struct list_node *first = list_first(&io->threads[i].links);

        if (first) {
            return &list_item(first, struct io_link, socket.all)->socket.event;
        }
    }
    return &bed_latest((struct bed *)(uintptr_t)bed)->event;
}

// One turn, with the events that the fake has promised, if they are watched, and no other.
static void serve_turn(struct bed *bed)
{
    struct event *event = served_event(bed);
    int events = (fake.to_receive | fake.to_send) & event_get_events(event);

    // An event is told once.
    fake.to_receive &= ~events;
    fake.to_send &= ~events;
    if (events) {
        event_active(event, events, 0);
    }
    bed_turns(bed, 1);
}

// Lets the connection run to its end.
static void serve(struct bed *bed, const struct fake *kind)
{
    fake = *kind;
    fake.to_receive = EV_READ;
    bed_use_transport(bed, &fake_transport);
    conn_open(&bed->service, -1, &(struct fake_own){0}, "test");
    // It is watched from the end of its first turn on.
    bed_turns(bed, 1);
    for (unsigned turns = 0; turns < MANY_TURNS && fake.closes == 0; turns++) {
        serve_turn(bed);
    }
    assert_int_equal(fake.closes, 1);
    assert_int_equal(bed->front.open, 0);
    assert_memory_equal(fake.sent, ANSWERS, fake.sent_len);
}

static int transport_setup(void **state)
{
    struct bed *bed = malloc(sizeof *bed);

    bed_init(bed, bed_now);
    *state = bed;
    return 0;
}

static int transport_teardown(void **state)
{
    bed_close(*state);
    free(*state);
    return 0;
}

// Serves a connection in all ways in which nothing fails.
static void serve_all_ways(struct bed *bed, unsigned fails_at, bool *reached)
{
    for (size_t piece = 1; piece < sizeof ANSWERS; piece++) {
        for (int lull = LULL_NEVER; lull <= LULL_UNTIL_OTHER_EVENT; lull++) {
            for (int keeps = 0; keeps < 2; keeps++) {
                struct fake kind = {
                    .piece = piece, .lull = (enum lull)lull, .keeps = keeps, .fails_at = fails_at};

                serve(bed, &kind);
                if (fails_at && fake.calls >= fails_at) {
                    *reached = true;
                } else {
                    assert_int_equal(fake.sent_len, sizeof ANSWERS - 1);
                    assert_true(fake.told_end);
                }
            }
        }
    }
}

static void pieces_of_any_size_and_calls_that_move_nothing_change_no_answer(void **state)
{
    bool reached = false;

    serve_all_ways(*state, 0, &reached);
}

static void connection_may_be_lost_at_any_call(void **state)
{
    bool reached = true;

    for (unsigned call = 1; reached; call++) {
        reached = false;
        serve_all_ways(*state, call, &reached);
    }
}

// A short read that leaves something in the transport: no event will tell of it.
static void transport_that_is_not_drained_is_read_without_an_event(void **state)
{
    struct bed *bed = *state;

    fake = (struct fake){.piece = 4, .keeps = true};
    bed_use_transport(bed, &fake_transport);
    conn_open(&bed->service, -1, &(struct fake_own){0}, "test");
    bed_turns(bed, MANY_TURNS);
    assert_int_equal(fake.received, sizeof INPUT - 1);
    // The output behind the first answer was not sent completely: the rest waits for an event.
    assert_int_equal(fake.to_send, EV_WRITE);
    assert_int_equal(fake.sent_len, 8);
}

// ... and one that does not: another read would find nothing.
static void drained_transport_is_not_read_before_an_event(void **state)
{
    struct bed *bed = *state;

    fake = (struct fake){.piece = 4};
    bed_use_transport(bed, &fake_transport);
    // Every connection begins with one read.
    conn_open(&bed->service, -1, &(struct fake_own){0}, "test");
    bed_turns(bed, MANY_TURNS);
    // A thread that gets a connection begins with a read, and reads on after input without a reply.
    assert_int_equal(fake.received, bed->loop.turn.io ? 16 : 4);
    assert_int_equal(fake.calls, bed->loop.turn.io ? 6 : 2);
    conn_break(bed_latest(bed), "test");
    bed_turns(bed, 2);
    assert_int_equal(fake.closes, 1);
}

// Bytes that came with the last ones of a handshake: the transport has them, and the socket
// nothing.
static void input_with_a_handshake_is_read_without_an_event(void **state)
{
    struct bed *bed = *state;
    struct transport shaken = fake_transport;

    fake = (struct fake){.piece = sizeof INPUT, .keeps = true};
    shaken.begin = no_begin;
    bed_use_transport(bed, &shaken);
    conn_open(&bed->service, -1, &(struct fake_own){0}, "test");
    bed_turns(bed, MANY_TURNS);
    assert_int_equal(fake.received, sizeof INPUT - 1);
    assert_int_equal(fake.sent_len, sizeof ANSWERS - 1);
    loop_close_all(&bed->loop);
}

// The shutdown of the output waits for room; input is read meanwhile.
static void shutting_waits_for_room(void **state)
{
    struct bed *bed = *state;

    fake = (struct fake){.piece = sizeof INPUT, .mute = true, .shut_lulls = 2};
    bed_use_transport(bed, &fake_transport);
    conn_open(&bed->service, -1, &(struct fake_own){0}, "test");
    bed_turns(bed, 1);
    fake.to_receive = 0;
    wire_shut(&bed_latest(bed)->wire);
    bed_turns(bed, 3);
    assert_int_equal(fake.shut_lulls, 1);
    serve_turn(bed);
    assert_int_equal(fake.shut_lulls, 0);
    assert_int_equal(fake.shuts, 0);
    fake.mute = false;
    event_active(served_event(bed), EV_READ, 0);
    bed_turns(bed, 1);
    assert_int_equal(fake.received, sizeof INPUT - 1);
    // The reply to that comes first.
    for (unsigned i = 0; i < 3; i++) {
        fake.to_receive = 0;
        serve_turn(bed);
    }
    assert_int_equal(fake.sent_len, sizeof ANSWERS - 1);
    assert_int_equal(fake.shuts, 1);
    loop_close_all(&bed->loop);
}

static const char *fake_protection(const void *own)
{
    (void)own;
    return "FAKEv9";
}

static const struct peer_identity *fake_identity(const void *own)
{
    static const struct peer_identity identity = {.subject = "CN=client",
                                                  .alt_names = "DNS:client"};

    (void)own;
    return &identity;
}

static const struct peer_identity *no_identity(const void *own)
{
    (void)own;
    return NULL;
}

static char connected[200]; // the last line of that name

static void note_connected(void *context, enum log_level level, const char *event,
                           const struct log_field *fields, size_t count)
{
    size_t len = 0;

    (void)context;
    if (strcmp(event, "connected") != 0) {
        return;
    }
    assert_int_equal(level, LOG_LEVEL_DEBUG);
    for (size_t i = 1; i < count; i++) {
        len += (size_t)snprintf(connected + len, sizeof connected - len, "%s=%.*s ", fields[i].key,
                                (int)fields[i].text.len, fields[i].text.ptr);
    }
}

static void open_as(struct bed *bed, const struct transport *transport)
{
    fake = (struct fake){.piece = 1};
    bed_use_transport(bed, transport);
    conn_open(&bed->service, -1, &(struct fake_own){0}, "10.0.0.1:5");
    loop_close_all(&bed->loop);
}

static void log_names_the_protection_and_the_identity_of_the_peer(void **state)
{
    struct transport transport = fake_transport;

    log_set_sink(note_connected, NULL, LOG_LEVEL_DEBUG);
    open_as(*state, &transport);
    assert_string_equal(connected, "protocol=stub peer=10.0.0.1:5 ");
    transport.protection = fake_protection;
    transport.identity = no_identity;
    open_as(*state, &transport);
    assert_string_equal(connected, "protocol=stub peer=10.0.0.1:5 tls=FAKEv9 ");
    transport.identity = fake_identity;
    open_as(*state, &transport);
    assert_string_equal(connected, "protocol=stub peer=10.0.0.1:5 tls=FAKEv9 subject=CN=client "
                                   "alt_names=DNS:client ");
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
}

static void connection_that_is_refused_closes_its_transport(void **state)
{
    struct bed *bed = *state;

    fake = (struct fake){.piece = 1};
    bed->front.refuses = true;
    bed_use_transport(bed, &fake_transport);
    conn_open(&bed->service, -1, &(struct fake_own){0}, "test");
    assert_int_equal(fake.closes, 1);
}

#define TRANSPORT_TEST(f) cmocka_unit_test_setup_teardown(f, transport_setup, transport_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRANSPORT_TEST(pieces_of_any_size_and_calls_that_move_nothing_change_no_answer),
        TRANSPORT_TEST(connection_may_be_lost_at_any_call),
        TRANSPORT_TEST(transport_that_is_not_drained_is_read_without_an_event),
        TRANSPORT_TEST(drained_transport_is_not_read_before_an_event),
        TRANSPORT_TEST(input_with_a_handshake_is_read_without_an_event),
        TRANSPORT_TEST(shutting_waits_for_room),
        TRANSPORT_TEST(log_names_the_protection_and_the_identity_of_the_peer),
        TRANSPORT_TEST(connection_that_is_refused_closes_its_transport),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
