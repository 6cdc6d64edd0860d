/* SPDX-License-Identifier: MIT */
#include "ctl/show.h"

#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/print/text.h"
#include "ctl/print/units.h"

#include <string.h>

// The most bytes of a body to print without --raw.
#define BODY_SHOWN (64 * 1024)

//
// Properties
//

static void add_contract(struct context *context, const json_t *job)
{
    uint64_t most = field_count(job, "max_attempts");
    bool drops = slice_equal(field_text(job, "on_failure"), SLICE("drop"));

    fact(context, "priority", "%llu", (unsigned long long)field_count(job, "priority"));
    fact(context, "age", "%s, submitted at %s",
         units_seconds(field_number(job, "age_seconds")).text,
         moment_of(field_number(job, "created_at")).text);
    if (field_number(job, "ttr_seconds") > 0) {
        fact(context, "time to run", "%s", units_seconds(field_number(job, "ttr_seconds")).text);
    } else {
        fact(context, "time to run", "until its worker leaves");
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
         field_true(job, "durable") ? "yes, with a journal" : "no, it ends with the process");
}

static void add_bonds(struct context *context, const json_t *job)
{
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

static void add_past(struct context *context, const json_t *job)
{
    struct text from = {0};

    if (!field_is_set(job, "past")) {
        return;
    }
    text_add(&from, field_text(job, "past.queue"));
    text_format(&from,
                " at %s, after %llu attempts: ", moment_of(field_number(job, "past.at")).text,
                (unsigned long long)field_count(job, "past.attempts"));
    text_add(&from, field_text(job, "past.why"));
    fact_text(context, "taken from", text_slice(&from));
    text_free(&from);
}

static void add_history(struct context *context, const json_t *job)
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
            text_format(&words, " at %s", moment_of(field_number(event, "at")).text);
        }
        fact_text(context, i == 0 ? "history" : "", text_slice(&words));
        text_free(&words);
    }
}

//
// The body
//

static enum outcome read_body(struct context *context, const json_t *from, struct text *body)
{
    struct slice data = field_text(from, "data");

    if (!slice_equal(field_text(from, "encoding"), SLICE("base64"))) {
        text_add(body, data);
        return OUTCOME_DONE;
    }
    return base64_read(body, data)
               ? OUTCOME_DONE
               : problem_set(context->problem, OUTCOME_FAILED, "the body is no base64");
}

// Adds lines as hexdump prints them: offset, sixteen bytes, and their ASCII characters.
static void add_hex(struct text *out, struct slice bytes)
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
        add_hex(out, body);
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

static void add_title(struct context *context, const json_t *job)
{
    struct text title = {0};

    text_format(&title, "job %llu of ", (unsigned long long)field_count(job, "id"));
    text_add(&title, field_text(job, "queue"));
    fact_title(context, text_slice(&title));
    text_free(&title);
}

static void add_result(struct context *context, const json_t *job)
{
    if (!field_is_set(job, "result")) {
        return;
    }
    fact_text(context, "ended", field_text(job, "result.end"));
    fact(context, "", "at %s", moment_of(field_number(job, "result.ended_at")).text);
    fact(context, "result kept", "until %s", moment_of(field_number(job, "result.until")).text);
    if (slice_equal(field_text(job, "result.kept"), SLICE("too_large"))) {
        fact(context, "", "without its data, which was too large");
    } else if (slice_equal(field_text(job, "result.kept"), SLICE("lost"))) {
        fact(context, "", "without its data, for which memory lacked");
    }
}

// Prints a job that has ended, with its result.
static enum outcome print_ended(struct context *context, const json_t *job)
{
    const json_t *data = field_get(job, "data");
    struct text body = {0};
    enum outcome outcome = OUTCOME_DONE;

    add_title(context, job);
    add_result(context, job);
    if (json_is_object(data)) {
        outcome = read_body(context, data, &body);
    }
    if (outcome == OUTCOME_DONE) {
        if (json_is_object(data)) {
            add_body(context, "data", data, field_count(job, "result.bytes"), text_slice(&body));
        }
        outcome = print(context);
    }
    text_free(&body);
    return outcome;
}

static enum outcome print_job(struct context *context, const json_t *job)
{
    const json_t *from = field_get(job, "body");
    struct text body = {0};
    enum outcome outcome = read_body(context, from, &body);

    if (outcome == OUTCOME_DONE) {
        add_title(context, job);
        fact_text(context, "state", field_text(job, "state"));
        if (field_number(job, "left_seconds") > 0) {
            fact(context, "", "for %s more", units_seconds(field_number(job, "left_seconds")).text);
        }
        add_contract(context, job);
        add_bonds(context, job);
        add_past(context, job);
        add_history(context, job);
        add_result(context, job);
        add_body(context, "body", from, field_count(job, "body_bytes"), text_slice(&body));
        outcome = print(context);
    }
    text_free(&body);
    return outcome;
}

static enum outcome show(struct context *context, uint64_t id)
{
    struct text path = {0};
    struct reply reply = {0};
    enum outcome outcome;

    text_format(&path, "/api/v1/jobs/%llu?body=%d", (unsigned long long)id, BODY_SHOWN);
    outcome = ask(context, "GET", text_string(&path), NULL, &reply);
    if (outcome == OUTCOME_DONE) {
        bool ended = slice_equal(field_text(reply.json, "state"), SLICE("ended"));

        outcome = context->options->json ? print_json(context, &reply)
                  : ended                ? print_ended(context, reply.json)
                                         : print_job(context, reply.json);
    }
    reply_free(&reply);
    text_free(&path);
    return outcome;
}

static enum outcome show_raw(struct context *context, uint64_t id, const char *what)
{
    struct text path = {0};
    enum outcome outcome;

    text_format(&path, "/api/v1/jobs/%llu/%s", (unsigned long long)id, what);
    outcome = print_stream(context, text_string(&path), "application/octet-stream");
    text_free(&path);
    return outcome;
}

enum outcome run_show(struct context *context)
{
    uint64_t id;

    if (!units_read_count(context->words[0], &id)) {
        return problem_set(context->problem, OUTCOME_USAGE, "\"%s\" is no number of a job",
                           context->words[0]);
    }
    return context->options->raw ? show_raw(context, id, "body") : show(context, id);
}

enum outcome run_result(struct context *context)
{
    const char *colon = strrchr(context->words[0], ':');
    uint64_t id;

    // The id is the last part of a handle.
    if (!units_read_count(colon ? colon + 1 : context->words[0], &id)) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "\"%s\" is no number or handle of a job", context->words[0]);
    }
    return context->options->raw ? show_raw(context, id, "result") : show(context, id);
}
