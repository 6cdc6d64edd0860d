/* SPDX-License-Identifier: MIT */
#include "ctl/listing.h"

#include "ctl/print/need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The most items per page of the API.
#define PAGE_MAX 1000

// A list that is being printed.
struct list_run {
    struct context *context;
    const struct api_list *listing;
    uint64_t limit; // 0: no limit
    uint64_t shown;
    struct grid *grid;
    struct reply reply;
    bool last; // the current page is the last one to print
};

static const json_t *page_items(const struct list_run *run)
{
    return field_get(run->reply.json, run->listing->key);
}

static enum outcome fetch_page(struct list_run *run)
{
    uint64_t left = run->limit ? run->limit - run->shown : PAGE_MAX;
    struct text cursor = {0};
    struct text path = {0};
    enum outcome outcome;

    text_add(&cursor, field_text(run->reply.json, "next"));
    text_put(&path, run->listing->path);
    path_add_number(&path, "limit", left < PAGE_MAX ? left : PAGE_MAX);
    path_add_text(&path, "cursor", cursor.len ? text_string(&cursor) : NULL);
    outcome = command_ask(run->context, "GET", text_string(&path), NULL, &run->reply);
    text_free(&cursor);
    text_free(&path);
    if (outcome == OUTCOME_DONE) {
        run->shown += json_array_size(page_items(run));
        run->last = field_text(run->reply.json, "next").len == 0 ||
                    (run->limit && run->shown >= run->limit);
    }
    return outcome;
}

//
// Tables
//

static enum outcome print_rows(struct list_run *run)
{
    const json_t *items = page_items(run);

    for (size_t i = 0; i < json_array_size(items); i++) {
        run->listing->row(run->grid, json_array_get(items, i));
    }
    grid_write(run->grid, &run->context->out);
    return command_print(run->context);
}

static enum outcome print_table(struct list_run *run)
{
    const struct screen *screen = &run->context->screen;
    enum outcome outcome = OUTCOME_DONE;

    if (run->shown == 0) {
        (void)fprintf(stderr, "%s\n", run->listing->empty);
        return OUTCOME_DONE;
    }
    run->grid = grid_new(run->listing->columns, screen->width, screen->colour);
    outcome = print_rows(run);
    while (outcome == OUTCOME_DONE && !run->last) {
        outcome = fetch_page(run);
        outcome = outcome == OUTCOME_DONE ? print_rows(run) : outcome;
    }
    if (outcome == OUTCOME_DONE && field_is_set(run->reply.json, "next")) {
        (void)fprintf(stderr, "There are more: --limit sets how many to show; 0 shows all.\n");
    }
    grid_free(run->grid);
    return outcome;
}

//
// JSON
//

static void add_item_json(struct text *to, const json_t *json)
{
    char *text = need(json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY));

    text_put(to, text);
    free(text);
}

static void add_items(struct list_run *run, bool first)
{
    const json_t *items = page_items(run);

    for (size_t i = 0; i < json_array_size(items); i++) {
        text_put(&run->context->out, first && i == 0 ? "" : ",");
        add_item_json(&run->context->out, json_array_get(items, i));
    }
}

// Adds the other members of the last page.
static void add_rest(struct list_run *run)
{
    struct text *out = &run->context->out;
    const char *key;
    json_t *value;

    json_object_foreach(run->reply.json, key, value)
    {
        if (strcmp(key, run->listing->key) != 0) {
            text_format(out, ",\"%s\":", key);
            add_item_json(out, value);
        }
    }
}

// Joins all pages into one document.
static enum outcome print_joined(struct list_run *run)
{
    struct text *out = &run->context->out;
    enum outcome outcome = OUTCOME_DONE;

    text_format(out, "{\"%s\":[", run->listing->key);
    add_items(run, true);
    while (outcome == OUTCOME_DONE && !run->last) {
        outcome = command_print(run->context);
        outcome = outcome == OUTCOME_DONE ? fetch_page(run) : outcome;
        if (outcome == OUTCOME_DONE) {
            add_items(run, false);
        }
    }
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    text_put_char(out, ']');
    add_rest(run);
    text_put(out, "}\n");
    return command_print(run->context);
}

enum outcome listing_print(struct context *context, const struct api_list *listing)
{
    uint64_t limit = context->options->limit;
    struct list_run run = {.context = context,
                           .listing = listing,
                           .limit = limit == NO_COUNT ? listing->limit : limit};
    enum outcome outcome = fetch_page(&run);

    if (outcome == OUTCOME_DONE && !context->options->json) {
        outcome = print_table(&run);
    } else if (outcome == OUTCOME_DONE) {
        outcome = run.last ? command_print_json(context, &run.reply) : print_joined(&run);
    }
    reply_free(&run.reply);
    return outcome;
}
