/* SPDX-License-Identifier: MIT */
#include "tests/server/again_bed.h"

#include "core/base/macros.h"
#include "tests/support/with_cmocka.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_S = 60 };

struct shared_store {
    struct store store;
    struct event *pulse;
    bool began;
    bool opened;
    bool stopped;
    bool lost;
};

// Of the test that runs: stores are made by the server.
static struct again *world;

static struct shared_store *shared_of(const struct store *store)
{
    return container_of((struct store *)(uintptr_t)store, struct shared_store, store);
}

static void shared_record(struct store *store, struct broker_options *options)
{
    (void)store;
    (void)options;
}

// News that no test need wait for.
static void pulse(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
    if (atomic_exchange(&world->hand_over, false)) {
        assert_true(world->server.introspection.introspect.hand_over(&world->server));
    }
}

static bool shared_begin(struct store *store, struct event_base *base, struct broker *broker,
                         struct error_text *why)
{
    static const struct timeval every = {.tv_usec = 1000};
    struct shared_store *shared = shared_of(store);

    (void)broker;
    (void)why;
    shared->pulse = event_new(base, -1, EV_PERSIST, pulse, NULL);
    assert_non_null(shared->pulse);
    assert_int_equal(event_add(shared->pulse, &every), 0);
    shared->began = true;
    return true;
}

static bool shared_is_opening(const struct store *store)
{
    const struct shared_store *shared = shared_of(store);

    return shared->began && !shared->opened && !shared->stopped && !atomic_load(&world->owns);
}

static void shared_progress(const struct store *store, struct restore_progress *progress)
{
    (void)store;
    (void)progress;
}

static bool shared_log_progress(struct store *store, nsec_t since_for)
{
    (void)store;
    (void)since_for;
    return false;
}

static void shared_stop(struct store *store)
{
    shared_of(store)->stopped = true;
}

static bool shared_end(struct store *store, struct error_text *why)
{
    if (atomic_load(&world->fails) > 0) {
        atomic_fetch_sub(&world->fails, 1);
        shared_of(store)->lost = true;
        return error_set(why, "cannot be written");
    }
    shared_of(store)->opened = true;
    return true;
}

static const char *shared_host(const struct store *store)
{
    (void)store;
    return "";
}

static void shared_turn(struct store *store)
{
    (void)store;
}

static uint64_t shared_reached(const struct store *store)
{
    (void)store;
    return 0;
}

static nsec_t shared_due(const struct store *store)
{
    (void)store;
    return NSEC_NEVER;
}

static enum store_pressure shared_pressure(const struct store *store)
{
    (void)store;
    return STORE_EASY;
}

static bool shared_gave_up(struct store *store)
{
    (void)store;
    return false;
}

static void shared_show(const struct store *store, struct introspect_journal *journal)
{
    (void)store;
    (void)journal;
}

static void shared_advertise(struct store *store, const char *addresses)
{
    (void)store;
    (void)snprintf(world->advertised, sizeof world->advertised, "%s", addresses);
}

static enum store_standing shared_standing(const struct store *store)
{
    if (!shared_of(store)->opened && !shared_of(store)->lost) {
        return STORE_FOLLOWS;
    }
    if (!atomic_load(&world->owns) || shared_of(store)->lost) {
        return STORE_LOST;
    }
    return atomic_load(&world->unsure) ? STORE_UNSURE : STORE_OWNS;
}

static const struct fence *shared_fence(const struct store *store)
{
    (void)store;
    return &world->fence;
}

static void shared_hand_over(struct store *store)
{
    (void)store;
    atomic_store(&world->handed_over, true);
}

static void shared_owner(const struct store *store, struct store_owner *owner)
{
    bool owns = atomic_load(&world->owns);
    bool known = owns || atomic_load(&world->other_owns);

    (void)store;
    *owner = (struct store_owner){.epoch = atomic_load(&world->made)};
    (void)snprintf(owner->name, sizeof owner->name, "%s", known ? owns ? "this" : "other" : "");
    (void)snprintf(owner->address, sizeof owner->address, "%s",
                   known ? owns ? world->advertised : world->other_address : "");
}

