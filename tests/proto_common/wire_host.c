/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_host.h"

#include "core/base/macros.h"
#include "tests/support/broker_check.h"

#include "tests/proto_common/wire_host_private.h"

#include <string.h>

// The most bytes that a peer may send before it is fed, and receive in total.
#define KEPT_MAX ((size_t)16 << 20)
#define HEARD_MAX ((size_t)256 << 20)
#define PLENTY 1000000
// The monotonic time at which a rig begins.
#define RIG_STARTS_AT (1000 * NSEC_PER_SEC)
// With more unread output, a peer is not fed.
#define UNREAD_MAX ((size_t)1 << 20)

//
// The rig
//

static void rig_cpu_time(nsec_t *user_for, nsec_t *system_for)
{
    *user_for = 3 * NSEC_PER_SEC + 2000;
    *system_for = 1 * NSEC_PER_SEC + 500 * NSEC_PER_MSEC;
}

const struct process_facts wire_facts = {
    .pid = 4242,
    .started_at = RIG_STARTS_AT - 77 * NSEC_PER_SEC,
    .version = "0.1.0",
    .hostname = "test.host",
    .os = "#1 SMP",
    .platform = "x86_64",
    .instance = UINT64_C(0x0123456789abcdef),
    .cpu_time = rig_cpu_time,
};

static void service_stop(struct service *service)
{
    if (service->frontend) {
        service->frontend->stop((void *)service->shared.start);
        wire_pages_unmap(service->shared);
        service->frontend = NULL;
    }
}

// False: no memory.
static bool service_start(struct rig *rig, struct service *service, const struct frontend *frontend,
                          const void *settings)
{
    if (!frontend) {
        return true;
    }
    service->shared = wire_pages_map(frontend->shared_size);
    service->settings = settings;
    if (frontend->start((void *)service->shared.start, rig->broker, settings, &rig->facts) !=
        STATUS_OK) {
        wire_pages_unmap(service->shared);
        return false;
    }
    service->frontend = frontend;
    return true;
}

//
// The store
//

void rig_hold_store(struct rig *rig)
{
    rig->store.slow = true;
}

void rig_hold_ids(struct rig *rig)
{
    rig->store.ids_at = ++rig->store.position;
}

void rig_reach_to(struct rig *rig, uint64_t position)
{
    ENSURE(position >= rig->pool.reached && position <= rig->store.position);
    rig->pool.reached = position;
    rig_run(rig);
}

void rig_reach(struct rig *rig)
{
    rig_reach_to(rig, rig->store.position);
}

uint64_t rig_position(const struct rig *rig)
{
    return rig->store.position;
}

struct store_info *rig_store_info(struct rig *rig)
{
    return &rig->store.info;
}

struct wire_callers *rig_callers(struct rig *rig)
{
    return &rig->callers;
}

static void rig_unmap(struct rig *rig)
{
    wire_callers_clear(&rig->callers);
    for (size_t i = 0; i < SERVICES; i++) {
        service_stop(&rig->services[i]);
    }
    broker_free(rig->broker);
    output_pool_clear(&rig->pool);
    wire_pages_unmap(rig->input);
    wire_pages_unmap((struct wire_pages){(char *)rig, sizeof *rig});
}

struct rig *rig_new(const struct rig_options *options)
{
    struct rig *rig = (void *)wire_pages_map(sizeof *rig).start;
    struct broker_options broker;

    rig->options = *options;
    rig->facts = wire_facts;
    rig->facts.introspect = options->introspect;
    rig->now = (struct instant){.mono = RIG_STARTS_AT, .wall = RIG_WALL_AT};
    rig->input = wire_pages_map(KEPT_MAX);
    if (rig->options.budget == 0) {
        rig->options.budget = PLENTY;
    }
    broker = wire_store_before(&rig->store, options->broker, &rig->pool.reached);
    rig->broker = broker_new(&broker, rig->now);
    if (!rig->broker ||
        !service_start(rig, &rig->services[FIRST], options->frontend, options->settings) ||
        !service_start(rig, &rig->services[OTHER], options->other, options->other_settings)) {
        rig_unmap(rig);
        return NULL;
    }
    return rig;
}

