/* SPDX-License-Identifier: MIT */
#include "push/endpoint.h"

#include "core/base/log.h"
#include "push/push_private.h"

void endpoint_idle(struct endpoint *endpoint, struct request *request)
{
    request_clear(request);
    list_remove(&request->step);
    list_append(&endpoint->idle, &request->step);
    request->busy = false;
    endpoint->busy--;
}

void endpoint_pause(struct endpoint *endpoint, nsec_t pause_for)
{
    nsec_t until = nsec_add(push_now(endpoint->push), pause_for);

    if (until > endpoint->paused_until) {
        endpoint->paused_until = until;
    }
}

void endpoint_try_again(struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);

    endpoint->paused_until = 0;
    endpoint->breaker.open_until = 0;
    push_call_by(endpoint->push, endpoint, now_at);
}

void endpoint_resume(struct endpoint *endpoint)
{
    nsec_t now_at = push_now(endpoint->push);

    if (endpoint->paused_until > now_at || endpoint->breaker.open_until > now_at) {
        log_info("push_resuming", log_string("section", endpoint->spec->name),
                 log_string("endpoint", endpoint->spec->origin),
                 log_string("why", "an operator ends the pause"));
    }
    endpoint_try_again(endpoint);
}

bool endpoint_give_back(struct endpoint *endpoint, uint64_t id)
{
    struct broker *broker = endpoint->push->broker;
    const struct job *job = broker_find(broker, id);
    const struct act act = {.kind = ACT_RELEASE};

    return !job || !job_held_by(broker, job, endpoint->session) ||
           broker_act(broker, NULL, id, &act) != STATUS_NO_SPACE;
}
