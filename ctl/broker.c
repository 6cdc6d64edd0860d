/* SPDX-License-Identifier: MIT */

// The broker as a whole: its state, journal and configuration, and commands that change it.

#include "ctl/commands.h"

#include "ctl/fact_lines.h"
#include "ctl/print/grid.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <poll.h>
#include <string.h>
#include <time.h>

// Probes are frequent, and have a limit of their own of a few seconds.
#define HEALTH_SECONDS 2
// The interval between requests for the number of reserved jobs.
#define DRAIN_POLL_MSEC 200

//
// The process
//

#define COUNT(path) units_count(field_count(process, path)).text
#define BYTES(path) units_bytes(field_count(process, path)).text
#define SECONDS(path) units_seconds(field_number(process, path)).text

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
static void add_word_list(struct text *to, const json_t *list)
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
        units_add_noun(&words, field_count(protocol, "connections"), "connection");
        text_put(&words, " at ");
        add_word_list(&words, field_get(protocol, "listening"));
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

static void add_attention(struct context *context, const json_t *process)
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
                    "%s buried %s to be examined (tandemctl queues --with buried)",
                    COUNT("jobs.buried"),
                    field_count(process, "jobs.buried") == 1 ? "job waits" : "jobs wait");
    }
}

static void add_status(struct context *context, const json_t *process)
{
    struct text title = {0};
    struct text rights = {0};

    text_put(&title, "tandem ");
    text_add(&title, field_text(process, "version"));
    text_put(&title, " on ");
    text_add(&title, field_text(process, "host"));
    text_format(&title, ", process %llu, up for %s",
                (unsigned long long)field_count(process, "pid"), SECONDS("uptime_seconds"));
    fact_title(context, text_slice(&title));
    text_free(&title);
    add_attention(context, process);
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
    add_process(context, process);
    add_protocols(context, process);
    add_word_list(&rights, field_get(process, "may"));
    fact_text(context, "you may", text_slice(&rights));
    text_free(&rights);
}

enum outcome run_status(struct context *context)
{
    return command_show(context, "GET", "/api/v1/process", NULL, add_status);
}

//
// Health
//

// The answer is a text for people. Any other than 200 and 503 does not come from a probe of Tandem.
static enum outcome judge_health(struct context *context, struct client *client,
                                 const struct answer *answer)
{
    struct slice why = text_slice(&answer->body);

    while (why.len > 0 && why.ptr[why.len - 1] == '\n') {
        why.len--;
    }
    if (answer->status == 200) {
        return OUTCOME_DONE;
    }
    if (answer->status == 503) {
        return problem_set(context->problem, OUTCOME_NOT_NOW, "not ready: %.*s", (int)why.len,
                           why.ptr);
    }
    return problem_set(context->problem, OUTCOME_FAILED,
                       "%s answered with HTTP status %ld: is this the broker's admin.listen?",
                       client_address(client), answer->status);
}

enum outcome run_health(struct context *context)
{
    const struct options *options = context->options;
    const struct client_settings settings = {.address = options->address,
                                             .no_token = true,
                                             .cacert = options->cacert,
                                             .cert = options->cert,
                                             .key = options->key,
                                             .timeout = options->timeout >= 0 ? options->timeout
                                                                              : HEALTH_SECONDS};
    const struct request request = {
        .method = "GET", .path = options->ready ? "/readyz" : "/healthz", .accept = "text/plain"};
    struct answer answer = {0};
    struct client *client;
    enum outcome outcome;

    if (!client_new(&client, &settings, context->problem)) {
        return OUTCOME_USAGE;
    }
    outcome = client_send(client, &request, &answer, context->problem);
    if (outcome == OUTCOME_DONE) {
        outcome = judge_health(context, client, &answer);
    }
    answer_free(&answer);
    client_free(client);
    return outcome;
}

//
// The journal
//

#define JOURNAL_COUNT(path) units_count(field_count(journal, path)).text
#define JOURNAL_BYTES(path) units_bytes(field_count(journal, path)).text