static void shared_cluster(const struct store *store, struct introspect_cluster *cluster)
{
    (void)store;
    world->members[0] =
        (struct introspect_member){.node = "this", .address = "", .self = true, .takes_over = true};
    world->members[1] = (struct introspect_member){
        .node = "other",
        .address = "",
        .epoch = atomic_load(&world->made) - (atomic_load(&world->other_is_past) ? 1 : 0),
        .takes_over = !atomic_load(&world->other_only_follows),
        .seen_for = atomic_load(&world->other_seen_for)};
    *cluster = (struct introspect_cluster){
        .role = atomic_load(&world->owns) ? CLUSTER_OWNER : CLUSTER_STANDBY,
        .shard = "test",
        .node = "this",
        .owner = "",
        .owner_address = "",
        .epoch = atomic_load(&world->made),
        .connected = true,
        .durability = "",
        .why = "",
        .members = world->members,
        .count = 2,
    };
}

static bool shared_close(struct store *store)
{
    struct shared_store *shared = shared_of(store);

    if (shared->pulse) {
        event_free(shared->pulse);
    }
    if (atomic_load(&world->handed_over)) {
        atomic_store(&world->owns, false);
    }
    free(shared);
    return true;
}

static const struct store_ops shared_ops = {.record = shared_record,
                                            .open_begin = shared_begin,
                                            .is_opening = shared_is_opening,
                                            .progress = shared_progress,
                                            .log_progress = shared_log_progress,
                                            .stop_opening = shared_stop,
                                            .open_end = shared_end,
                                            .host = shared_host,
                                            .turn = shared_turn,
                                            .reached = shared_reached,
                                            .next_due = shared_due,
                                            .pressure = shared_pressure,
                                            .gave_up = shared_gave_up,
                                            .show = shared_show,
                                            .close = shared_close};

static const struct store_shared_ops sharing_ops = {.advertise = shared_advertise,
                                                    .standing = shared_standing,
                                                    .fence = shared_fence,
                                                    .hand_over = shared_hand_over,
                                                    .owner = shared_owner,
                                                    .cluster = shared_cluster};

bool __wrap_store_make(struct store **store, const struct settings *settings,
                       const struct store_options *options, const char *host,
                       struct error_text *why);

bool __wrap_store_make(struct store **store, const struct settings *settings,
                       const struct store_options *options, const char *host,
                       struct error_text *why)
{
    struct shared_store *shared = calloc(1, sizeof *shared);

    (void)settings;
    (void)host;
    (void)why;
    assert_non_null(shared);
    shared->store.ops = &shared_ops;
    shared->store.shared = &sharing_ops;
    atomic_store(&world->yields, options->yields);
    atomic_fetch_add(&world->made, 1);
    *store = &shared->store;
    return true;
}

static void note_address(const struct again *again, const char *protocol, char text[64])
{
    const char *address = listeners_address(&again->server.listeners, protocol, 0);

    assert_non_null(address);
    (void)snprintf(text, 64, "%s", address);
}

static void told_ready(void *context)
{
    struct again *again = context;

    note_address(again, "beanstalk", again->bean);
    note_address(again, "admin", again->admin);
    assert_false(atomic_exchange(&again->ready, true));
}

static void *run(void *context)
{
    struct again *again = context;
    const struct server_start start = {.settings = again->settings,
                                       .source = &again->source,
                                       .log = &again->log,
                                       .ready = told_ready,
                                       .context = again};

    // ThreadSanitizer loses a signal that arrives before or in the thread's first call that may
    // block: it allocates the thread's state of signals there.
    (void)poll(NULL, 0, 0);
    again->ended = server_open(&again->server, &start, &again->why);
    if (again->ended == EXIT_REASON_NONE && server_is_up(&again->server)) {
        again->ended = server_run(&again->server, &again->why);
    }
    return NULL;
}

static bool is_ready(const struct again *again)
{
    return atomic_load(&again->ready);
}

static void listen_for_other(struct again *again)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    socklen_t len = sizeof addr;

    again->other = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(again->other, (const struct sockaddr *)&addr, len), 0);
    assert_int_equal(listen(again->other, 16), 0);
    assert_int_equal(getsockname(again->other, (struct sockaddr *)&addr, &len), 0);
    assert_int_equal(setsockopt(again->other, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience),
                     0);
    (void)snprintf(again->other_address, sizeof again->other_address, "beanstalk=127.0.0.1:%d",
                   ntohs(addr.sin_port));
}

struct again *again_start(bool owns, const char *const *sets)
{
    struct again *again = calloc(1, sizeof *again);
    static const char *all[16] = {"beanstalk.listen=127.0.0.1:0", "gearman.listen=127.0.0.1:0",
                                  "http.listen=127.0.0.1:0",      "admin.listen=127.0.0.1:0",
                                  "server.log_level=error",       "journal.address=127.0.0.1"};
    size_t count = 6;

