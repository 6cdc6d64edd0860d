/* SPDX-License-Identifier: MIT */
#include "ctl/top_state.h"

#include "ctl/api/call.h"
#include "ctl/print/need.h"

const struct top_column top_columns[] = {
    {"QUEUE", 0, 0, "name", false, TOP_NAME, "name"},
    {"READY", 7, 1, "ready", true, TOP_COUNT, "jobs.ready"},
    {"RSVD", 6, 2, "reserved", true, TOP_COUNT, "jobs.reserved"},
    {"DELAY", 6, 8, "delayed", true, TOP_COUNT, "jobs.delayed"},
    {"BURIED", 6, 3, "buried", true, TOP_COUNT, "jobs.buried"},
    {"IN/s", 6, 6, "submitted", true, TOP_RATE, TOP_IN},
    {"OUT/s", 6, 5, "completed", true, TOP_RATE, TOP_OUT},
    {"OLDEST", 8, 4, "oldest_ready_seconds", true, TOP_SECONDS, "oldest_ready_seconds"},
    {"WORK", 5, 7, "workers", true, TOP_COUNT, "workers"},
    {"WAIT", 5, 9, "waiting", true, TOP_COUNT, "waiting"},
};
const size_t top_column_count = sizeof top_columns / sizeof *top_columns;

static void note(json_t *totals, const char *path, const json_t *from)
{
    json_t *two = need(json_pack("{s:I, s:I}", TOP_IN, (json_int_t)field_count(from, TOP_IN),
                                 TOP_OUT, (json_int_t)field_count(from, TOP_OUT)));

    if (json_object_set_new(totals, path, two) != 0) {
        (void)need(NULL);
    }
}

static json_t *totals_of(const json_t *process, const json_t *queues)
{
    json_t *totals = need(json_object());
    const json_t *list = field_get(queues, "queues");

    note(totals, "", field_get(process, "totals"));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *queue = json_array_get(list, i);
        const char *path = json_string_value(json_object_get(queue, "path"));

        if (path) {
            note(totals, path, field_get(queue, "totals"));
        }
    }
    return totals;
}

void top_state_take(struct top_state *state, json_t *process, json_t *queues, double at)
{
    json_decref(state->process);
    json_decref(state->queues);
    json_decref(state->before);
    state->process = process;
    state->queues = queues;
    state->before = state->now;
    state->before_at = state->now_at;
    state->now = totals_of(process, queues);
    state->now_at = at;
    text_cut(&state->trouble, 0);
}

double top_state_rate(const struct top_state *state, const char *path, const char *total)
{
    const json_t *before = json_object_get(state->before, path);
    const json_t *now = json_object_get(state->now, path);
    uint64_t then = field_count(before, total);
    uint64_t later = field_count(now, total);

    // The queue is new, or was removed and created again.
    if (!before || !now || later < then || state->now_at <= state->before_at) {
        return -1;
    }
    return (double)(later - then) / (state->now_at - state->before_at);
}

void top_state_free(struct top_state *state)
{
    json_decref(state->process);
    json_decref(state->queues);
    json_decref(state->before);
    json_decref(state->now);
    text_free(&state->search);
    text_free(&state->trouble);
}
