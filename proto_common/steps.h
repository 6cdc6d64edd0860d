/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_STEPS_H
#define TANDEM_PROTO_COMMON_STEPS_H

// The step loop, by which front-ends are fed. A connection is always in exactly one state, and each
// state has a step: a function that takes input, or makes a slice of a long reply, and says how to
// continue. The loop makes steps until one cannot continue, and returns that result to the host.
//
// A front-end has one constant `struct steps` and passes its address from `feed` and `filled`. The
// loop is inline, so that the compiler makes one for each front-end, in which only the step itself
// is called through a pointer.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"

#include "proto_common/frontend.h"
#include "proto_common/intake.h"
#include "proto_common/wire.h"

#include <stdbool.h>
#include <stddef.h>

// The progress of a call of `feed`.
struct feed_turn {
    struct slice input; // not used yet; steps take bytes off its front; its pointer is never NULL
    unsigned budget;    // commands that may still begin; the step that begins one subtracts 1
    size_t full_at;     // no command begins when this many bytes of output are pending
};

// The result of a step.
enum step {
    STEP_MORE = FEED_MORE, // more input is needed
    STEP_AGAIN = FEED_AGAIN,
    STEP_BLOCKED = FEED_BLOCKED,
    STEP_FINISHED = FEED_FINISHED,
    STEP_ON // the state may have changed: continue with its step
};

struct steps {
    // Makes the step of the connection's state.
    enum step (*make)(void *conn, struct feed_turn *turn);
    // The body that the connection is receiving; NULL: none, or it cannot be received in place.
    struct intake *(*intake)(void *conn);
};

// Whether no further command may begin in this turn. The step that would begin one returns
// STEP_AGAIN.
static inline bool feed_turn_is_over(const struct feed_turn *turn, const struct wire *wire)
{
    return turn->budget == 0 || output_pending(&wire->out) >= turn->full_at;
}

// Subtracts the cost of verbs that visited many queues or sessions. The loop does this after each
// step; a step that begins several commands does it between them.
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

// The beginning of the front-end's `filled`, which then feeds no bytes through its `feed`, so that
// the loop exists once: `len` bytes were written to the buffer of the last feed.
static inline void steps_take(const struct steps *steps, void *conn, size_t len)
{
    struct intake *intake = steps->intake(conn);

    ENSURE(intake);
    intake_filled(intake, len);
}

#endif
