/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_BUDGET_H
#define TANDEM_SERVER_NET_BUDGET_H

// What bounds a turn of the loop, and what one connection takes of it: all figures in one place.
// What is more than they allow waits for the next turn, whose ticks and notices come in between;
// nothing is lost by them.

#include "core/base/nsec.h"

#include <stddef.h>

// A turn takes input from so many connections, and finishes so many.
#define TURN_CONNS_MAX 128
// It receives so many bytes, and then sends so many.
#define TURN_BYTES_MAX ((size_t)2 * 1024 * 1024)
// Counted from its tick, what is still to be read or fed waits after the one, what is still to be
// sent after the other. Whoever has one small thing to ask waits for up to two turns of others.
#define TURN_INPUT_FOR (NSEC_PER_MSEC * 3 / 10)
#define TURN_OUTPUT_FOR (NSEC_PER_MSEC / 2)
// Behind the others come those that are dear, and those with much to send, which begin for so long:
// that is one of most of them, and two or three of the least dear. A turn costs little beside it.
#define TURN_DEAR_FOR (NSEC_PER_MSEC / 20)
#define TURN_BULKY_FOR (NSEC_PER_MSEC / 20)
// For every so many connections the clock is looked at.
#define TURN_CLOCK_EVERY 4

// A listener accepts so many connections in a turn.
#define LISTENER_ACCEPT_MAX 64

// A pass over sockets whose handshakes are to go on makes so many steps, and begins none after so
// long. One step may last as long as a signature takes: with RSA and 2048 bits, about a
// millisecond.
#define HANDSHAKES_STEPS_MAX 16
#define HANDSHAKES_FOR (NSEC_PER_MSEC / 2)
// So many of those that have had their time are closed at once, within that time, too.
#define HANDSHAKES_CLOSED_MAX 64
// So many handshakes are under way at once: with TLS, each takes up to 50 KB.
#define HANDSHAKES_BEGUN_MAX 1024

// In a turn, a connection has so many commands parsed ...
#define CONN_COMMANDS_MAX 128
// ... makes one read, of so many bytes, or of so many where they go straight to where the front-end
// wants them ...
#define CONN_READ_MAX 65536
#define CONN_DIRECT_MAX ((size_t)128 * 1024)
// ... and sends so many.
#define CONN_SEND_MAX ((size_t)128 * 1024)
// Up to so many bytes, it counts as one with little to send, or to receive at once.
#define CONN_SMALL_MAX ((size_t)16 * 1024)
// It counts as dear until so many feeds in a row were not: between things that are dear, clients
// are woken and ask for what is cheap.
#define CONN_DEAR_FEEDS 3
// One system call sends so many pieces of memory.
#define CONN_SEND_PARTS_MAX 128

// Input that was kept, up to this many bytes, is moved in front of what is read, so that the two
// are fed as one.
#define CONN_JOIN_MAX 4096
// While its front-end is blocked, a connection keeps so much input and reads no more.
#define CONN_INPUT_MAX ((size_t)64 * 1024)
// While more output than this waits for the peer, nothing is read or fed until half of it has left.
#define CONN_OUTPUT_MAX ((size_t)1024 * 1024)

_Static_assert(CONN_INPUT_MAX <= CONN_READ_MAX, "what may be kept is read at once");

#endif