void rig_free(struct rig *rig)
{
    while (rig->peers) {
        peer_free(rig->peers);
    }
    rig_unmap(rig);
}

struct broker *rig_broker(const struct rig *rig)
{
    return rig->broker;
}

unsigned long rig_feeds(const struct rig *rig)
{
    return rig->feeds;
}

//
// Feeding
//

static void collect(struct peer *peer)
{
    struct slice spans[4];
    size_t count;

    peer->wire.out.stalled = peer->deaf && output_sendable(&peer->wire.out) > 0;
    if (peer->deaf || peer->dropped) {
        return;
    }
    while ((count = output_peek(&peer->wire.out, spans, 4)) > 0) {
        size_t len = 0;

        for (size_t i = 0; i < count; i++) {
            ENSURE(peer->heard + spans[i].len < HEARD_MAX);
            memcpy(peer->heard_pages.start + peer->heard, spans[i].ptr, spans[i].len);
            peer->heard += spans[i].len;
            len += spans[i].len;
        }
        output_consume(&peer->wire.out, len);
    }
}

static void close_peer(struct peer *peer)
{
    if (!peer->closed) {
        peer->closed = true;
        peer->quiet = true;
        peer->frontend->close(peer->conn);
        output_clear(&peer->wire.out);
    }
}

// The stored input, directly before the unmapped page.
static struct slice guarded_input(struct peer *peer)
{
    char *start = peer->rig->input.start + peer->rig->input.len - peer->kept;

    memcpy(start, peer->kept_pages.start, peer->kept);
    return slice_of(start, peer->kept);
}

static void apply(struct peer *peer, const struct feed *feed)
{
    ENSURE(feed->used <= peer->kept);
    peer->kept -= feed->used;
    memmove(peer->kept_pages.start, peer->kept_pages.start + feed->used, peer->kept);
    peer->runnable = feed->state == FEED_AGAIN;
    peer->blocked = feed->state == FEED_BLOCKED;
    peer->finished = feed->state == FEED_FINISHED;
    peer->into = feed->into;
    peer->into_len = feed->into_len;
    ENSURE(!feed->into || (feed->state == FEED_MORE && peer->kept == 0 && feed->into_len > 0));
    if (feed->state == FEED_MORE && peer->half_closed) {
        peer->finished = true;
    }
}

static void feed_peer(struct peer *peer)
{
    struct rig *rig = peer->rig;
    struct feed feed = peer->frontend->feed(peer->conn, guarded_input(peer), rig->options.budget);

    rig->feeds++;
    apply(peer, &feed);
}

static bool may_run(const struct peer *peer)
{
    return peer->runnable && !peer->closed && output_pending(&peer->wire.out) <= UNREAD_MAX;
}

// The end of a turn: sends the staged output, and closes the peer if necessary.
static void end_turn(struct peer *peer)
{
    collect(peer);
    if (!peer->closed && output_failed(&peer->wire.out)) {
        peer->failed = true;
        close_peer(peer);
    }
    if (peer->dropped || (peer->finished && output_pending(&peer->wire.out) == 0)) {
        close_peer(peer);
    }
}

static nsec_t earliest(nsec_t a_at, nsec_t b_at)
{
    return a_at < b_at ? a_at : b_at;
}

static bool turn_of_peer(struct peer *peer)
{
    bool ran = may_run(peer);

    if (ran) {
        feed_peer(peer);
    }
    if (!peer->closed && peer->wire.deadline_at <= peer->rig->now.mono) {
        ran = true;
        peer->wire.deadline_at = NSEC_NEVER;
        peer->frontend->expired(peer->conn);
    }
    ran |= wire_pace_check(peer);
    end_turn(peer);
    wire_pace_note(peer, ran);
    return ran;
}

static bool turn_of_peers(struct rig *rig)
{
    bool ran = false;

    for (struct peer *peer = rig->peers; peer; peer = peer->next) {
        ran |= turn_of_peer(peer);
    }
    return ran;
}

void rig_feed(struct rig *rig)
{
    turn_of_peers(rig);
}

static nsec_t work_due(const struct rig *rig)
{
    nsec_t due_at = NSEC_NEVER;

    for (size_t i = 0; i < SERVICES; i++) {
        const struct service *service = &rig->services[i];

        if (service->frontend && service->frontend->due) {
            due_at = earliest(due_at, service->frontend->due((void *)service->shared.start));
        }
    }
    return due_at;
}

