/* SPDX-License-Identifier: MIT */
#include "ctl/inside.h"

#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/print/grid.h"
#include "ctl/print/units.h"

#include <string.h>

#define COUNT(path) units_count(field_count(journal, path)).text
#define BYTES(path) units_bytes(field_count(journal, path)).text

//
// The journal
//

static void add_syncs(struct context *context, const json_t *journal)
{
    uint64_t count = field_count(journal, "syncs.count");

    if (count > 0) {
        fact(context, "syncs", "%s, %s on average", units_count(count).text,
             units_seconds(field_number(journal, "syncs.sum_seconds") / (double)count).text);
    }
}

static void add_journal(struct context *context, const json_t *journal)
{
    if (!field_true(journal, "enabled")) {
        text_put(&context->out, "There is no journal: jobs are in memory only.\n");
        return;
    }
    fact_text(context, "directory", field_text(journal, "directory"));
    fact_text(context, "fsync", field_text(journal, "fsync"));
    if (field_true(journal, "failing")) {
        fact_styled(context, "attention", STYLE_BAD, "it takes no new jobs at present");
    }
    fact(context, "bytes", "%s on disk, %s of jobs that live", BYTES("bytes"), BYTES("live_bytes"));
    if (field_is_set(journal, "free_bytes")) {
        fact(context, "free", "%s of the disk", BYTES("free_bytes"));
    }
    fact(context, "segments", "%s of %s, %llu to %llu", COUNT("segments"), BYTES("segment_bytes"),
         (unsigned long long)field_count(journal, "oldest"),
         (unsigned long long)field_count(journal, "current"));
    fact(context, "records", "%s in %s batches, %s of them written again", COUNT("records"),
         COUNT("batches"), COUNT("migrated"));
    add_syncs(context, journal);
    fact_styled(context, "errors", field_count(journal, "errors") ? STYLE_BAD : STYLE_PLAIN, "%s",
                COUNT("errors"));
}

enum outcome run_journal(struct context *context)
{
    struct reply reply = {0};
    enum outcome outcome = ask(context, "GET", "/api/v1/journal", NULL, &reply);

    if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE) {
        add_journal(context, reply.json);
        outcome = print(context);
    }
    reply_free(&reply);
    return outcome;
}

//
// The configuration
//

static const struct grid_column columns[] = {
    {"SETTING", false, false}, {"VALUE", false, true}, {"DEFAULT", false, false},
    {"LIVE", false, false},    {NULL, false, false},
};

// Whether `wanted` is the name of the setting, "section.key", or its section.
static bool is_named(struct slice name, const char *wanted)
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
        if (!wanted || is_named(text_slice(&name), wanted)) {
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
    struct grid *grid = grid_new(columns, context->screen.width, context->screen.colour);
    size_t rows = add_settings(context, field_get(config, "settings"), grid);
    enum outcome outcome;

    if (rows == 0 && context->count > 0) {
        outcome = problem_set(context->problem, OUTCOME_NOT_FOUND,
                              "there is no setting or section %s", context->words[0]);
    } else {
        if (field_is_set(config, "file")) {
            fact_text(context, "file", field_text(config, "file"));
        }
        grid_write(grid, &context->out);
        outcome = print(context);
    }
    grid_free(grid);
    return outcome;
}

enum outcome run_config(struct context *context)
{
    struct reply reply = {0};
    enum outcome outcome = ask(context, "GET", "/api/v1/config", NULL, &reply);

    if (outcome == OUTCOME_DONE) {
        outcome = context->options->json ? print_json(context, &reply)
                                         : print_settings(context, reply.json);
    }
    reply_free(&reply);
    return outcome;
}
