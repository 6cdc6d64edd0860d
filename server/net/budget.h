/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_BUDGET_H
#define TANDEM_SERVER_NET_BUDGET_H

// All limits on a turn of the loop, and on the share that one connection takes of it. Work beyond a
// limit waits for the next turn, whose timers and events are handled in between; a limit never
// loses data.

#include "core/base/nsec.h"

#include <stddef.h>

// How much the store can take at present. A connection that would give it more is not read.
enum store_pressure {
    STORE_EASY,
    STORE_BEHIND, // no submissions: many records wait to become durable
    STORE_STUCK   // no records at all: the memory set aside for records is nearly used up
};

// Connections that are read, and that are finished, in a turn.
#define TURN_CONNS_MAX 128
// Bytes that are received, and then bytes that are sent, in a turn.
#define TURN_BYTES_MAX ((size_t)2 * 1024 * 1024)
// Counted from the tick of the turn: no input is read or fed after the first, and no output is sent
// after the second. A client with one small request waits for at most two turns of others.
#define TURN_INPUT_FOR (NSEC_PER_MSEC * 3 / 10)
#define TURN_OUTPUT_FOR (NSEC_PER_MSEC / 2)
// How long expensive connections, and those with much to send, are begun after the others. Usually
// enough for one expensive connection, or for two or three of the less expensive ones.
#define TURN_EXPENSIVE_FOR (NSEC_PER_MSEC / 20)
#define TURN_BULKY_FOR (NSEC_PER_MSEC / 20)
// The clock is read once for this many connections.
#define TURN_CLOCK_EVERY 4

// Connections that a listener accepts in a turn.
#define LISTENER_ACCEPT_MAX 64

// Steps of a pass over pending handshakes, and the time after which a pass begins no other step.
// One step may take as long as a signature: about a millisecond with RSA and 2048 bits.
#define HANDSHAKES_STEPS_MAX 16
#define HANDSHAKES_FOR (NSEC_PER_MSEC / 2)
// Handshakes that are closed at once when their time is over, within the same time.
#define HANDSHAKES_CLOSED_MAX 64
// Handshakes that have begun at the same time: with TLS, each takes up to 50 KB.
#define HANDSHAKES_BEGUN_MAX 1024

// Commands of one connection that are parsed in a turn.
#define CONN_COMMANDS_MAX 128
// Bytes of the one read of a connection in a turn, and of a read that goes directly to a buffer of
// the front-end.
#define CONN_READ_MAX 65536
#define CONN_DIRECT_MAX ((size_t)128 * 1024)
// Bytes that one connection sends in a turn.
#define CONN_SEND_MAX ((size_t)128 * 1024)
// A connection with more than this to send is bulky, and one that receives more is expensive.
#define CONN_SMALL_MAX ((size_t)16 * 1024)
// A connection stays expensive until this many feeds in a row were cheap: clients alternate between
// expensive commands and cheap ones.
#define CONN_EXPENSIVE_FEEDS 3
// Pieces of memory that one system call sends.
#define CONN_SEND_PARTS_MAX 128

// Kept input of up to this size is moved in front of new input, so that both are fed as one.
#define CONN_JOIN_MAX 4096
// Input that is kept while the front-end is blocked; then the connection is not read.
#define CONN_INPUT_MAX ((size_t)64 * 1024)
// While more output than this waits for the peer, nothing is read or fed until half of it was sent.
#define CONN_OUTPUT_MAX ((size_t)1024 * 1024)

_Static_assert(CONN_INPUT_MAX <= CONN_READ_MAX, "what may be kept is read at once");

#endif
