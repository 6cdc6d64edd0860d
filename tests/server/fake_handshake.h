/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_FAKE_HANDSHAKE_H
#define TANDEM_TESTS_SERVER_FAKE_HANDSHAKE_H

// A transport that is a plain socket behind a handshake, of which the peer sends each step as one
// byte:
//
//   .   goes on
//   r   goes on when the socket takes output
//   d   done
//   f   fails, because of `it was told to`
//
// The end of the input before that is a failure, `the peer has gone`.

#include "core/base/nsec.h"
#include "server/transport/transport.h"

#include <stdbool.h>

// Its behaviour and its observations; zeroed by fake_handshake_reset().
struct fake_handshake {
    bool is_late; // the handshake is done when its time is over
    bool refuses; // to begin, for want of memory
    nsec_t *time; // passes with each step; NULL: none does
    nsec_t step_for;
    unsigned begins;
    unsigned steps;
    unsigned closes;
    const void *shared; // that the last was begun with
};

extern struct fake_handshake fake_handshake;
extern const struct transport fake_handshake_transport;

void fake_handshake_reset(void);

// How many steps one connection has made.
unsigned fake_handshake_steps(const void *own);

#endif