static void add_journal(struct context *context, const json_t *journal)
{
    if (!field_true(journal, "enabled")) {
        text_put(&context->out, "There is no journal: jobs are kept in memory only.\n");
        return;
    }
    fact_text(context, "directory", field_text(journal, "directory"));
    fact_text(context, "fsync", field_text(journal, "fsync"));
    if (field_true(journal, "failing")) {
        fact_styled(context, "attention", STYLE_BAD, "write errors: new jobs are refused");
    }
    fact(context, "bytes", "%s on disk, %s of live jobs", JOURNAL_BYTES("bytes"),
         JOURNAL_BYTES("live_bytes"));
    if (field_is_set(journal, "free_bytes")) {
        fact(context, "free", "%s of the disk", JOURNAL_BYTES("free_bytes"));
    }
    fact(context, "segments", "%s of %s, %llu to %llu", JOURNAL_COUNT("segments"),
         JOURNAL_BYTES("segment_bytes"), (unsigned long long)field_count(journal, "oldest"),
         (unsigned long long)field_count(journal, "current"));
    fact(context, "records", "%s in %s batches, %s of them copied by compaction",
         JOURNAL_COUNT("records"), JOURNAL_COUNT("batches"), JOURNAL_COUNT("migrated"));
    fact_syncs(context, field_get(journal, "syncs"));
    fact_styled(context, "errors", field_count(journal, "errors") ? STYLE_BAD : STYLE_PLAIN, "%s",
                JOURNAL_COUNT("errors"));
}

enum outcome run_journal(struct context *context)
{
    return command_show(context, "GET", "/api/v1/journal", NULL, add_journal);
}

//
// The configuration
//

static const struct grid_column setting_columns[] = {
    {"SETTING", false, false}, {"VALUE", false, true}, {"DEFAULT", false, false},
    {"LIVE", false, false},    {NULL, false, false},
};

// Whether `wanted` is the name of the setting, "section.key", or its section.
static bool names_setting(struct slice name, const char *wanted)
{
    size_t len = strlen(wanted);

    return name.len >= len && memcmp(name.ptr, wanted, len) == 0 &&
           (name.len == len || name.ptr[len] == '.');
}

static size_t add_settings(struct context *context, const json_t *settings, struct grid *grid)
{
    const char *wanted = context->count ? context->words[0] : NULL;
    size_t rows = 0;

    for (size_t i = 0; i < json_array_size(settings); i++) {
        const json_t *setting = json_array_get(settings, i);
        struct slice value = field_text(setting, "value");
        struct slice usual = field_text(setting, "default");
        struct text name = {0};

        text_add(&name, field_text(setting, "section"));
        text_put_char(&name, '.');
        text_add(&name, field_text(setting, "key"));
        if (!wanted || names_setting(text_slice(&name), wanted)) {
            grid_cell(grid, STYLE_PLAIN, text_slice(&name));
            grid_cell(grid, slice_equal(value, usual) ? STYLE_PLAIN : STYLE_STRONG, value);
            grid_cell(grid, STYLE_FAINT, slice_equal(value, usual) ? SLICE("") : usual);
            grid_string(grid, STYLE_PLAIN, field_true(setting, "live") ? "yes" : "");
            rows++;
        }
        text_free(&name);
    }
    return rows;
}

static enum outcome print_settings(struct context *context, const json_t *config)
{
    struct grid *grid = grid_new(setting_columns, context->screen.width, context->screen.colour);
    size_t rows = add_settings(context, field_get(config, "settings"), grid);
    enum outcome outcome;

    if (rows == 0 && context->count > 0) {
        outcome = problem_set(context->problem, OUTCOME_NOT_FOUND, "unknown setting or section %s",
                              context->words[0]);
    } else {
        if (field_is_set(config, "file")) {
            fact_text(context, "file", field_text(config, "file"));
        }
        grid_write(grid, &context->out);
        outcome = command_print(context);
    }
    grid_free(grid);
    return outcome;
}

enum outcome run_config(struct context *context)
{
    struct reply reply = {0};
    enum outcome outcome = command_ask(context, "GET", "/api/v1/config", NULL, &reply);

    if (outcome == OUTCOME_DONE) {
        outcome = context->options->json ? command_print_json(context, &reply)
                                         : print_settings(context, reply.json);
    }
    reply_free(&reply);
    return outcome;
}

