/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_HOST_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_HOST_H

// A host for front-ends, all in memory: a real broker in virtual time, and peers whose bytes go in
// and whose replies come out. It keeps the contract of proto_common/frontend.h as the server does,
// and is strict about it: input lies right in front of an unmapped page, each turn ends with
// broker_check(), and what a front-end may not do aborts. Where it serves two front-ends, clients
// of both meet over one broker.
//
// Nothing here uses the allocator, so that a test which fails the n-th allocation fails one of the
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
    const struct introspect
        *introspect;              // what front-ends see of the process, or NULL (wire_introspect.h)
    struct broker_options broker; // may be all zero
    unsigned budget;              // commands in one feed; 0 for plenty
    bool unchecked;               // broker_check() costs too much here
};

// A broker and its front-ends at the moment SECONDS(1000), which the wall clock calls RIG_WALL_AT
// (2023-11-14 22:13:20 UTC); NULL without memory.
#define RIG_WALL_AT SECONDS(1700000000)
struct rig *rig_new(const struct rig_options *options);

// Disconnects all peers and frees everything.
void rig_free(struct rig *rig);

struct broker *rig_broker(const struct rig *rig);

// Lets turns pass until nothing happens any more.
void rig_run(struct rig *rig);

// Feeds what was sent, and stops there: nothing is settled yet.
void rig_feed(struct rig *rig);

// Lets time pass, stopping wherever something is due.
void rig_advance(struct rig *rig, nsec_t span);

// Somebody sets the wall clock, ahead or back.
void rig_step_wall(struct rig *rig, nsec_t by);

// Somebody sets the wall clock forward by `span`, or back where it is negative, and turns pass.
void rig_set_clock(struct rig *rig, nsec_t span);

// The process is told to stop: nothing more is fed, and what is staged leaves.
void rig_stop(struct rig *rig);

// How often a front-end was fed so far.
unsigned long rig_feeds(const struct rig *rig);

// The store. `broker.recorder` of the options says what it has room for and hears of all records
// (`room` and `append` are called, where they are there); without one the broker has no store.
// Positions are the rig's: at first all that is appended is reached at once.

// From now on each record has a position of its own, which is not reached before rig_reach().
void rig_hold_store(struct rig *rig);

// The ids of jobs that are not durable have such a position, too, until rig_reach().
void rig_hold_ids(struct rig *rig);

// All that has been appended so far is reached, and turns pass.
void rig_reach(struct rig *rig);

// The same up to that position; and the last position that was given out, 0 for none.
void rig_reach_to(struct rig *rig, uint64_t position);
uint64_t rig_position(const struct rig *rig);

// What the store tells of itself; at first all zero.
struct store_info *rig_store_info(struct rig *rig);

// Who the peers are, for the test to say.
struct wire_callers *rig_callers(struct rig *rig);

// The rules were read again: what the peer may do from now on, of which a reference is taken where
// it is needed. True: it has lost something that it waits for, and is dropped.
bool peer_grant(struct peer *peer, struct grants *grants);

// A client connects; NULL where the front-end refuses.
struct peer *peer_new(struct rig *rig);

// A client of the rig's other front-end connects.
struct peer *peer_new_other(struct rig *rig);

// Hands bytes to the host; nothing happens before the next rig_run().
void peer_send(struct peer *peer, struct slice bytes);

// The peer says that it sends nothing more, and lets turns pass.
void peer_half_close(struct peer *peer);

// From now on the peer takes nothing that is sent to it, or takes it again: then turns pass. While
// more than a megabyte waits, the peer is not fed, as in the server.
void peer_stop_reading(struct peer *peer);
void peer_read_again(struct peer *peer);

// From now on no peer of the rig may keep more than that when more comes that it has not asked for;
// at first, or with 0, it may keep any amount.
void rig_limit_kept(struct rig *rig, size_t most);

// How many bytes wait for the peer to read.
size_t peer_unread(const struct peer *peer);

// The connection breaks, and turns pass. The peer is not valid afterwards.
void peer_free(struct peer *peer);

struct rig *peer_rig(const struct peer *peer);

// What the peer has received since the last call. Valid until the peer is freed; a NUL follows.
struct slice peer_hear(struct peer *peer);

// Sends, lets turns pass, and hears.
struct slice peer_ask(struct peer *peer, struct slice bytes);

// What was logged as larger than a setting allows: how often, and the last time.
struct rig_too_large {
    unsigned count;
    uint64_t size;
    const char *setting;
};
struct rig_too_large rig_too_large(const struct rig *rig);

// Whether that was once since the last call of this, of that size and with that setting.
bool rig_logged_too_large(struct rig *rig, uint64_t size, const char *setting);

// Whether the front-end or the host has closed the connection.
bool peer_closed(const struct peer *peer);

// Whether it was closed because a reply could not be staged.
bool peer_failed(const struct peer *peer);

// Whether it was closed because the front-end dropped it.
bool peer_dropped(const struct peer *peer);

// Whether the front-end has said that nothing more comes, though it still reads.
bool peer_shut(const struct peer *peer);

// Whether the front-end parses nothing at present; how many bytes the host keeps for it.
bool peer_blocked(const struct peer *peer);
size_t peer_kept(const struct peer *peer);

// How many bytes the front-end keeps for it; how often the rig's have refused something so.
size_t peer_holds(const struct peer *peer);
unsigned rig_refusals(const struct rig *rig, enum refusal_kind refusal);

#endif
