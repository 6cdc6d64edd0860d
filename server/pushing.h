/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PUSHING_H
#define TANDEM_SERVER_PUSHING_H

// Push (push/push.h) at work in this process: the endpoints of the sections [queue GLOB] that have
// one, called in the turns of the loop.

#include "core/base/macros.h"
#include "proto_common/handle.h"
#include "push/push.h"
#include "server/chores.h"
#include "server/config/settings.h"

#include <stdbool.h>

// All zero until it is started.
struct pushing {
    struct push *push;      /* private: NULL while no section has had an endpoint */
    struct turn *turn;      /* private */
    struct handles handles; /* private */
    struct chore chore;     /* private */
};

// Begins with the endpoints of the settings. The turn's broker has its jobs; `host` is what their
// handles name. False with the reason in `why`.
bool pushing_start(struct pushing *pushing, struct turn *turn, const struct settings *settings,
                   const char *host, struct error_text *why) MUST_USE;

// Makes the endpoints of other settings, which do nothing before pushing_adopt(); `*plan` may be
// NULL. False with the reason in `why`.
bool pushing_plan(struct pushing *pushing, const struct settings *settings, struct push_plan **plan,
                  struct error_text *why) MUST_USE;

// They are those that there are from now on. NULL: nothing changes.
void pushing_adopt(struct pushing *pushing, struct push_plan *plan);

// The process is about to stop: requests on their way may still be answered, while it is busy.
void pushing_stop(struct pushing *pushing);
bool pushing_is_busy(const struct pushing *pushing);

// What operators see of it (proto_common/sight.h), and do to it.
bool pushing_resume(const struct pushing *pushing, struct slice section);
bool pushing_show(const struct pushing *pushing, size_t index, struct sight_push *shown);
bool pushing_show_of(const struct pushing *pushing, const struct queue *queue,
                     struct sight_push *shown);
void pushing_show_seconds(const struct pushing *pushing, struct sight_distribution *shown);

// Gives back jobs that are still on their way. Before the store is closed.
void pushing_close(struct pushing *pushing);

#endif