//
// Changes
//

static void add_draining(struct context *context, const json_t *reply)
{
    text_put(&context->out, field_true(reply, "draining")
                                ? "Draining: new jobs are refused until drain off.\n"
                                : "Not draining: new jobs are accepted.\n");
}

// Waits until no worker holds a job, at most for the time of --for.
static enum outcome wait_for_workers(struct context *context)
{
    double most = context->options->pause_for;
    struct timespec began;
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &began);
    for (;;) {
        struct reply reply = {0};
        enum outcome outcome = command_ask(context, "GET", "/api/v1/process", NULL, &reply);
        uint64_t held = field_count(reply.json, "jobs.reserved");

        reply_free(&reply);
        if (outcome != OUTCOME_DONE || held == 0) {
            return outcome;
        }
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if (most >= 0 &&
            difftime(now.tv_sec, began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9 >=
                most) {
            return problem_set(context->problem, OUTCOME_NOT_NOW,
                               "the broker drains, but workers still hold %s %s",
                               units_count(held).text, held == 1 ? "job" : "jobs");
        }
        (void)poll(NULL, 0, DRAIN_POLL_MSEC);
    }
}

enum outcome run_drain(struct context *context)
{
    const char *word = context->count ? context->words[0] : "on";
    bool on = strcmp(word, "on") == 0;
    enum outcome outcome;

    if (!on && strcmp(word, "off") != 0) {
        return problem_set(context->problem, OUTCOME_USAGE, "drain is on or off, not \"%s\"", word);
    }
    if (!context->options->wait && context->options->pause_for >= 0) {
        return problem_set(context->problem, OUTCOME_USAGE, "--for needs --wait");
    }
    if (!on && context->options->wait) {
        return problem_set(context->problem, OUTCOME_USAGE, "drain off has nothing to wait for");
    }
    outcome = command_show(context, "POST", "/api/v1/drain",
                           need(json_pack("{s:b}", "draining", (int)on)), add_draining);
    return outcome == OUTCOME_DONE && context->options->wait ? wait_for_workers(context) : outcome;
}

static void add_push_resumed(struct context *context, const json_t *reply)
{
    (void)reply;
    text_put(&context->out, "The broker tries the endpoint again at once.\n");
}

enum outcome run_push_resume(struct context *context)
{
    struct text path = {0};
    enum outcome outcome;

    text_put(&path, "/api/v1/push");
    path_add_name(&path, context->words[0]);
    text_put(&path, "/resume");
    outcome = command_show(context, "POST", text_string(&path), NULL, add_push_resumed);
    text_free(&path);
    return outcome;
}

static bool is_off(const struct context *context)
{
    return strcmp(context->words[0], "off") == 0;
}

static void add_logged_client(struct context *context, const json_t *reply)
{
    (void)reply;
    text_put(&context->out, is_off(context)
                                ? "No commands are logged.\n"
                                : "The broker logs the commands of this client until log-commands "
                                  "off, or a reload.\n");
}

enum outcome run_log_commands(struct context *context)
{
    json_t *client = command_json_text(context, "client", is_off(context) ? "" : context->words[0]);
    json_t *body;

    if (!client) {
        return OUTCOME_USAGE;
    }
    body = need(json_object());
    object_set(body, "log_commands", client);
    return command_show(context, "POST", "/api/v1/log-commands", body, add_logged_client);
}

enum outcome run_reload(struct context *context)
{
    struct reply reply = {0};
    enum outcome outcome = command_ask(context, "POST", "/api/v1/reload", NULL, &reply);

    if (outcome == OUTCOME_DONE && !field_true(reply.json, "reloaded")) {
        const char *why = json_string_value(json_object_get(reply.json, "why"));

        // Earlier versions of the broker do not report the error.
        outcome = problem_set(context->problem, OUTCOME_FAILED,
                              "the configuration has an error, and nothing was changed: %s",
                              why ? why : "see the broker's log");
    } else if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = command_print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE) {
        text_put(&context->out, "The configuration was read again.\n");
        outcome = command_print(context);
    }
    reply_free(&reply);
    return outcome;
}
