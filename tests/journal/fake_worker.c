/* SPDX-License-Identifier: MIT */
#include "tests/journal/fake_worker.h"

#include "tests/journal/file/fake_file.h"

#include <stddef.h>

enum { RUNS_ONE_IN = 4 };

bool fake_hand_run(struct fake_hand *hand)
{
    struct task *task = hand->task;

    if (!task) {
        return false;
    }
    task_run(task, hand->io);
    task->took_for = hand->takes_for;
    hand->task = NULL;
    hand->count++;
    return true;
}

static void hand_give(void *self, struct task *task)
{
    struct fake_hand *hand = self;

    ENSURE(!hand->task);
    hand->task = task;
    if (!hand->waits) {
        (void)fake_hand_run(hand);
    }
}

static bool hand_done(void *self)
{
    struct fake_hand *hand = self;

    if (hand->task && hand->dice && (fake_dice(&hand->dice) >> 32) % RUNS_ONE_IN == 0) {
        (void)fake_hand_run(hand);
    }
    return !hand->task;
}

static void hand_wait(void *self)
{
    (void)fake_hand_run(self);
}

struct journal_hand fake_hand_hand(struct fake_hand *hand)
{
    return (struct journal_hand){
        .self = hand, .give = hand_give, .done = hand_done, .wait = hand_wait};
}
