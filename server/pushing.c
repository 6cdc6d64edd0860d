/* SPDX-License-Identifier: MIT */
#include "server/pushing.h"

#include "proto_common/sight_push.h"
#include "proto_gearman/gearman.h"
#include "server/turn.h"

#include <stdlib.h>

static void host_tick(void *context)
{
    turn_tick(context);
}

static uint64_t host_reached(void *context)
{
    const struct turn *turn = context;

    return turn->pool.reached;
}

static bool host_may_send(void *context)
{
    return turn_may_send(context);
}

static nsec_t chore_due(const void *context)
{
    return push_due(context);
}

static void chore_work(void *context)
{
    push_work(context);
}

static bool start(struct pushing *pushing, struct error_text *why)
{
    const struct push_host host = {.context = pushing->turn,
                                   .tick = host_tick,
                                   .reached = host_reached,
                                   .may_send = host_may_send,
                                   .handles = &pushing->handles};

    pushing->push = push_new(&host, pushing->turn->broker, pushing->turn->base, why);
    if (!pushing->push) {
        return false;
    }
    // What a worker says is taken in while the store is behind, but not while it is stuck.
    pushing->chore = (struct chore){
        .due = chore_due, .work = chore_work, .context = pushing->push, .most = STORE_BEHIND};
    chores_add(pushing->turn, &pushing->chore);
    return true;
}

// Handles of jobs are those that clients of Gearman get.
static const char *handle_prefix(const struct settings *settings)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (frontends[i] == &gearman_frontend) {
            return ((const struct gear_options *)settings->protocols[i].options)->handle_prefix;
        }
    }
    return "";
}

bool pushing_start(struct pushing *pushing, struct turn *turn, const struct settings *settings,
                   const char *host, struct error_text *why)
{
    struct push_plan *plan = NULL;

    pushing->turn = turn;
    if (!handles_set_prefix(&pushing->handles, handle_prefix(settings), host)) {
        return error_set(why,
                         "[gearman] handle_prefix: a handle has no blanks and no control bytes");
    }
    if (!pushing_plan(pushing, settings, &plan, why)) {
        return false;
    }
    pushing_adopt(pushing, plan);
    return true;
}

bool pushing_plan(struct pushing *pushing, const struct settings *settings, struct push_plan **plan,
                  struct error_text *why)
{
    struct push_settings *list;
    size_t count = 0;

    *plan = NULL;
    if (!pushing->turn) {
        return true; // the start will see to it
    }
    list = queue_push_list(&settings->named[SETTINGS_QUEUES], &count, why);
    if (!list) {
        return false;
    }
    if (count == 0 && !pushing->push) {
        free(list);
        return true;
    }
    if (pushing->push || start(pushing, why)) {
        *plan = push_plan_new(pushing->push, list, count, why);
    }
    free(list);
    return *plan != NULL;
}

void pushing_adopt(struct pushing *pushing, struct push_plan *plan)
{
    if (plan) {
        push_adopt(pushing->push, plan);
    }
}

void pushing_stop(struct pushing *pushing)
{
    if (pushing->push) {
        push_stop(pushing->push);
    }
}

bool pushing_is_busy(const struct pushing *pushing)
{
    return pushing->push && push_is_busy(pushing->push);
}

void pushing_close(struct pushing *pushing)
{
    push_free(pushing->push);
    *pushing = (struct pushing){.push = NULL};
}

bool pushing_resume(const struct pushing *pushing, struct slice section)
{
    return pushing->push && push_resume(pushing->push, section);
}

bool pushing_show(const struct pushing *pushing, size_t index, struct sight_push *shown)
{
    return pushing->push && push_show(pushing->push, index, shown);
}

bool pushing_show_of(const struct pushing *pushing, const struct queue *queue,
                     struct sight_push *shown)
{
    return pushing->push && push_show_of(pushing->push, queue, shown);
}

void pushing_show_seconds(const struct pushing *pushing, struct sight_distribution *shown)
{
    *shown = (struct sight_distribution){.buckets = 0};
    if (pushing->push) {
        push_show_seconds(pushing->push, shown);
    }
}
