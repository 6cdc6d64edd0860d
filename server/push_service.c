/* SPDX-License-Identifier: MIT */
#include "server/push_service.h"

#include "proto_common/introspect.h"
#include "proto_common/introspect_queues.h"
#include "proto_gearman/gearman.h"
#include "server/conn/loop_turn.h"

#include <stdlib.h>

static void push_host_tick(void *context)
{
    turn_tick(context);
}

static uint64_t push_host_reached(void *context)
{
    const struct turn *turn = context;

    return turn->pool.reached;
}

static bool push_host_may_send(void *context)
{
    return turn_may_send(context);
}

static nsec_t push_service_due(const void *context)
{
    return push_due(context);
}

static void push_service_run(void *context)
{
    push_work(context);
}

static bool push_service_make_push(struct push_service *service, struct error_text *why)
{
    const struct push_host host = {.context = service->turn,
                                   .tick = push_host_tick,
                                   .reached = push_host_reached,
                                   .may_send = push_host_may_send,
                                   .handles = &service->handles};

    service->push = push_new(&host, service->turn->broker, service->turn->base, why);
    if (!service->push) {
        return false;
    }
    // Results are accepted while the store is behind, but not while it is stuck.
    service->task = (struct background_task){.due = push_service_due,
                                             .work = push_service_run,
                                             .context = service->push,
                                             .most = STORE_BEHIND};
    turn_add_task(service->turn, &service->task);
    return true;
}

// Job handles are the same as those of Gearman clients.
static const char *push_handle_prefix(const struct settings *settings)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (frontends[i] == &gearman_frontend) {
            return ((const struct gear_options *)settings->protocols[i].options)->handle_prefix;
        }
    }
    return "";
}

bool push_service_start(struct push_service *service, struct turn *turn,
                        const struct settings *settings, const char *host, struct error_text *why)
{
    struct push_plan *plan = NULL;

    service->turn = turn;
    if (!handles_set_prefix(&service->handles, push_handle_prefix(settings), host)) {
        error_set(why, "[gearman] handle_prefix must not contain blanks or control bytes");
        return false;
    }
    if (!push_service_plan(service, settings, &plan, why)) {
        return false;
    }
    push_service_adopt(service, plan);
    return true;
}

bool push_service_plan(struct push_service *service, const struct settings *settings,
                       struct push_plan **plan, struct error_text *why)
{
    struct push_settings *list;
    size_t count = 0;

    *plan = NULL;
    if (!service->turn) {
        return true; // push_service_start() has yet to be called
    }
    list = queue_push_list(&settings->named[SETTINGS_QUEUES], &count, why);
    if (!list) {
        return false;
    }
    if (count == 0 && !service->push) {
        free(list);
        return true;
    }
    if (service->push || push_service_make_push(service, why)) {
        *plan = push_plan_new(service->push, list, count, why);
    }
    free(list);
    return *plan != NULL;
}

void push_service_adopt(struct push_service *service, struct push_plan *plan)
{
    if (plan) {
        push_adopt(service->push, plan);
    }
}

void push_service_stop(struct push_service *service)
{
    if (service->push) {
        push_stop(service->push);
    }
}

bool push_service_is_busy(const struct push_service *service)
{
    return service->push && push_is_busy(service->push);
}

void push_service_close(struct push_service *service)
{
    push_free(service->push);
    *service = (struct push_service){.push = NULL};
}

bool push_service_resume(const struct push_service *service, struct slice section)
{
    return service->push && push_resume(service->push, section);
}

bool push_service_show(const struct push_service *service, size_t index,
                       struct introspect_push *shown)
{
    return service->push && push_endpoint_info(service->push, index, shown);
}

bool push_service_show_of(const struct push_service *service, const struct queue *queue,
                          struct introspect_push *shown)
{
    return service->push && push_queue_endpoint_info(service->push, queue, shown);
}

void push_service_show_seconds(const struct push_service *service,
                               struct introspect_distribution *shown)
{
    *shown = (struct introspect_distribution){.buckets = 0};
    if (service->push) {
        push_durations_info(service->push, shown);
    }
}
