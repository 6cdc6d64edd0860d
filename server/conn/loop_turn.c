/* SPDX-License-Identifier: MIT */
#include "server/conn/loop_turn.h"

#include "access/throttle.h"
#include "core/base/fence.h"
#include "server/conn/rule_set.h"
#include "server/process/clock.h"

#include <stdlib.h>
#include <string.h>

void turn_init(struct turn *turn, struct event_base *base, char *buffer, struct broker *broker,
               struct instant (*now)(void))
{
    memset(turn, 0, sizeof *turn);
    turn->base = base;
    turn->buffer = buffer;
    turn->broker = broker;
    turn->now = now;
    list_init(&turn->touched);
    list_init(&turn->expensive);
    list_init(&turn->bulky);
    list_init(&turn->held);
    list_init(&turn->paused);
}

void turn_clear(struct turn *turn)
{
    output_pool_clear(&turn->pool);
    if (turn->base) {
        event_base_free(turn->base);
    }
    rule_set_unref(turn->rules);
    throttle_free(turn->throttle);
    free(turn->buffer);
    memset(turn, 0, sizeof *turn);
}

void turn_set_rules(struct turn *turn, struct rule_set *rules)
{
    rule_set_unref(turn->rules);
    turn->rules = rules;
    turn_walk_begin(turn, WALK_AUTHORIZE);
}

void turn_walk_begin(struct turn *turn, enum turn_walk walk)
{
    turn->walks[walk] = tree_first(&turn->all);
}

bool turn_check_fence(struct turn *turn)
{
    bool open = fence_is_open(turn->fence, clock_boot());

    turn->fenced = turn->fenced || !open;
    return open;
}

void turn_begin(struct turn *turn)
{
    turn->ticked = false;
    turn->events = 0;
    turn->bytes = 0;
    turn->spent = false;
}

static void turn_spend(struct turn *turn)
{
    turn->spent = true;
    (void)event_base_loopbreak(turn->base);
}

bool turn_lasted(const struct turn *turn, nsec_t lasts_for, unsigned count)
{
    return count % TURN_CLOCK_EVERY == 0 &&
           turn->now().mono - broker_now(turn->broker).mono >= lasts_for;
}

void turn_count_event(struct turn *turn)
{
    turn->events++;
    if (turn->events >= TURN_CONNS_MAX || turn_lasted(turn, TURN_INPUT_FOR, turn->events)) {
        turn_spend(turn);
    }
}

void turn_count_bytes(struct turn *turn, size_t len)
{
    turn->bytes += len;
    if (turn->bytes >= TURN_BYTES_MAX) {
        turn_spend(turn);
    }
}

bool turn_may_log(struct turn *turn, enum limited_log kind)
{
    nsec_t *last_at = &turn->limited_logged_at[kind];
    nsec_t now_at = broker_now(turn->broker).mono;

    if (*last_at != 0 && now_at - *last_at < NSEC_PER_SEC) {
        return false;
    }
    *last_at = now_at;
    return true;
}

void turn_add_task(struct turn *turn, struct background_task *task)
{
    task->next = turn->tasks;
    turn->tasks = task;
}

void turn_remove_task(struct turn *turn, const struct background_task *task)
{
    for (struct background_task **link = &turn->tasks; *link; link = &(*link)->next) {
        if (*link == task) {
            *link = task->next;
            return;
        }
    }
}

// A task that waits for the store, or for the fence, is due again in the turn in which that is
// over.
static nsec_t turn_task_due(const struct turn *turn, const struct background_task *task)
{
    bool waits = turn->pressure > task->most || (turn->fenced && !task->for_operators);

    return waits ? NSEC_NEVER : task->due(task->context);
}

nsec_t turn_tasks_due(const struct turn *turn)
{
    nsec_t due_at = NSEC_NEVER;

    for (const struct background_task *task = turn->tasks; task; task = task->next) {
        nsec_t at = turn_task_due(turn, task);

        due_at = at < due_at ? at : due_at;
    }
    return due_at;
}

void turn_run_tasks(const struct turn *turn)
{
    nsec_t now_at = broker_now(turn->broker).mono;

    for (const struct background_task *task = turn->tasks; task; task = task->next) {
        if (turn_task_due(turn, task) <= now_at) {
            task->work(task->context);
        }
    }
}
