/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PUSH_SERVICE_H
#define TANDEM_SERVER_PUSH_SERVICE_H

// Push (push/push.h) in this process: a background task that calls the endpoints of the sections
// [queue GLOB].

#include "core/base/macros.h"
#include "proto_common/handle.h"
#include "push/push.h"
#include "server/conn/loop_turn.h"
#include "server/config/settings.h"

#include <stdbool.h>

// Zeroed until it is started.
struct push_service {
    struct push *push;           /* private: NULL while no section has had an endpoint */
    struct turn *turn;           /* private */
    struct handles handles;      /* private */
    struct background_task task; /* private */
};

// Begins with the endpoints of the settings. The jobs of the turn's broker are restored; `host` is
// the name in job handles. False with the reason in `why`.
bool push_service_start(struct push_service *service, struct turn *turn,
                        const struct settings *settings, const char *host,
                        struct error_text *why) MUST_USE;

// Makes the endpoints of other settings, which have no effect before push_service_adopt(); `*plan`
// may be NULL. False with the reason in `why`.
bool push_service_plan(struct push_service *service, const struct settings *settings,
                       struct push_plan **plan, struct error_text *why) MUST_USE;

// Replaces all endpoints by those of the plan. NULL: nothing changes.
void push_service_adopt(struct push_service *service, struct push_plan *plan);

// The process is about to stop. While the service is busy, pending requests may still be answered.
void push_service_stop(struct push_service *service);
bool push_service_is_busy(const struct push_service *service);

// The functions of struct introspect_pushes (proto_common/introspect_queues.h).
bool push_service_resume(const struct push_service *service, struct slice section);
bool push_service_show(const struct push_service *service, size_t index,
                       struct introspect_push *shown);
bool push_service_show_of(const struct push_service *service, const struct queue *queue,
                          struct introspect_push *shown);
void push_service_show_seconds(const struct push_service *service,
                               struct introspect_distribution *shown);

// Releases jobs of pending requests. Called before the store is closed.
void push_service_close(struct push_service *service);

#endif