    while (*sets) {
        assert_in_range(count, 0, 15);
        all[count++] = *sets++;
    }
    assert_non_null(again);
    world = again;
    atomic_store(&again->owns, owns);
    atomic_store(&again->other_owns, !owns);
    fence_move(&again->fence, NSEC_NEVER);
    listen_for_other(again);
    again->source = (struct settings_source){.sets = all, .set_count = count};
    again->settings = settings_load(&again->source, &again->why);
    assert_non_null(again->settings);
    log_output_init(&again->log);
    assert_true(log_output_open(&again->log, "", LOG_FORMAT_TEXT,
                                (enum log_level)again->settings->server.log_level, &again->why));
    assert_int_equal(pthread_create(&again->thread, NULL, run, again), 0);
    again_until(is_ready, again);
    return again;
}

void again_stop(struct again *again)
{
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    assert_int_equal(pthread_join(again->thread, NULL), 0);
    assert_int_equal(again->ended, EXIT_REASON_NONE);
    assert_true(server_close(&again->server));
    log_output_close(&again->log);
    settings_free(again->settings);
    (void)close(again->other);
    free(again);
}

void again_lose(struct again *again, bool other_owns)
{
    atomic_store(&again->other_owns, other_owns);
    fence_move(&again->fence, 0);
    atomic_store(&again->owns, false);
}

void again_own(struct again *again)
{
    atomic_store(&again->unsure, false);
    atomic_store(&again->handed_over, false);
    fence_move(&again->fence, NSEC_NEVER);
    atomic_store(&again->owns, true);
}

int again_connect(const char *address)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int client = socket(AF_INET, SOCK_STREAM, 0);

    addr.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
    assert_int_equal(connect(client, (const struct sockaddr *)&addr, sizeof addr), 0);
    assert_int_equal(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    return client;
}

void again_say(int client, const char *text)
{
    // The peer may have closed the connection already.
    (void)send(client, text, strlen(text), MSG_NOSIGNAL);
}

void again_expect(int client, const char *text)
{
    char got[256];
    size_t len = strlen(text);

    assert_in_range(len, 1, sizeof got);
    assert_int_equal(recv(client, got, len, MSG_WAITALL), len);
    assert_memory_equal(got, text, len);
}

void again_expect_end(int client)
{
    char got;
    ssize_t len = recv(client, &got, 1, 0);

    assert_true(len == 0 || (len < 0 && errno == ECONNRESET));
    (void)close(client);
}

void again_expect_silence(int client)
{
    struct pollfd readable = {.fd = client, .events = POLLIN};

    assert_int_equal(poll(&readable, 1, 100), 0);
}

int again_connect_served(const struct again *again)
{
    for (;;) {
        int client = again_connect(again->bean);
        char got[9];

        again_say(client, "watch a\r\n");
        // One that is closed was taken by a standby.
        if (recv(client, got, sizeof got, MSG_WAITALL) == sizeof got) {
            assert_memory_equal(got, "WATCHING ", sizeof got);
            again_expect(client, "2\r\n");
            return client;
        }
        (void)close(client);
    }
}

int again_accept_other(const struct again *again, const char *text)
{
    struct timeval patience = {.tv_sec = PATIENCE_S};
    size_t len = strlen(text);

    for (;;) {
        int client = accept(again->other, NULL, NULL);
        char got[64];

        assert_true(client >= 0);
        assert_in_range(len, 1, sizeof got);
        assert_int_equal(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience),
                         0);
        if (recv(client, got, len, MSG_WAITALL) == (ssize_t)len && memcmp(got, text, len) == 0) {
            return client;
        }
        // A connection that tested whether this process serves again.
        (void)close(client);
    }
}

void again_until(bool (*holds)(const struct again *again), const struct again *again)
{
    while (!holds(again)) {
        (void)poll(NULL, 0, 1);
    }
}

static const char *ask(const struct again *again, const char *method, const char *path)
{
    static char answer[8192];
    char request[256];
    size_t len = 0;
    ssize_t got;
    int client = again_connect(again->admin);

    (void)snprintf(request, sizeof request,
                   "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                   "X-Tandem-Request: test\r\nContent-Length: 0\r\n\r\n",
                   method, path);
    again_say(client, request);
    while ((got = recv(client, answer + len, sizeof answer - 1 - len, 0)) > 0) {
        len += (size_t)got;
    }
    answer[len] = '\0';
    (void)close(client);
    return answer;
}

const char *again_ask(const struct again *again, const char *path)
{
    return ask(again, "GET", path);
}

const char *again_operate(const struct again *again, const char *path)
{
    return ask(again, "POST", path);
}
