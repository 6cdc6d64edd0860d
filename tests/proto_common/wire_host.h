/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_HOST_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_HOST_H

// A host for front-ends in memory: a real broker in virtual time, and peers whose bytes go in and
// whose replies come out. It keeps the contract of proto_common/frontend.h as the server does, and
// checks it strictly: input ends directly before an unmapped page, each turn ends with
// broker_check(), and a forbidden call aborts. With two front-ends, clients of both use one broker.
//
// The host does not use the allocator, so a test that fails the n-th allocation fails one of the
// broker or of the front-end.

#include "core/base/nsec.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/frontend.h"

#include <stdbool.h>
#include <stddef.h>

#define SECONDS(n) ((nsec_t)(n)*NSEC_PER_SEC)

struct rig;
struct peer;
struct introspect;
struct wire_callers;

struct rig_options {
    const struct frontend *frontend;
    const void *settings;         // of the front-end
    const struct frontend *other; // a second one, or NULL
    const void *other_settings;
    const struct introspect *introspect; // of the process, or NULL (wire_introspect.h)
    struct broker_options broker;        // may be all zero
    unsigned budget;                     // commands in one feed; 0: many
    bool unchecked;                      // without broker_check(), which would be too slow
};

// The facts about the process that front-ends get.
extern const struct process_facts wire_facts;

// A new broker with its front-ends. It is SECONDS(1000), and RIG_WALL_AT (2023-11-14 22:13:20 UTC)
// by the wall clock. NULL: no memory.
#define RIG_WALL_AT SECONDS(1700000000)
struct rig *rig_new(const struct rig_options *options);

// Disconnects all peers and frees everything.
void rig_free(struct rig *rig);

struct broker *rig_broker(const struct rig *rig);

// Runs turns until a turn changes nothing.
void rig_run(struct rig *rig);

// Feeds the bytes that were sent; the broker does not settle.
void rig_feed(struct rig *rig);

// Advances time, and runs turns whenever something is due.
void rig_advance(struct rig *rig, nsec_t span);

// Sets the wall clock forward, or back if `by` is negative.
void rig_step_wall(struct rig *rig, nsec_t by);

// The same, and then runs turns.
void rig_set_clock(struct rig *rig, nsec_t span);

// The process is about to stop: no further input is fed, and staged output is sent.
void rig_stop(struct rig *rig);

// The number of feeds so far.
unsigned long rig_feeds(const struct rig *rig);

// The store. `broker.recorder` of the options decides whether there is room for records and
// receives them, by its functions `room` and `append` if they are set; without it, the broker has
// no store. The rig assigns the positions: at first each is reached at once.

// From now on, the position of each record is reached by rig_reach() only.
void rig_hold_store(struct rig *rig);

// So is the position of the ids of jobs that are not durable.
void rig_hold_ids(struct rig *rig);

// All positions so far are reached; then runs turns.
void rig_reach(struct rig *rig);

// The same up to this position. The last assigned position; 0: none.
void rig_reach_to(struct rig *rig, uint64_t position);
uint64_t rig_position(const struct rig *rig);

// The facts about the store; all zero at first.
struct store_info *rig_store_info(struct rig *rig);

// The callers, which the test may change.
struct wire_callers *rig_callers(struct rig *rig);

// The rules were read again: sets the grants of the peer, which takes a reference if it needs one.
// True: the peer has lost a right that it waits for, and is dropped.
bool peer_grant(struct peer *peer, struct grants *grants);

// A client connects; NULL: the front-end has refused it.
struct peer *peer_new(struct rig *rig);

// A client of the rig's other front-end connects.
struct peer *peer_new_other(struct rig *rig);

// Sends bytes; they are fed by the next rig_run().
void peer_send(struct peer *peer, struct slice bytes);

// The peer shuts down its side; then runs turns.
void peer_half_close(struct peer *peer);

// From now on, the peer does not read, or reads again; then runs turns. While it has more than a
// megabyte unread, it is not fed, as in the server.
void peer_stop_reading(struct peer *peer);
void peer_read_again(struct peer *peer);

// Limits the memory of each peer of the rig, as the host checks it before output that was not
// requested. 0, as at first: no limit.
void rig_limit_kept(struct rig *rig, size_t most);

// The number of bytes that the peer has not read.
size_t peer_unread(const struct peer *peer);

// The connection breaks; then runs turns. The peer is no longer valid.
void peer_free(struct peer *peer);

struct rig *peer_rig(const struct peer *peer);

// The bytes that the peer has received since the last call. Valid until the peer is freed; a NUL
// follows.
struct slice peer_hear(struct peer *peer);

// Sends the bytes with turns in between: the first piece has `first` bytes, the others have
// `piece`.
void peer_send_pieces(struct peer *peer, struct slice bytes, size_t first, size_t piece);

// Sends bytes, runs turns, and returns the bytes that were received.
struct slice peer_ask(struct peer *peer, struct slice bytes);

// Log lines about sizes that exceed a setting: their number, and the last one.
struct rig_too_large {
    unsigned count;
    uint64_t size;
    const char *setting;
};
struct rig_too_large rig_too_large(const struct rig *rig);

// Whether there was exactly one since the last call, with this size and setting.
bool rig_logged_too_large(struct rig *rig, uint64_t size, const char *setting);

// Whether the front-end or the host has closed the connection.
bool peer_closed(const struct peer *peer);

// Whether it was closed because a reply could not be staged.
bool peer_failed(const struct peer *peer);

// Whether it was closed because the front-end dropped it.
bool peer_dropped(const struct peer *peer);

// Whether the front-end has shut down the sending side, and still reads.
bool peer_shut(const struct peer *peer);

// Whether the front-end is blocked; the number of bytes of input that the host stores for it.
bool peer_blocked(const struct peer *peer);
size_t peer_kept(const struct peer *peer);

// The memory of the connection in its front-end; the number of refusals of this kind by the
// front-ends of the rig.
size_t peer_holds(const struct peer *peer);
unsigned rig_refusals(const struct rig *rig, enum refusal_kind refusal);

// The number of TLS handshakes, and of heads of the PROXY protocol, that front-ends have reported.
unsigned rig_tls_hellos(const struct rig *rig);
unsigned rig_proxy_heads(const struct rig *rig);

#endif
