/* SPDX-License-Identifier: MIT */
#include "admin/operation_plan.h"

#include "core/base/base64.h"
#include "admin/shown_job.h"

#include <stdint.h>
#include <string.h>

static const enum act_kind acts[] = {
    [OPERATION_DELETE] = ACT_DELETE,   [OPERATION_KICK] = ACT_KICK, [OPERATION_BURY] = ACT_BURY,
    [OPERATION_RELEASE] = ACT_RELEASE, [OPERATION_MOVE] = ACT_MOVE, [OPERATION_CHANGE] = ACT_CHANGE,
};

// What is looked for in bodies has no more bytes: a slice of a sweep prepares the search for them.
#define CONTAINS_MOST 4096

static void check_contains(struct input *input, struct slice contains)
{
    if (contains.len > CONTAINS_MOST) {
        input_blame(input, 400, "contains is longer than %d bytes", CONTAINS_MOST);
    }
}

static void read_contains(struct input *input, struct slice *contains)
{
    bool plain = input_text(input, "contains", contains);
    struct slice encoded;
    size_t len;

    if (!input_text(input, "contains_base64", &encoded)) {
        check_contains(input, *contains);
        return;
    }
    if (plain) {
        input_blame(input, 400, "give either contains or contains_base64, not both");
    } else if (!base64_decode(encoded, (char *)(uintptr_t)encoded.ptr, &len)) {
        input_blame(input, 400, "contains_base64 is not valid base64");
    } else {
        *contains = slice_of(encoded.ptr, len);
        check_contains(input, *contains);
    }
}

static void read_filter_members(struct input *input, struct job_filter *filter)
{
    static const char *const members[] = {
        "states",    "min_age_seconds", "max_age_seconds", "min_priority",    "max_priority",
        "min_bytes", "max_bytes",       "contains",        "contains_base64", NULL};
    uint64_t min_pri = filter->min_pri, max_pri = filter->max_pri;
    uint64_t min_body = filter->min_body, max_body = filter->max_body;

    input_members(input, members);
    // The bits are those of JOB_IN(): the words stand in the order of the states.
    (void)input_words(input, "states", shown_states, &filter->states);
    (void)input_seconds(input, "min_age_seconds", &filter->min_age_for);
    (void)input_seconds(input, "max_age_seconds", &filter->max_age_for);
    (void)input_number(input, "min_priority", UINT32_MAX, &min_pri);
    (void)input_number(input, "max_priority", UINT32_MAX, &max_pri);
    (void)input_number(input, "min_bytes", INT64_MAX, &min_body);
    (void)input_number(input, "max_bytes", INT64_MAX, &max_body);
    read_contains(input, &filter->contains);
    filter->min_pri = (uint32_t)min_pri;
    filter->max_pri = (uint32_t)max_pri;
    filter->min_body = (size_t)min_body;
    filter->max_body = (size_t)max_body;
}

static void read_filter(struct input *input, struct operation_plan *plan)
{
    struct input part;

    if (input_part(input, "filter", &part)) {
        read_filter_members(&part, &plan->sweep.filter);
        if (plan->action >= OPERATION_PAUSE && json_object_size(part.body) > 0) {
            input_blame(&part, 400, "pause and resume take no filter");
        }
    }
    input_part_end(input, "filter", &part);
}

static void read_queues(struct input *input, struct sweep *sweep)
{
    bool one = input_queue(input, &sweep->queue);
    bool many = input_text(input, "queues", &sweep->queues);

    if (one == many) {
        input_blame(input, 400, "give exactly one of queue, queue_path and queues");
    } else if (sweep->queue.len + sweep->queues.len == 0) {
        input_blame(input, 400, "the name of the queue is empty");
    }
}

// A member that belongs to one action must not come with another, and must come with that one.
static void check_member(struct input *input, const struct operation_plan *plan, const char *name,
                         bool there, bool belongs, bool needed)
{
    const char *action = operation_actions[plan->action];

    if (there && !belongs) {
        input_blame(input, 400, "%s is not allowed with %s", name, action);
    } else if (!there && needed) {
        input_blame(input, 400, "%s requires %s", action, name);
    }
}

static void read_act(struct input *input, struct operation_plan *plan)
{
    enum operation_action action = plan->action;
    struct act *act = &plan->sweep.act;
    bool changes = action == OPERATION_CHANGE;
    uint64_t pri = 0;
    bool pauses;

    act->sets_pri = input_number(input, "priority", UINT32_MAX, &pri);
    act->pri = (uint32_t)pri;
    act->sets_delay = input_seconds(input, "delay_seconds", &act->delay_for);
    pauses = input_seconds(input, "pause_seconds", &plan->pause_for) && plan->pause_for > 0;
    (void)input_flag(input, "back", &act->back);
    check_member(input, plan, "back", act->back, action == OPERATION_MOVE, false);
    check_member(input, plan, "to", input_text(input, "to", &act->to),
                 action == OPERATION_MOVE && !act->back, action == OPERATION_MOVE && !act->back);
    check_member(input, plan, "priority", act->sets_pri, changes, changes && !act->sets_delay);
    check_member(input, plan, "delay_seconds", act->sets_delay,
                 changes || action == OPERATION_RELEASE, false);
    check_member(input, plan, "pause_seconds", pauses, action == OPERATION_PAUSE,
                 action == OPERATION_PAUSE);
    act->kind = action < OPERATION_PAUSE ? acts[action] : ACT_DELETE;
}

void operation_plan_read(struct input *input, struct operation_plan *plan)
{
    static const char *const members[] = {
        "action",   "queue",         "queue_path", "queues",        "filter",  "to", "back",
        "priority", "delay_seconds", "max",        "pause_seconds", "dry_run", NULL};
    size_t action = 0;

    *plan = (struct operation_plan){.sweep.filter = JOB_FILTER_ALL};
    input_members(input, members);
    if (!input_word(input, "action", operation_actions, &action)) {
        input_blame(input, 400, "action is missing");
    }
    plan->action = (enum operation_action)action;
    read_queues(input, &plan->sweep);
    read_filter(input, plan);
    read_act(input, plan);
    (void)input_number(input, "max", INT64_MAX, &plan->sweep.most);
    (void)input_flag(input, "dry_run", &plan->sweep.dry);
}
