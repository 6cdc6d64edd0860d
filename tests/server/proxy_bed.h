/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_PROXY_BED_H
#define TANDEM_TESTS_SERVER_PROXY_BED_H

// An event base that the test turns, and the sockets at both ends of relayed connections.

#include "core/base/nsec.h"
#include "server/proxy/proxy.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proxy_bed {
    struct event_base *base;
    struct event *tick;
    size_t descriptors; // that were open when it was made
};

void proxy_bed_open(struct proxy_bed *bed);

// Nothing is left on the base, and no descriptor.
void proxy_bed_close(struct proxy_bed *bed);

// A round of the base, which waits for very short.
void proxy_bed_turn(struct proxy_bed *bed);

// How many descriptors the process has.
size_t proxy_bed_descriptors(void);

// Whether a generous time since `began_at` is over, which fails the test.
void proxy_bed_check_time(nsec_t began_at);

// Turns until the condition holds.
#define BED_UNTIL(bed, condition)                                                                  \
    do {                                                                                           \
        nsec_t until_began_at = clock_awake();                                                     \
        while (!(condition)) {                                                                     \
            proxy_bed_check_time(until_began_at);                                                  \
            proxy_bed_turn(bed);                                                                   \
        }                                                                                          \
    } while (0)

// A socket that listens at any port of 127.0.0.1, and does not block.
int bed_listen(uint16_t *port);

// Both ends of a TCP connection; they do not block, and send at once.
void bed_connect(int fds[2]);

// Gives the proxy such a connection, of a client that is its own peer.
bool bed_pass(struct proxy *proxy, int fd, const char *peer, const char *protocol, bool tls);

// Accepts a waiting connection; -1: there is none.
int bed_accept(int listening);

// The result of recv(); 0 is the end, -1: there is nothing yet, -2: an error.
ssize_t bed_receive(int fd, char *bytes, size_t room);

// Whether the peer has closed it, be it by a reset.
bool bed_has_ended(int fd);

void bed_send(int fd, const char *text);

// Appends received bytes to `text`. Returns whether it is `expected` now.
bool bed_has_got(int fd, char text[64], const char *expected);

#endif
