/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "ctl/fact_lines.h"
#include "ctl/listing.h"
#include "ctl/print/units.h"

static const struct grid_column connection_columns[] = {
    {"ID", true, false},     {"PROTOCOL", false, false}, {"PEER", false, false},
    {"CALLER", false, true}, {"FOR", true, false},       {"ROLE", false, false},
    {"QUEUES", true, false}, {"HOLDS", true, false},     {"IN", true, false},
    {"OUT", true, false},    {"UNREAD", true, false},    {NULL, false, false},
};

static void add_connection_row(struct grid *grid, const json_t *connection)
{
    struct slice caller = field_text(connection, "caller");
    bool worker = field_true(connection, "worker");
    bool producer = field_true(connection, "producer");

    if (caller.len == 0) {
        caller = field_text(connection, "client_id");
    }
    grid_format(grid, STYLE_PLAIN, "%llu", (unsigned long long)field_count(connection, "id"));
    grid_format(grid, STYLE_PLAIN, "%.*s%s", (int)field_text(connection, "protocol").len,
                field_text(connection, "protocol").ptr,
                field_true(connection, "tls") ? ", TLS" : "");
    grid_cell(grid, STYLE_PLAIN, field_text(connection, "peer"));
    grid_cell(grid, caller.len ? STYLE_PLAIN : STYLE_FAINT, caller.len ? caller : SLICE("-"));
    grid_seconds(grid, field_number(connection, "connected_seconds"));
    grid_format(grid, STYLE_PLAIN, "%s%s%s",
                worker     ? "worker"
                : producer ? "producer"
                           : "-",
                worker && producer ? ", producer" : "",
                field_true(connection, "waiting") ? ", waiting" : "");
    grid_count(grid, STYLE_PLAIN, field_count(connection, "subscriptions"));
    grid_count(grid, STYLE_PLAIN, field_count(connection, "jobs_held"));
    grid_bytes(grid, field_count(connection, "received_bytes"));
    grid_bytes(grid, field_count(connection, "sent_bytes"));
    grid_bytes(grid, field_count(connection, "unread_bytes"));
}

static enum outcome print_connections(struct context *context, struct text *path, const char *empty)
{
    const struct api_list listing = {.path = text_string(path),
                                     .key = "connections",
                                     .columns = connection_columns,
                                     .row = add_connection_row,
                                     .empty = empty};
    enum outcome outcome = listing_print(context, &listing);

    text_free(path);
    return outcome;
}

enum outcome run_workers(struct context *context)
{
    struct text path = {0};

    text_put(&path, "/api/v1/workers");
    path_add_text(&path, "queue", context->count ? context->words[0] : NULL);
    return print_connections(context, &path, "No workers.");
}

//
// One connection
//

#define COUNT(path) units_count(field_count(connection, path)).text
#define BYTES(path) units_bytes(field_count(connection, path)).text

static void add_queues_and_jobs(struct context *context, const json_t *connection)
{
    const json_t *queues = field_get(connection, "queues");
    const json_t *jobs = field_get(connection, "jobs");

    for (size_t i = 0; i < json_array_size(queues); i++) {
        fact_text(context, i == 0 ? "takes from" : "", field_text(json_array_get(queues, i), ""));
    }
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const json_t *job = json_array_get(jobs, i);
        struct text words = {0};

        text_format(&words, "%llu of ", (unsigned long long)field_count(job, "id"));
        text_add(&words, field_text(job, "queue"));
        if (field_number(job, "left_seconds") > 0) {
            text_format(&words, ", for %s more",
                        units_seconds(field_number(job, "left_seconds")).text);
        }
        fact_text(context, i == 0 ? "holds job" : "", text_slice(&words));
        text_free(&words);
    }
}

static void add_connection(struct context *context, const json_t *connection)
{
    struct text title = {0};

    text_format(&title, "connection %llu, ", (unsigned long long)field_count(connection, "id"));
    text_add(&title, field_text(connection, "protocol"));
    text_put(&title, field_true(connection, "tls") ? " by TLS, from " : ", from ");
    text_add(&title, field_text(connection, "peer"));
    fact_title(context, text_slice(&title));
    text_free(&title);
    if (field_is_set(connection, "caller")) {
        fact_text(context, "identity", field_text(connection, "caller"));
    }
    if (field_is_set(connection, "client_id")) {
        fact_text(context, "client id", field_text(connection, "client_id"));
    }
    fact(context, "connected", "for %s",
         units_seconds(field_number(connection, "connected_seconds")).text);
    fact(context, "work", "takes from %s queues, holds %s jobs, waits for the end of %s%s",
         COUNT("subscriptions"), COUNT("jobs_held"), COUNT("watches"),
         field_true(connection, "waiting") ? "; waits for a job now" : "");
    fact(context, "bytes", "%s in, %s out, %s not read yet; %s of memory", BYTES("received_bytes"),
         BYTES("sent_bytes"), BYTES("unread_bytes"), BYTES("kept_bytes"));
    add_queues_and_jobs(context, connection);
}

enum outcome run_connections(struct context *context)
{
    struct text path = {0};
    enum outcome outcome;

    text_put(&path, "/api/v1/connections");
    if (context->count == 0) {
        path_add_text(&path, "protocol", context->options->protocol);
        return print_connections(context, &path, "No connections.");
    }
    path_add_name(&path, context->words[0]);
    outcome = command_show(context, "GET", text_string(&path), NULL, add_connection);
    text_free(&path);
    return outcome;
}
