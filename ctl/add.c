/* SPDX-License-Identifier: MIT */
#include "ctl/add.h"

#include "core/base/utf8.h"
#include "ctl/api/call.h"
#include "ctl/print/need.h"

#include <stdio.h>
#include <string.h>

// No broker accepts a larger body.
#define BODY_MAX ((size_t)1024 * 1024 * 1024)

static enum outcome read_input(struct context *context, struct text *body)
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

static void set(json_t *job, const char *key, json_t *value)
{
    if (json_object_set_new(job, key, need(value)) != 0) {
        (void)need(NULL);
    }
}

static void set_count(json_t *job, const char *key, uint64_t value)
{
    if (value != NO_COUNT) {
        set(job, key, json_integer((json_int_t)value));
    }
}

// Valid UTF-8 is sent as text, which is readable in transit, and other bytes as base64.
static void set_body(json_t *job, const struct text *body)
{
    struct text encoded = {0};

    if (utf8_valid(text_slice(body)) && !memchr(text_string(body), 0, body->len)) {
        set(job, "body", json_stringn(text_string(body), body->len));
        return;
    }
    base64_add(&encoded, text_slice(body));
    set(job, "body_base64", json_stringn(text_string(&encoded), encoded.len));
    text_free(&encoded);
}

// NULL with a problem.
static json_t *make_job(struct context *context, const struct text *body)
{
    const struct options *options = context->options;
    json_t *queue = json_of(context, "queue", context->words[0]);
    json_t *key = queue && options->job_key ? json_of(context, "key", options->job_key) : NULL;
    json_t *job = need(json_object());

    if (!queue || (options->job_key && !key)) {
        json_decref(queue);
        json_decref(job);
        return NULL;
    }
    set(job, "queue", queue);
    set_body(job, body);
    set_count(job, "priority", options->priority_most);
    if (options->delay > 0) {
        set(job, "delay_seconds", json_real(options->delay));
    }
    set_count(job, "ttr_seconds", options->ttr);
    if (key) {
        set(job, "key", key);
    }
    set_count(job, "max_attempts", options->attempts);
    if (options->on_failure) {
        set(job, "on_failure", json_string(options->on_failure));
    }
    return job;
}

static enum outcome print_added(struct context *context, const struct reply *reply)
{
    if (context->options->json) {
        return print_json(context, reply);
    }
    text_format(&context->out, "%llu\n", (unsigned long long)field_count(reply->json, "id"));
    if (field_true(reply->json, "joined")) {
        (void)fputs("There is a live job of that key: this is its number.\n", stderr);
    }
    return print(context);
}

enum outcome run_add(struct context *context)
{
    const struct options *options = context->options;
    const char *given = context->count > 1 ? context->words[1] : "-";
    struct text body = {0};
    struct reply reply = {0};
    enum outcome outcome = OUTCOME_DONE;
    json_t *job;

    if ((options->priority_least || options->priority_most != NO_COUNT) &&
        options->priority_least != options->priority_most) {
        return problem_set(context->problem, OUTCOME_USAGE, "a new job has one --priority");
    }
    if (strcmp(given, "-") == 0) {
        outcome = read_input(context, &body);
    } else {
        text_put(&body, given);
    }
    job = outcome == OUTCOME_DONE ? make_job(context, &body) : NULL;
    if (outcome == OUTCOME_DONE) {
        outcome = job ? ask(context, "POST", "/api/v1/jobs", job, &reply) : OUTCOME_USAGE;
    }
    if (outcome == OUTCOME_DONE) {
        outcome = print_added(context, &reply);
    }
    reply_free(&reply);
    text_free(&body);
    return outcome;
}
