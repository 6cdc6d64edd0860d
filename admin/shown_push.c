/* SPDX-License-Identifier: MIT */
#include "admin/shown_push.h"

#include "proto_common/sight_push.h"

#include "admin/shown.h"
#include "admin/shown_counts.h"

#include <string.h>

static json_t *text(const char *words)
{
    return shown_text(slice_str(words));
}

static json_t *shown_outcomes(const struct sight_push *push)
{
    json_t *shown = json_object();

    for (size_t i = 0; shown && i < push->outcome_count; i++) {
        if (json_object_set_new(shown, push->outcome_words[i],
                                json_integer(shown_number(push->outcomes[i]))) != 0) {
            json_decref(shown);
            shown = NULL;
        }
    }
    return shown;
}

static json_t *shown_endpoint(const struct sight_push *push)
{
    return json_pack("{s:o, s:o, s:s, s:o, s:I, s:I, s:o, s:o}", "section", text(push->section),
                     "endpoint", text(push->endpoint), "state", push->state, "paused_seconds",
                     shown_seconds(push->paused_for), "connections",
                     shown_number(push->connections), "in_flight", shown_number(push->in_flight),
                     "outcomes", shown_outcomes(push), "last_failure",
                     *push->last_failure ? text(push->last_failure) : json_null());
}

json_t *shown_endpoints(const struct sight *sight)
{
    json_t *list = json_array();
    struct sight_push push;

    for (size_t i = 0; list && sight && sight->pushes->at(sight->host, i, &push); i++) {
        if (json_array_append_new(list, shown_endpoint(&push)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

json_t *shown_endpoint_named(const struct sight *sight, struct slice section)
{
    struct sight_push push;

    for (size_t i = 0; sight && sight->pushes->at(sight->host, i, &push); i++) {
        if (slice_equal(section, slice_str(push.section))) {
            return shown_endpoint(&push);
        }
    }
    return json_null();
}

json_t *shown_endpoint_of(const struct sight *sight, const struct queue *queue)
{
    struct sight_push push;

    return sight && sight->pushes->of(sight->host, queue, &push) ? shown_endpoint(&push)
                                                                 : json_null();
}
