/* SPDX-License-Identifier: MIT */
#include "tests/budget/host.h"

#include "core/base/macros.h"
#include "journal/file/files.h"
#include "journal/journal.h"
#include "tests/journal/fake_worker.h"
#include "tests/journal/file/fake_disk.h"

#include <stdlib.h>
#include <string.h>

#define CALLERS_MAX 64
#define HEARD_MAX ((size_t)64 << 10)
#define STARTS_AT ((nsec_t)1000 * NSEC_PER_SEC)
#define WALL_AT ((nsec_t)1700000000 * NSEC_PER_SEC)
#define TURN_FOR ((nsec_t)10000)
#define SEGMENT_SIZE (UINT64_C(4) << 20)
#define BODY_MAX ((size_t)1 << 16)
#define PENDING_MAX ((size_t)64 << 20)
// More commands than any case sends in one turn.
#define COMMANDS 1000
#define SPANS 16
// A reply that has not come after this number of turns will not come.
#define REPLY_TURNS_MAX 8

struct caller {
    struct wire wire; // first, so that a pointer to it is one to the caller
    struct host *host;
    void *conn;
    struct slice said;
    enum feed_state state;
    bool woken;
    size_t heard_len;
    char heard[HEARD_MAX];
};

struct host {
    const struct frontend *frontend;
    void *shared;
    struct broker *broker;
    struct output_pool pool;
    struct instant now;
    struct caller *callers[CALLERS_MAX];
    size_t count;
    struct fake_disk *disk;
    struct journal_io io;
    struct fake_worker disk_worker;
    struct journal *journal; // NULL for jobs in memory only
    unsigned long turns, aside;
};

//
// Life
//

static void cpu_time(nsec_t *user_for, nsec_t *system_for)
{
    *user_for = 0;
    *system_for = 0;
}

static const struct process_facts facts = {
    .pid = 1,
    .version = "0",
    .hostname = "host",
    .os = "os",
    .platform = "platform",
    .instance = 1,
    .cpu_time = cpu_time,
};

static void *make(size_t size)
{
    void *made = calloc(1, size);

    ENSURE(made);
    return made;
}

static nsec_t no_time(void)
{
    return STARTS_AT;
}

static void make_journal(struct host *host)
{
    const struct journal_settings settings = {.segment_size = SEGMENT_SIZE,
                                              .max_pending = PENDING_MAX,
                                              .fail_for = NSEC_PER_SEC,
                                              .secret = 1,
                                              .now = no_time};
    struct journal_worker worker = fake_worker_interface(&host->disk_worker);

    host->disk = fake_disk_new();
    host->io = fake_disk_io(host->disk);
    host->disk_worker.io = &host->io;
    host->disk_worker.waits = true;
    host->journal = journal_new(&settings, journal_files_new(&host->io), &worker);
    ENSURE(host->journal);
}

struct host *host_new(const struct frontend *frontend, const void *settings, bool durable)
{
    struct host *host = make(sizeof *host);
    struct broker_options options = {.secret = 1};
    struct error_text why;

    if (durable) {
        make_journal(host);
        options.recorder = &journal_recorder;
        options.store = host->journal;
    }
    host->now = (struct instant){.mono = STARTS_AT, .wall = WALL_AT};
    host->frontend = frontend;
    host->shared = make(frontend->shared_size);
    host->broker = broker_new(&options, host->now);
    ENSURE(host->broker);
    ENSURE(!durable || journal_open(host->journal, host->broker, &why));
    ENSURE(frontend->start(host->shared, host->broker, settings, &facts) == STATUS_OK);
    return host;
}

void host_free(struct host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        struct caller *caller = host->callers[i];

        host->frontend->close(caller->conn);
        output_clear(&caller->wire.out);
        free(caller->conn);
        free(caller);
    }
    host->frontend->stop(host->shared);
    (void)journal_close(host->journal);
    fake_disk_free(host->disk);
    broker_free(host->broker);
    output_pool_clear(&host->pool);
    free(host->shared);
    free(host);
}

//
// Callbacks of the front-end
//

static void on_wake(struct wire *wire)
{
    struct caller *caller = (void *)wire;

    caller->woken = true;
}

static void on_drop(struct wire *wire, const char *why)
{
    (void)wire;
    (void)why;
    UNREACHABLE();
}

static void on_end(struct wire *wire)
{
    (void)wire;
    UNREACHABLE();
}

static void on_peer(const struct wire *wire, char *text)
{
    (void)wire;
    memcpy(text, "-", sizeof "-");
}

static void on_tls_hello(const struct wire *wire)
{
    (void)wire;
    UNREACHABLE();
}

static struct wire_caller on_identify(struct wire *wire, const struct wire_claim *claim)
{
    (void)wire;
    (void)claim;
    return (struct wire_caller){.kind = CALLER_ADDRESS};
}