// Runs the background tasks of front-ends.
static bool work(struct rig *rig)
{
    bool ran = false;

    for (size_t i = 0; i < SERVICES; i++) {
        const struct service *service = &rig->services[i];
        void *shared = (void *)service->shared.start;

        if (service->frontend && service->frontend->due &&
            service->frontend->due(shared) <= rig->now.mono) {
            service->frontend->work(shared);
            ran = true;
        }
    }
    return ran;
}

void rig_run(struct rig *rig)
{
    bool ran = true;

    while (ran) {
        broker_tick(rig->broker, rig->now);
        ran = turn_of_peers(rig);
        ran |= work(rig);
        ran |= broker_settle(rig->broker);
        for (struct peer *peer = rig->peers; peer; peer = peer->next) {
            ran |= may_run(peer) || (peer->dropped && !peer->closed);
        }
        ran |= broker_next_due(rig->broker) <= rig->now.mono;
    }
    if (!rig->options.unchecked) {
        broker_check_step(rig->broker);
    }
}

void rig_stop(struct rig *rig)
{
    for (struct peer *peer = rig->peers; peer; peer = peer->next) {
        if (!peer->closed && !peer->finished && peer->frontend->stopping) {
            peer->frontend->stopping(peer->conn);
        }
        peer->finished = true;
        peer->runnable = false;
    }
    rig_run(rig);
}

static nsec_t next_moment(const struct rig *rig)
{
    nsec_t next = earliest(broker_next_due(rig->broker), work_due(rig));

    for (struct peer *peer = rig->peers; peer; peer = peer->next) {
        nsec_t at = earliest(peer->wire.deadline_at, peer->pace.timer.check_at);

        next = peer->closed ? next : earliest(next, at);
    }
    return next;
}

void rig_advance(struct rig *rig, nsec_t span)
{
    nsec_t until = rig->now.mono + span;

    rig_run(rig);
    while (rig->now.mono < until) {
        nsec_t next = next_moment(rig);
        nsec_t step = (next < until ? next : until) - rig->now.mono;

        rig->now.mono += step;
        rig->now.wall += step;
        rig_run(rig);
    }
}

void rig_step_wall(struct rig *rig, nsec_t by)
{
    rig->now.wall += by;
    rig_run(rig);
}

void rig_set_clock(struct rig *rig, nsec_t span)
{
    rig->now.wall += span;
    rig_run(rig);
}

//
// Peers
//

static bool open_peer(struct rig *rig, const struct service *service, struct peer *peer)
{
    enum status status;

    peer->rig = rig;
    peer->frontend = service->frontend;
    peer->settings = service->settings;
    wire_pace_begin(&peer->pace);
    peer->conn = peer + 1;
    peer->wire.host = &wire_host_ops;
    peer->wire.deadline_at = NSEC_NEVER;
    peer->wire.number = ++rig->numbers & WIRE_NUMBER_MAX;
    output_init(&peer->wire.out, &rig->pool);
    peer->quiet = true;
    status = peer->frontend->open(peer->conn, (void *)service->shared.start, &peer->wire);
    peer->quiet = false;
    return status == STATUS_OK;
}

static struct peer *connect_peer(struct rig *rig, const struct service *service)
{
    struct wire_pages pages = wire_pages_map(sizeof(struct peer) + service->frontend->conn_size);
    struct peer *peer = (void *)pages.start;
    struct peer **end = &rig->peers;

    if (!open_peer(rig, service, peer)) {
        output_clear(&peer->wire.out);
        wire_pages_unmap(pages);
        return NULL;
    }
    peer->pages = pages;
    peer->kept_pages = wire_pages_map(KEPT_MAX);
    peer->heard_pages = wire_pages_map(HEARD_MAX);
    while (*end) {
        end = &(*end)->next;
    }
    *end = peer;
    if (rig->callers.default_grants) {
        (void)peer_grant(peer, rig->callers.default_grants);
    }
    return peer;
}

struct peer *peer_new(struct rig *rig)
{
    return connect_peer(rig, &rig->services[FIRST]);
}

