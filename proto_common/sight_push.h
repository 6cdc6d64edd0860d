/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_SIGHT_PUSH_H
#define TANDEM_PROTO_COMMON_SIGHT_PUSH_H

// What operators see of an endpoint that jobs are pushed to. Nothing of it is secret: of its URL
// there is only the part that names the host.

#include "core/base/nsec.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue;
struct sight_distribution;

struct sight_push {
    const char *section;  // [queue ...] that has it
    const char *endpoint; // scheme, host and port
    const char *state;    // "open"; "paused": nothing is sent for now; "trying": it seemed to be
                          // down, and one job at a time is sent; "leaving": it is not in the
                          // settings any more
    nsec_t paused_for;    // what is left of a pause
    uint64_t connections; // jobs that it may hold
    uint64_t in_flight;   // and holds
    const char *const *outcome_words;
    const uint64_t *outcomes; // requests so far, by what they came to
    size_t outcome_count;
    const char *last_failure; // in words; empty: there was none
};

// How they are looked at, and what is done to them: called with the host of the sight (sight.h), of
// which it is a part.
struct sight_pushes {
    // The endpoint of that index; false behind the last one.
    bool (*at)(void *host, size_t index, struct sight_push *push);
    // The one that the queue's jobs are for; false where they are for none.
    bool (*of)(void *host, const struct queue *queue, struct sight_push *push);
    // How long requests to all of them have taken until their answers.
    void (*seconds)(void *host, struct sight_distribution *seconds);
    // The endpoint of that section is tried again now, if it is paused. False: there is none.
    bool (*resume)(void *host, struct slice section);
};

#endif
