/* SPDX-License-Identifier: MIT */
#include "server/net/event_loop.h"

struct event_base *event_loop_new(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config &&
        event_config_require_features(config, EV_FEATURE_ET | EV_FEATURE_EARLY_CLOSE) == 0 &&
        event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV) == 0) {
        base = event_base_new_with_config(config);
    }
    if (config) {
        event_config_free(config);
    }
    return base;
}