struct peer *peer_new_other(struct rig *rig)
{
    return connect_peer(rig, &rig->services[OTHER]);
}

bool peer_grant(struct peer *peer, struct grants *grants)
{
    enum grant_progress progress;

    do {
        progress = peer->frontend->granted(peer->conn, grants);
    } while (progress == GRANT_MORE);
    peer->dropped = progress == GRANT_LOST;
    return peer->dropped;
}

// Writes to the buffer that the front-end offers. Returns the remaining bytes.
static struct slice send_into(struct peer *peer, struct slice bytes)
{
    while (peer->into && bytes.len) {
        size_t len = bytes.len < peer->into_len ? bytes.len : peer->into_len;
        struct feed feed;

        memcpy(peer->into, bytes.ptr, len);
        bytes = slice_from(bytes, len);
        feed = peer->frontend->filled(peer->conn, len, peer->rig->options.budget);
        apply(peer, &feed);
    }
    return bytes;
}

void peer_send(struct peer *peer, struct slice bytes)
{
    if (peer->closed || peer->finished) {
        return;
    }
    peer->pace.received += bytes.len;
    bytes = send_into(peer, bytes);
    ENSURE(peer->kept + bytes.len <= KEPT_MAX);
    if (bytes.len) {
        memcpy(peer->kept_pages.start + peer->kept, bytes.ptr, bytes.len);
        peer->kept += bytes.len;
        peer->runnable = !peer->blocked;
    }
}

void peer_send_pieces(struct peer *peer, struct slice bytes, size_t first, size_t piece)
{
    while (bytes.len) {
        size_t len = bytes.len < first ? bytes.len : first;

        peer_send(peer, slice_of(bytes.ptr, len));
        rig_run(peer_rig(peer));
        bytes = slice_from(bytes, len);
        first = piece;
    }
}

void peer_half_close(struct peer *peer)
{
    if (!peer->closed) {
        peer->half_closed = true;
        if (peer->frontend->eof(peer->conn)) {
            peer->runnable = !peer->blocked;
        } else {
            close_peer(peer);
        }
    }
    rig_run(peer->rig);
}

void peer_stop_reading(struct peer *peer)
{
    peer->deaf = true;
}

void peer_read_again(struct peer *peer)
{
    peer->deaf = false;
    peer->wire.out.stalled = false;
    rig_run(peer->rig);
}

void rig_limit_kept(struct rig *rig, size_t most)
{
    rig->kept_most = most;
}

size_t peer_unread(const struct peer *peer)
{
    return output_pending(&peer->wire.out);
}

void peer_free(struct peer *peer)
{
    struct rig *rig = peer->rig;
    struct peer **at = &rig->peers;

    while (*at != peer) {
        at = &(*at)->next;
    }
    *at = peer->next;
    close_peer(peer);
    wire_pages_unmap(peer->kept_pages);
    wire_pages_unmap(peer->heard_pages);
    wire_pages_unmap(peer->pages);
    rig_run(rig);
}

struct rig *peer_rig(const struct peer *peer)
{
    return peer->rig;
}

struct slice peer_hear(struct peer *peer)
{
    struct slice heard = slice_of(peer->heard_pages.start + peer->told, peer->heard - peer->told);

    // The pages are zero after the received bytes, so that a NUL follows.
    peer->told = peer->heard;
    return heard;
}

struct slice peer_ask(struct peer *peer, struct slice bytes)
{
    peer_send(peer, bytes);
    rig_run(peer->rig);
    return peer_hear(peer);
}

bool peer_closed(const struct peer *peer)
{
    return peer->closed;
}

bool peer_failed(const struct peer *peer)
{
    return peer->failed;
}

bool peer_shut(const struct peer *peer)
{
    return peer->shut;
}

bool peer_dropped(const struct peer *peer)
{
    return peer->dropped;
}

bool peer_blocked(const struct peer *peer)
{
    return peer->blocked;
}

size_t peer_kept(const struct peer *peer)
{
    return peer->kept;
}

size_t peer_holds(const struct peer *peer)
{
    return peer->frontend->holds(peer->conn);
}

unsigned rig_refusals(const struct rig *rig, enum refusal_kind refusal)
{
    return rig->refusals[refusal];
}
