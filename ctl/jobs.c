/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "core/base/utf8.h"
#include "ctl/fact_lines.h"
#include "ctl/listing.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <stdio.h>
#include <string.h>

// The default limit, since a queue may have a million jobs.
#define LIMIT 100
// The most bytes of a body to print without --raw.
#define BODY_SHOWN (64 * 1024)
// No broker accepts a larger body.
#define BODY_MAX ((size_t)1024 * 1024 * 1024)

//
// The list
//

static const struct grid_column job_columns[] = {
    {"JOB", true, false},      {"STATE", false, false}, {"PRIORITY", true, false},
    {"AGE", true, false},      {"LEFT", true, false},   {"ATTEMPTS", true, false},
    {"RELEASES", true, false}, {"BYTES", true, false},  {"KEY", false, true},
    {"HOLDER", true, false},   {NULL, false, false},
};

static void add_job_row(struct grid *grid, const json_t *job)
{
    unsigned long long attempts = field_count(job, "attempts");
    unsigned long long most = field_count(job, "max_attempts");

    // Users copy ids into other commands, so that they have no thousands separators.
    grid_format(grid, STYLE_PLAIN, "%llu", (unsigned long long)field_count(job, "id"));
    grid_cell(grid, STYLE_PLAIN, field_text(job, "state"));
    grid_format(grid, STYLE_PLAIN, "%llu", (unsigned long long)field_count(job, "priority"));
    grid_seconds(grid, field_number(job, "age_seconds"));
    if (field_number(job, "left_seconds") > 0) {
        grid_seconds(grid, field_number(job, "left_seconds"));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
    if (most > 0) {
        grid_format(grid, STYLE_PLAIN, "%llu/%llu", attempts, most);
    } else {
        grid_count(grid, STYLE_PLAIN, attempts);
    }
    grid_count(grid, STYLE_PLAIN, field_count(job, "counts.releases"));
    grid_bytes(grid, field_count(job, "body_bytes"));
    if (field_is_set(job, "key")) {
        grid_cell(grid, STYLE_PLAIN, field_text(job, "key"));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
    if (field_is_set(job, "holder")) {
        grid_format(grid, STYLE_PLAIN, "%llu", (unsigned long long)field_count(job, "holder"));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
}

enum outcome run_jobs(struct context *context)
{
    const char *state = context->options->state;
    struct text path = {0};
    struct api_list listing = {
        .key = "jobs", .columns = job_columns, .row = add_job_row, .limit = LIMIT};
    enum outcome outcome;

    listing.empty = state && strchr(state, ',') ? "The queue has no jobs in these states."
                                                : "The queue has no jobs in this state.";
    text_put(&path, "/api/v1/queues");
    path_add_name(&path, context->words[0]);
    text_put(&path, "/jobs");
    path_add_text(&path, "state", state ? state : "ready");
    listing.path = text_string(&path);
    outcome = listing_print(context, &listing);
    text_free(&path);
    return outcome;
}

//
// One job
//

static void add_job_settings(struct context *context, const json_t *job)
{
    uint64_t most = field_count(job, "max_attempts");
    bool drops = slice_equal(field_text(job, "on_failure"), SLICE("drop"));

    fact(context, "priority", "%llu", (unsigned long long)field_count(job, "priority"));
    fact(context, "age", "%s, submitted at %s",
         units_seconds(field_number(job, "age_seconds")).text,
         units_moment(field_number(job, "created_at")).text);
    if (field_number(job, "ttr_seconds") > 0) {
        fact(context, "time to run", "%s", units_seconds(field_number(job, "ttr_seconds")).text);
    } else {
        fact(context, "time to run", "until its worker disconnects");
    }
    fact(context, "attempts", "%llu of %s, then it is %s",
         (unsigned long long)field_count(job, "attempts"),
         most ? units_count(most).text : "any number", drops ? "dropped" : "buried");
    fact(context, "counts", "%llu reserves, %llu timeouts, %llu releases, %llu burials, %llu kicks",
         (unsigned long long)field_count(job, "counts.reserves"),
         (unsigned long long)field_count(job, "counts.timeouts"),
         (unsigned long long)field_count(job, "counts.releases"),
         (unsigned long long)field_count(job, "counts.buries"),
         (unsigned long long)field_count(job, "counts.kicks"));
    fact(context, "durable", "%s",
         field_true(job, "durable") ? "yes, with a journal" : "no, it is lost at a restart");
    if (field_is_set(job, "key")) {
        fact_text(context, "key", field_text(job, "key"));
    }
    if (field_is_set(job, "reducer")) {
        fact_text(context, "reducer", field_text(job, "reducer"));
    }
    if (field_is_set(job, "holder")) {
        fact(context, "held by", "connection %llu", (unsigned long long)field_count(job, "holder"));
    }
    if (field_count(job, "watches") > 0) {
        fact(context, "watched by", "%llu", (unsigned long long)field_count(job, "watches"));
    }
}

// Adds where a dead letter comes from.
static void add_dead_letter(struct context *context, const json_t *job)
{
    struct text from = {0};

    if (!field_is_set(job, "past")) {
        return;
    }
    text_put(&from, "from ");
    text_add(&from, field_text(job, "past.queue"));
    text_format(&from,
                " at %s, after %llu attempts: ", units_moment(field_number(job, "past.at")).text,
                (unsigned long long)field_count(job, "past.attempts"));
    text_add(&from, field_text(job, "past.why"));
    fact_text(context, "dead letter", text_slice(&from));
    text_free(&from);
}

static void add_job_history(struct context *context, const json_t *job)
{
    const json_t *history = field_get(job, "history");

    for (size_t i = 0; i < json_array_size(history); i++) {
        const json_t *event = json_array_get(history, i);
        struct text words = {0};

        text_add(&words, field_text(event, "event"));
        if (field_count(event, "times") > 1) {
            text_format(&words, " %s times", units_count(field_count(event, "times")).text);
        }
        if (field_is_set(event, "at")) {
            text_format(&words, " at %s", units_moment(field_number(event, "at")).text);
        }
        fact_text(context, i == 0 ? "history" : "", text_slice(&words));
        text_free(&words);
    }
}

//
// The body
//

static enum outcome decode_body(struct context *context, const json_t *from, struct text *body)
{
    struct slice data = field_text(from, "data");

    if (!slice_equal(field_text(from, "encoding"), SLICE("base64"))) {
        text_add(body, data);
        return OUTCOME_DONE;
    }
    return base64_read(body, data)
               ? OUTCOME_DONE
               : problem_set(context->problem, OUTCOME_FAILED, "the body is not valid base64");
}

// Adds lines as hexdump prints them: offset, sixteen bytes, and their ASCII characters.
static void add_hexdump(struct text *out, struct slice bytes)
{
    for (size_t at = 0; at < bytes.len; at += 16) {
        text_format(out, "%08zx ", at);
        for (size_t i = at; i < at + 16; i++) {
            text_put(out, i % 8 == 0 ? " " : "");
            if (i < bytes.len) {
                text_format(out, "%02x ", (unsigned)(unsigned char)bytes.ptr[i]);
            } else {
                text_put(out, "   ");
            }
        }
        text_put(out, " |");
        for (size_t i = at; i < at + 16 && i < bytes.len; i++) {
            bool plain = bytes.ptr[i] >= ' ' && bytes.ptr[i] <= '~';

            text_add(out, plain ? slice_of(bytes.ptr + i, 1) : SLICE("."));
        }
        text_put(out, "|\n");
    }
}

// `from` is the JSON object that has the body.
static void add_body(struct context *context, const char *label, const json_t *from, uint64_t bytes,
                     struct slice body)
{
    struct text *out = &context->out;
    bool hex = context->options->as_hex || (!context->options->as_text && !text_is_readable(body));

    fact(context, label, "%s%s", units_bytes(bytes).text, hex ? ", in hexadecimal" : "");
    text_put_char(out, '\n');
    if (hex) {
        add_hexdump(out, body);
    } else {
        text_add_escaped(out, body, true);
        if (body.len > 0 && body.ptr[body.len - 1] != '\n') {
            text_put_char(out, '\n');
        }
    }
    if (field_true(from, "truncated")) {
        text_format(out, "\n(the first %s; --raw writes all of it)\n", units_bytes(body.len).text);
    }
}

static void add_job_title(struct context *context, const json_t *job)
{
    struct text title = {0};

    text_format(&title, "job %llu of ", (unsigned long long)field_count(job, "id"));
    text_add(&title, field_text(job, "queue"));
    fact_title(context, text_slice(&title));
    text_free(&title);
}

static void add_job_result(struct context *context, const json_t *job)
{
    if (!field_is_set(job, "result")) {
        return;
    }
    fact_text(context, "ended", field_text(job, "result.end"));
    fact(context, "", "at %s", units_moment(field_number(job, "result.ended_at")).text);
    fact(context, "result kept", "until %s", units_moment(field_number(job, "result.until")).text);
    if (slice_equal(field_text(job, "result.kept"), SLICE("too_large"))) {
        fact(context, "", "without its data, which is too large");
    } else if (slice_equal(field_text(job, "result.kept"), SLICE("lost"))) {
        fact(context, "", "without its data: memory was short");
    }
}

// Prints a job that has ended, with its result.
static enum outcome print_ended_job(struct context *context, const json_t *job)
{
    const json_t *data = field_get(job, "data");
    struct text body = {0};
    enum outcome outcome = OUTCOME_DONE;

    add_job_title(context, job);
    add_job_result(context, job);
    if (json_is_object(data)) {
        outcome = decode_body(context, data, &body);
    }
    if (outcome == OUTCOME_DONE) {
        if (json_is_object(data)) {
            add_body(context, "data", data, field_count(job, "result.bytes"), text_slice(&body));
        }
        outcome = command_print(context);
    }
    text_free(&body);
    return outcome;
}

static enum outcome print_job(struct context *context, const json_t *job)
{
    const json_t *from = field_get(job, "body");
    struct text body = {0};
    enum outcome outcome = decode_body(context, from, &body);

    if (outcome == OUTCOME_DONE) {
        add_job_title(context, job);
        fact_text(context, "state", field_text(job, "state"));
        if (field_number(job, "left_seconds") > 0) {
            fact(context, "", "for %s more", units_seconds(field_number(job, "left_seconds")).text);
        }
        add_job_settings(context, job);
        add_dead_letter(context, job);
        add_job_history(context, job);
        add_job_result(context, job);
        add_body(context, "body", from, field_count(job, "body_bytes"), text_slice(&body));
        outcome = command_print(context);
    }
    text_free(&body);
    return outcome;
}

static enum outcome show_job(struct context *context, uint64_t id)
{
    struct text path = {0};
    struct reply reply = {0};
    enum outcome outcome;

    text_format(&path, "/api/v1/jobs/%llu?body=%d", (unsigned long long)id, BODY_SHOWN);
    outcome = command_ask(context, "GET", text_string(&path), NULL, &reply);
    if (outcome == OUTCOME_DONE) {
        bool ended = slice_equal(field_text(reply.json, "state"), SLICE("ended"));

        outcome = context->options->json ? command_print_json(context, &reply)
                  : ended                ? print_ended_job(context, reply.json)
                                         : print_job(context, reply.json);
    }
    reply_free(&reply);
    text_free(&path);
    return outcome;
}

static enum outcome show_raw_data(struct context *context, uint64_t id, const char *what)
{
    struct text path = {0};
    enum outcome outcome;

    text_format(&path, "/api/v1/jobs/%llu/%s", (unsigned long long)id, what);
    outcome = command_print_stream(context, text_string(&path), "application/octet-stream");
    text_free(&path);
    return outcome;
}

enum outcome run_show(struct context *context)
{
    uint64_t id;

    if (!units_read_count(context->words[0], &id)) {
        return problem_set(context->problem, OUTCOME_USAGE, "\"%s\" is not a job id",
                           context->words[0]);
    }
    return context->options->raw ? show_raw_data(context, id, "body") : show_job(context, id);
}

enum outcome run_result(struct context *context)
{
    const char *colon = strrchr(context->words[0], ':');
    uint64_t id;

    // The id is the last part of a handle.
    if (!units_read_count(colon ? colon + 1 : context->words[0], &id)) {
        return problem_set(context->problem, OUTCOME_USAGE, "\"%s\" is not a job id or a handle",
                           context->words[0]);
    }
    return context->options->raw ? show_raw_data(context, id, "result") : show_job(context, id);
}

//
// A new job
//

static enum outcome read_standard_input(struct context *context, struct text *body)
{
    char bytes[65536];
    size_t got;

    while ((got = fread(bytes, 1, sizeof bytes, stdin)) > 0) {
        text_add(body, slice_of(bytes, got));
        if (body->len > BODY_MAX) {
            return problem_set(context->problem, OUTCOME_FAILED,
                               "standard input has more than 1 GiB");
        }
    }
    return ferror(stdin)
               ? problem_set(context->problem, OUTCOME_FAILED, "standard input cannot be read")
               : OUTCOME_DONE;
}

// Valid UTF-8 is sent as text, which is readable in transit, and other bytes as base64.
static void set_body(json_t *job, const struct text *body)
{
    struct text encoded = {0};

    if (utf8_valid(text_slice(body)) && !memchr(text_string(body), 0, body->len)) {
        object_set(job, "body", json_stringn(text_string(body), body->len));
        return;
    }
    base64_add(&encoded, text_slice(body));
    object_set(job, "body_base64", json_stringn(text_string(&encoded), encoded.len));
    text_free(&encoded);
}

// NULL with a problem.
static json_t *make_job(struct context *context, const struct text *body)
{
    const struct options *options = context->options;
    json_t *queue = command_json_text(context, "queue", context->words[0]);
    json_t *key =
        queue && options->job_key ? command_json_text(context, "key", options->job_key) : NULL;
    json_t *job = need(json_object());

    if (!queue || (options->job_key && !key)) {
        json_decref(queue);
        json_decref(job);
        return NULL;
    }
    object_set(job, "queue", queue);
    set_body(job, body);
    object_set_count(job, "priority", options->priority_most);
    if (options->delay > 0) {
        object_set(job, "delay_seconds", json_real(options->delay));
    }
    object_set_count(job, "ttr_seconds", options->ttr);
    if (key) {
        object_set(job, "key", key);
    }
    object_set_count(job, "max_attempts", options->attempts);
    if (options->on_failure) {
        object_set(job, "on_failure", json_string(options->on_failure));
    }
    return job;
}

static void add_added(struct context *context, const json_t *job)
{
    text_format(&context->out, "%llu\n", (unsigned long long)field_count(job, "id"));
    if (field_true(job, "joined")) {
        (void)fputs("A live job has that key: this is its id.\n", stderr);
    }
}

enum outcome run_add(struct context *context)
{
    const struct options *options = context->options;
    const char *given = context->count > 1 ? context->words[1] : "-";
    struct text body = {0};
    enum outcome outcome = OUTCOME_DONE;
    json_t *job;

    if ((options->priority_least || options->priority_most != NO_COUNT) &&
        options->priority_least != options->priority_most) {
        return problem_set(context->problem, OUTCOME_USAGE, "a new job has one --priority");
    }
    if (strcmp(given, "-") == 0) {
        outcome = read_standard_input(context, &body);
    } else {
        text_put(&body, given);
    }
    job = outcome == OUTCOME_DONE ? make_job(context, &body) : NULL;
    if (outcome == OUTCOME_DONE) {
        outcome =
            job ? command_show(context, "POST", "/api/v1/jobs", job, add_added) : OUTCOME_USAGE;
    }
    text_free(&body);
    return outcome;
}