static bool on_is_local(const struct wire *wire)
{
    (void)wire;
    return true;
}

static bool on_overflows(struct wire *wire)
{
    (void)wire;
    return false;
}

static void on_refused(struct wire *wire, enum refusal_kind refusal)
{
    (void)wire;
    (void)refusal;
}

static const struct wire_host wire_host = {.wake = on_wake,
                                           .drop = on_drop,
                                           .finish = on_end,
                                           .shut = on_end,
                                           .peer = on_peer,
                                           .tls_hello = on_tls_hello,
                                           .proxy_head = on_tls_hello,
                                           .identify = on_identify,
                                           .is_local = on_is_local,
                                           .overflows = on_overflows,
                                           .refused = on_refused};

struct caller *host_connect(struct host *host)
{
    struct caller *caller = make(sizeof *caller);

    ENSURE(host->count < CALLERS_MAX);
    host->callers[host->count++] = caller;
    caller->host = host;
    caller->conn = make(host->frontend->conn_size);
    caller->wire.host = &wire_host;
    caller->wire.deadline_at = NSEC_NEVER;
    caller->wire.number = host->count & WIRE_NUMBER_MAX;
    output_init(&caller->wire.out, &host->pool);
    ENSURE(host->frontend->open(caller->conn, host->shared, &caller->wire) == STATUS_OK);
    return caller;
}

//
// The turn
//

static void feed(struct caller *caller)
{
    struct feed fed = caller->host->frontend->feed(caller->conn, caller->said, COMMANDS);

    ENSURE(fed.used == caller->said.len && fed.state != FEED_FINISHED);
    caller->said.len = 0;
    caller->state = fed.state;
}

static void feed_all(struct host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        struct caller *caller = host->callers[i];
        bool resumed = caller->woken && caller->state == FEED_BLOCKED;

        caller->woken = false;
        if (caller->said.len || resumed || caller->state == FEED_AGAIN) {
            feed(caller);
        }
    }
}

// The copy stands for the one that a system call makes.
static void send(struct caller *caller)
{
    struct slice spans[SPANS];
    size_t len = 0;
    size_t count = output_peek(&caller->wire.out, spans, SPANS);

    for (size_t i = 0; i < count; i++) {
        ENSURE(caller->heard_len + spans[i].len <= HEARD_MAX);
        memcpy(caller->heard + caller->heard_len, spans[i].ptr, spans[i].len);
        caller->heard_len += spans[i].len;
        len += spans[i].len;
    }
    output_consume(&caller->wire.out, len);
}

static void send_all(struct host *host)
{
    for (size_t i = 0; i < host->count; i++) {
        struct caller *caller = host->callers[i];

        ENSURE(!output_failed(&caller->wire.out));
        if (output_sendable(&caller->wire.out)) {
            send(caller);
        }
    }
}

static void turn(struct host *host)
{
    host->now.mono += TURN_FOR;
    host->now.wall += TURN_FOR;
    broker_tick(host->broker, host->now);
    feed_all(host);
    while (broker_settle(host->broker)) {
    }
    feed_all(host);
    if (host->journal) {
        journal_turn(host->journal);
        host->pool.reached = journal_reached(host->journal);
    }
    send_all(host);
}

// Callgrind finds it by name, so it must not be inlined.
__attribute__((noinline)) void host_turn(struct host *host)
{
    turn(host);
    host->turns++;
}

void host_turn_aside(struct host *host)
{
    turn(host);
    host->aside++;
}

//
// Callers
//

void caller_say(struct caller *caller, struct slice bytes)
{
    caller->said = bytes;
}

struct slice caller_hear(struct caller *caller)
{
    struct slice heard = slice_of(caller->heard, caller->heard_len);

    caller->heard_len = 0;
    return heard;
}

static struct slice ask(struct caller *caller, struct slice bytes, struct slice expected,
                        void (*pass)(struct host *host))
{
    ENSURE(caller->heard_len == 0);
    caller_say(caller, bytes);
    for (int i = 0; i < REPLY_TURNS_MAX && caller->heard_len == 0; i++) {
        pass(caller->host);
        (void)fake_worker_run(&caller->host->disk_worker);
    }
    ENSURE(caller->heard_len >= expected.len &&
           memcmp(caller->heard, expected.ptr, expected.len) == 0);
    return caller_hear(caller);
}

struct slice caller_ask(struct caller *caller, struct slice bytes, struct slice expected)
{
    return ask(caller, bytes, expected, host_turn);
}

struct slice caller_ask_aside(struct caller *caller, struct slice bytes, struct slice expected)
{
    return ask(caller, bytes, expected, host_turn_aside);
}
