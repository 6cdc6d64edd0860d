/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_STEPS_H
#define TANDEM_PROTO_COMMON_STEPS_H

// The step loop: how a front-end is fed, whatever its words are. A connection is always in exactly
// one state, and each state has a step: a function that takes what it can of the input, or makes a
// slice of a long answer, and says how to go on. The loop makes the step of the state that the
// connection is in until one says that it cannot go on now, which is what the host is told.
//
// A front-end has one constant `struct steps` and passes its address from `feed` and `filled`. The
// loop is inline, so that the compiler makes one for each front-end, in which nothing is called
// through a pointer but the step itself.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "proto_common/feed.h"
#include "proto_common/intake.h"
#include "proto_common/wire.h"

#include <stdbool.h>
#include <stddef.h>

// Where a call of `feed` stands.
struct feed_turn {
    struct slice input; // not used yet; steps take bytes off its front. Never a NULL pointer
    unsigned budget;    // commands that may still begin; the step that begins one takes 1 off
    size_t full_at;     // and none begins when so many bytes of output are pending
};

// What a step says.
enum step {
    STEP_MORE = FEED_MORE, // more input is needed
    STEP_AGAIN = FEED_AGAIN,
    STEP_BLOCKED = FEED_BLOCKED,
    STEP_FINISHED = FEED_FINISHED,
    STEP_ON // the state may have changed: make its step
};

struct steps {
    // Makes the step of the state that the connection is in.
    enum step (*make)(void *conn, struct feed_turn *turn);
    // The body that the connection receives in its present state; NULL: none, or not in place.
    struct intake *(*intake)(void *conn);
};

// Whether no further command may begin in this turn: the step that would begin one says STEP_AGAIN.
static inline bool feed_turn_is_over(const struct feed_turn *turn, const struct wire *wire)
{
    return turn->budget == 0 || output_pending(&wire->out) >= turn->full_at;
}

// Charges what verbs have cost that came by very many queues or sessions. The loop does so behind
// each step; a step that begins several commands does so between them.
static inline void feed_turn_charge(struct feed_turn *turn, struct broker *broker)
{
    turn->budget = broker_budget_remaining(broker, turn->budget);
}

// The front-end's `feed`.
static inline struct feed steps_feed(const struct steps *steps, void *conn, struct wire *wire,
                                     struct broker *broker, struct slice input, unsigned budget)
{
    struct feed_turn turn = {.input = input.len ? input : SLICE(""),
                             .budget = budget,
                             .full_at = output_pending(&wire->out) + FEED_STAGED_MAX};
    struct intake_room room = {NULL, 0};
    enum step step;

    do {
        step = steps->make(conn, &turn);
        feed_turn_charge(&turn, broker);
    } while (step == STEP_ON);
    if (step == STEP_MORE && turn.input.len == 0) {
        struct intake *intake = steps->intake(conn);

        if (intake) {
            room = intake_place(intake);
        }
    }
    return (struct feed){
        .state = (enum feed_state)step,
        .used = input.len - turn.input.len,
        .into = room.into,
        .into_len = room.len,
        .dear = step == STEP_AGAIN || turn.budget < budget - budget / 4,
    };
}

// What the front-end's `filled` does first, and then feeds no bytes, by the function that feeds all
// others, so that the loop is there once: `len` bytes were put where the last feed wanted them.
static inline void steps_take(const struct steps *steps, void *conn, size_t len)
{
    struct intake *intake = steps->intake(conn);

    ENSURE(intake);
    intake_filled(intake, len);
}

#endif
