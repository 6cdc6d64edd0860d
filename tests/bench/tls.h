/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_TLS_H
#define TANDEM_BENCH_TLS_H

// TLS 1.3 on connections to the server under test, whose certificate is not looked at: what is
// measured is the other side. What goes wrong ends the process.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;

// The TLS state that connections of a run share.
struct tls;

// With tickets, connections are resumed by the last ticket that the server gave; the first ones
// have none.
struct tls *tls_new(bool tickets);
void tls_free(struct tls *tls); // NULL is allowed

// Of the connections that were closed, how many had ended their handshake, and were resumed.
uint64_t tls_handshakes(const struct tls *tls);
uint64_t tls_resumed(const struct tls *tls);

// TLS on one connection.
struct tls_link;

// The handshake happens while bytes are received or sent.
struct tls_link *tls_open(struct tls *tls, int fd);
// Says goodbye, where there was a handshake, and forgets the link; not the descriptor.
void tls_close(struct tls_link *link);

// Adds everything that is there to `in`. False where the server has closed the connection.
bool tls_receive(struct tls_link *link, struct buffer *in);
// Sends what it can of `out`.
void tls_send(struct tls_link *link, struct buffer *out);
// Whether it waits until the socket can be written to.
bool tls_needs_room(const struct tls_link *link);

// Adds the first half of a client's first message.
void tls_add_half_hello(struct buffer *out);

#endif
