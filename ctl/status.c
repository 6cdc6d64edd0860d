/* SPDX-License-Identifier: MIT */
#include "ctl/status.h"

#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/print/text.h"
#include "ctl/print/units.h"

#define COUNT(path) units_count(field_count(process, path)).text
#define BYTES(path) units_bytes(field_count(process, path)).text
#define SECONDS(path) units_seconds(field_number(process, path)).text

static void add_title(struct context *context, const json_t *process)
{
    struct text title = {0};

    text_put(&title, "tandem ");
    text_add(&title, field_text(process, "version"));
    text_put(&title, " on ");
    text_add(&title, field_text(process, "host"));
    text_format(&title, ", process %llu, up for %s",
                (unsigned long long)field_count(process, "pid"), SECONDS("uptime_seconds"));
    fact_title(context, text_slice(&title));
    text_free(&title);
}

static void add_jobs(struct context *context, const json_t *process)
{
    fact(context, "jobs", "%s ready, %s delayed, %s reserved, %s buried, in %s %s",
         COUNT("jobs.ready"), COUNT("jobs.delayed"), COUNT("jobs.reserved"), COUNT("jobs.buried"),
         COUNT("queues"), field_count(process, "queues") == 1 ? "queue" : "queues");
    fact(context, "so far", "%s submitted, %s completed, %s failed, %s deleted",
         COUNT("totals.submitted"), COUNT("totals.completed"), COUNT("totals.failed"),
         COUNT("totals.deleted"));
    fact(context, "", "%s retries, %s timeouts, %s burials, %s kicks", COUNT("totals.retries"),
         COUNT("totals.timeouts"), COUNT("totals.buried"), COUNT("totals.kicked"));
    fact(context, "", "%s expired, %s to a dead queue", COUNT("totals.expired"),
         COUNT("totals.dead"));
    fact(context, "workers", "%s, %s of them waiting; %s producers", COUNT("workers"),
         COUNT("waiting"), COUNT("producers"));
}

static void add_process(struct context *context, const json_t *process)
{
    if (field_count(process, "memory.limit_bytes") > 0) {
        fact(context, "memory", "%s of %s for clients, %s resident", BYTES("memory.used_bytes"),
             BYTES("memory.limit_bytes"), BYTES("memory.resident_bytes"));
    } else {
        fact(context, "memory", "%s for clients, %s resident", BYTES("memory.used_bytes"),
             BYTES("memory.resident_bytes"));
    }
    fact(context, "loop", "longest turn %s, latest by %s; %s slow turns, %s I/O threads",
         SECONDS("loop.longest_seconds"), SECONDS("loop.lag_seconds"), COUNT("loop.slow_turns"),
         COUNT("loop.io_threads"));
    fact(context, "processor", "%s user, %s system", SECONDS("cpu.user_seconds"),
         SECONDS("cpu.system_seconds"));
    fact(context, "descriptors", "%s of %s", COUNT("descriptors.open"), COUNT("descriptors.limit"));
}

// Adds the words separated by commas, or a dash if there are none.
static void add_words(struct text *to, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        text_put(to, i ? ", " : "");
        text_add(to, field_text(json_array_get(list, i), ""));
    }
    text_put(to, json_array_size(list) ? "" : "-");
}

static uint64_t refusals_of(const json_t *protocol)
{
    json_t *refusals = json_object_get(protocol, "refusals");
    uint64_t sum = 0;
    const char *kind;
    json_t *count;

    json_object_foreach(refusals, kind, count)
    {
        sum += field_count(count, "");
    }
    return sum;
}

static void add_protocols(struct context *context, const json_t *process)
{
    const json_t *protocols = field_get(process, "protocols");

    for (size_t i = 0; i < json_array_size(protocols); i++) {
        const json_t *protocol = json_array_get(protocols, i);
        struct text name = {0};
        struct text words = {0};

        text_add_escaped(&name, field_text(protocol, "name"), false);
        add_number_of(&words, field_count(protocol, "connections"), "connection");
        text_put(&words, " at ");
        add_words(&words, field_get(protocol, "listening"));
        text_format(&words, "; %s commands, %s in, %s out, %s refused",
                    units_count(field_count(protocol, "commands")).text,
                    units_bytes(field_count(protocol, "received_bytes")).text,
                    units_bytes(field_count(protocol, "sent_bytes")).text,
                    units_count(refusals_of(protocol)).text);
        fact_text(context, text_string(&name), text_slice(&words));
        text_free(&name);
        text_free(&words);
    }
}

static void add_rights(struct context *context, const json_t *process)
{
    struct text words = {0};

    add_words(&words, field_get(process, "may"));
    fact_text(context, "you may", text_slice(&words));
    text_free(&words);
}

static void add_concerns(struct context *context, const json_t *process)
{
    if (field_true(process, "draining")) {
        fact_styled(context, "attention", STYLE_ODD,
                    "draining: new jobs are refused (tandemctl drain off ends that)");
    }
    if (field_true(process, "memory.short")) {
        fact_styled(context, "attention", STYLE_BAD,
                    "memory is near server.max_memory: new work is refused");
    }
    if (field_count(process, "jobs.buried") > 0) {
        fact_styled(context, "attention", STYLE_ODD,
                    "%s buried %s for a person (tandemctl queues --with buried)",
                    COUNT("jobs.buried"),
                    field_count(process, "jobs.buried") == 1 ? "job waits" : "jobs wait");
    }
}

enum outcome run_status(struct context *context)
{
    struct reply reply = {0};
    enum outcome outcome = ask(context, "GET", "/api/v1/process", NULL, &reply);

    if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE) {
        add_title(context, reply.json);
        add_concerns(context, reply.json);
        add_jobs(context, reply.json);
        add_process(context, reply.json);
        add_protocols(context, reply.json);
        add_rights(context, reply.json);
        outcome = print(context);
    }
    reply_free(&reply);
    return outcome;
}
