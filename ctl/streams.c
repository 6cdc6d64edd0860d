/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "ctl/api/events.h"
#include "ctl/fact_lines.h"
#include "ctl/print/need.h"
#include "ctl/print/ctl_signals.h"
#include "ctl/print/units.h"

#include <stdlib.h>
#include <time.h>

// The most queues to follow, which is the limit of the API.
#define QUEUES_FOLLOWED 200
// Only complete lines are printed, unless a line is longer than this.
#define LINE_MAX_PRINTED ((size_t)64 << 10)

struct printing {
    struct context *context;
    struct text rest; // incomplete line
};

// Moves the first `len` bytes of the collected lines to the output.
static void add_lines(struct printing *printing, size_t len)
{
    struct text rest = {0};

    text_add_escaped(&printing->context->out, slice_of(printing->rest.data, len), true);
    text_add(&rest, slice_of(printing->rest.data + len, printing->rest.len - len));
    text_free(&printing->rest);
    printing->rest = rest;
}

static bool take_metrics(void *context, struct slice bytes)
{
    struct printing *printing = context;
    size_t len;

    text_add(&printing->rest, bytes);
    len = printing->rest.len;
    while (len > 0 && printing->rest.data[len - 1] != '\n') {
        len--;
    }
    len = len == 0 && printing->rest.len > LINE_MAX_PRINTED ? printing->rest.len : len;
    if (len > 0) {
        add_lines(printing, len);
    }
    return command_print(printing->context) == OUTCOME_DONE;
}

enum outcome run_metrics(struct context *context)
{
    struct printing printing = {.context = context};
    const struct request request = {.method = "GET",
                                    .path = "/metrics",
                                    .accept = "text/plain",
                                    .take = take_metrics,
                                    .context = &printing};
    enum outcome outcome;

    if (!context->screen.terminal) {
        return command_print_stream(context, request.path, request.accept);
    }
    // Names of queues are escaped for the terminal, since they may have control characters.
    outcome = command_stream(context, &request);
    if (outcome == OUTCOME_DONE && printing.rest.len > 0) {
        add_lines(&printing, printing.rest.len);
        outcome = command_print(context);
    }
    text_free(&printing.rest);
    // Writing the output can fail although the request succeeds.
    return outcome == OUTCOME_DONE ? context->problem->outcome : outcome;
}

//
// Events
//

struct following {
    struct context *context;
    struct events events;
    uint64_t count;
    bool bye; // the broker has announced its shutdown
};

static void add_process_event(struct text *out, const json_t *process)
{
    text_format(out, "%s ready, %s delayed, %s reserved, %s buried; %s submitted, %s completed",
                units_count(field_count(process, "jobs.ready")).text,
                units_count(field_count(process, "jobs.delayed")).text,
                units_count(field_count(process, "jobs.reserved")).text,
                units_count(field_count(process, "jobs.buried")).text,
                units_count(field_count(process, "totals.submitted")).text,
                units_count(field_count(process, "totals.completed")).text);
}

static void add_queue_event(struct text *out, const json_t *queue)
{
    text_add_escaped(out, field_text(queue, "name"), false);
    text_put(out, ": ");
    add_process_event(out, queue);
}

static void add_event(struct text *out, struct slice name, const json_t *json)
{
    text_format(out, "%s  ", units_moment((double)time(NULL)).text);
    text_add_escaped(out, name, false);
    text_fill(out, ' ', name.len < 10 ? 11 - name.len : 1);
    if (slice_equal(name, SLICE("process"))) {
        add_process_event(out, json);
    } else if (slice_equal(name, SLICE("queue"))) {
        add_queue_event(out, json);
    } else if (slice_equal(name, SLICE("operation"))) {
        text_format(out, "%llu: ", (unsigned long long)field_count(json, "id"));
        text_add_escaped(out, field_text(json, "action"), false);
        text_put(out, " in ");
        text_add_escaped(out, field_text(json, "target"), false);
        text_put_char(out, ' ');
        text_add_escaped(out, field_text(json, "state"), false);
        text_format(out, ", %s of %s examined, %s changed",
                    units_count(field_count(json, "looked_at")).text,
                    units_count(field_count(json, "total")).text,
                    units_count(field_count(json, "touched")).text);
    } else if (slice_equal(name, SLICE("gone"))) {
        text_add_escaped(out, field_text(json, "name"), false);
    } else if (slice_equal(name, SLICE("queues"))) {
        const json_t *queues = field_get(json, "queues");

        for (size_t i = 0; i < json_array_size(queues); i++) {
            text_put(out, "\n    ");
            add_queue_event(out, json_array_get(queues, i));
        }
    }
    text_put_char(out, '\n');
}

// Adds an event as a line of JSON, with its name and data.
static void add_event_json(struct text *out, struct slice name, struct slice data)
{
    json_t *string = json_stringn(name.ptr, name.len);
    // The name is not valid UTF-8 if the server is not a Tandem broker.
    char *quoted = string ? need(json_dumps(string, JSON_ENCODE_ANY)) : NULL;

    text_format(out, "{\"event\":%s,\"data\":", quoted ? quoted : "null");
    text_add(out, data);
    text_put(out, "}\n");
    free(quoted);
    json_decref(string);
}

static bool take_stream_event(void *context, struct slice name, struct slice data)
{
    struct following *following = context;
    struct context *ours = following->context;
    json_t *json = json_loadb(data.ptr, data.len, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);

    following->bye = slice_equal(name, SLICE("bye"));
    if (json && ours->options->json) {
        add_event_json(&ours->out, name, data);
    } else {
        add_event(&ours->out, name, json);
    }
    json_decref(json);
    following->count++;
    return command_print(ours) == OUTCOME_DONE && !following->bye &&
           following->count < ours->options->count;
}

static bool take_event_bytes(void *context, struct slice bytes)
{
    struct following *following = context;

    return events_feed(&following->events, bytes);
}

enum outcome run_events(struct context *context)
{
    const struct options *options = context->options;
    struct following following = {.context = context, .events = {.each = take_stream_event}};
    struct text path = {0};
    struct request request = {.method = "GET",
                              .accept = "text/event-stream",
                              .take = take_event_bytes,
                              .context = &following,
                              .endless = true};
    enum outcome outcome;

    text_put(&path, "/api/v1/events");
    path_add_text(&path, "queue", options->queue);
    if (options->search || options->name || options->with || options->sort) {
        path_add_number(&path, "queues", QUEUES_FOLLOWED);
    }
    path_add_text(&path, "search", options->search);
    path_add_text(&path, "name", options->name);
    path_add_text(&path, "with", options->with);
    path_add_text(&path, "sort", options->sort);
    request.path = text_string(&path);
    following.events.context = &following;
    signals_catch_stops();
    client_watch(context->client, (const int[]){signals_fd(), -1}, signals_stopped, NULL);
    outcome = command_stream(context, &request);
    if (outcome == OUTCOME_INTERRUPTED) {
        // Ctrl-C is the normal end.
        context->problem->why.text[0] = '\0';
    } else if (outcome == OUTCOME_DONE && following.events.overflowed) {
        outcome = problem_set(context->problem, OUTCOME_FAILED, "an event is too large");
    } else if (outcome == OUTCOME_DONE && following.count < options->count) {
        outcome = problem_set(context->problem, OUTCOME_UNREACHABLE, "the broker has %s",
                              following.bye ? "stopped, or has revoked your access"
                                            : "closed the connection");
    }
    events_free(&following.events);
    text_free(&path);
    return outcome;
}
