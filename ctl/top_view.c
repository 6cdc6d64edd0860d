/* SPDX-License-Identifier: MIT */
#include "ctl/top_view.h"

#include "core/base/macros.h"
#include "ctl/api/call.h"
#include "ctl/print/text.h"
#include "ctl/print/screen.h"
#include "ctl/print/units.h"

#include <string.h>

// Lines above and below the queues.
#define HEAD_LINES 5
#define FOOT_LINES 1
#define NAME_LEAST 12

struct view {
    struct text *out;
    const struct top_state *state;
    size_t width;
    bool colour;
    unsigned drop; // columns with this number or a higher one are left out
    size_t name_width;
};

size_t top_view_rows(size_t height)
{
    return height > HEAD_LINES + FOOT_LINES + 1 ? height - HEAD_LINES - FOOT_LINES : 1;
}

// Adds a line cut to the width, and frees it. Names in it are already escaped.
static void add_line(const struct view *view, enum style style, struct text *line)
{
    struct slice all = text_slice(line);

    style_add(view->out, style, view->colour, slice_of(all.ptr, text_fit(all, view->width)));
    text_put_char(view->out, '\n');
    text_free(line);
}

//
// The head
//

static void add_title(const struct view *view)
{
    const json_t *process = view->state->process;
    struct text line = {0};

    text_put(&line, "tandem ");
    text_add_escaped(&line, field_text(process, "version"), false);
    text_put(&line, " on ");
    text_add_escaped(&line, field_text(process, "host"), false);
    text_format(&line, ", up %s", units_seconds(field_number(process, "uptime_seconds")).text);
    text_put(&line, field_true(process, "draining") ? ", DRAINING" : "");
    text_put(&line, view->state->held ? ", HELD" : "");
    add_line(view, STYLE_STRONG, &line);
}

static void add_jobs(const struct view *view)
{
    const json_t *process = view->state->process;
    struct text line = {0};

    text_put(&line, "jobs ");
    units_add_short(&line, field_count(process, "jobs.ready"));
    text_put(&line, " ready, ");
    units_add_short(&line, field_count(process, "jobs.reserved"));
    text_put(&line, " reserved, ");
    units_add_short(&line, field_count(process, "jobs.buried"));
    text_put(&line, " buried, ");
    units_add_short(&line, field_count(process, "jobs.delayed"));
    text_put(&line, " delayed");
    add_line(view, STYLE_PLAIN, &line);
}

static void add_rate(struct text *line, double rate)
{
    if (rate < 0) {
        text_put_char(line, '-');
    } else if (rate > 0 && rate < 9.95) {
        text_format(line, "%.1f", rate);
    } else {
        units_add_short(line, (uint64_t)(rate + 0.5));
    }
}

static void add_rates(const struct view *view)
{
    const json_t *process = view->state->process;
    struct text line = {0};

    text_put(&line, "in ");
    add_rate(&line, top_state_rate(view->state, "", TOP_IN));
    text_put(&line, "/s, out ");
    add_rate(&line, top_state_rate(view->state, "", TOP_OUT));
    text_put(&line, "/s; ");
    units_add_short(&line, field_count(process, "workers"));
    text_put(&line, " workers, ");
    units_add_short(&line, field_count(process, "waiting"));
    text_put(&line, " wait; memory ");
    units_add_bytes(&line, field_count(process, "memory.used_bytes"));
    add_line(view, STYLE_PLAIN, &line);
}

static void add_state(const struct view *view)
{
    const struct top_state *state = view->state;
    struct text line = {0};

    if (state->typing || (state->search.len > 0 && state->trouble.len == 0)) {
        text_put(&line, "search: ");
        text_add_escaped(&line, text_slice(&state->search), false);
        text_put(&line, state->typing ? "_" : "");
        add_line(view, state->typing ? STYLE_STRONG : STYLE_ODD, &line);
    } else {
        text_add_escaped(&line, text_slice(&state->trouble), false);
        add_line(view, STYLE_BAD, &line);
    }
}

//
// The queues
//

static bool is_shown(const struct view *view, const struct top_column *column)
{
    return column->drop < view->drop;
}

// Leaves out columns until the name has enough width.
static void choose_columns(struct view *view)
{
    for (view->drop = (unsigned)top_column_count; view->drop > 0; view->drop--) {
        size_t others = 0;

        for (size_t i = 0; i < top_column_count; i++) {
            others += is_shown(view, &top_columns[i]) && top_columns[i].width
                          ? top_columns[i].width + 1
                          : 0;
        }
        if (view->width >= others + NAME_LEAST || view->drop == 1) {
            view->name_width = view->width > others ? view->width - others : 1;
            return;
        }
    }
}

// Adds a cell: names aligned left, numbers right, with a blank before each but the first.
static void add_cell(const struct view *view, const struct top_column *column, enum style style,
                     struct slice what)
{
    size_t width = column->width ? column->width : view->name_width;
    struct slice kept = slice_of(what.ptr, text_fit(what, width));
    size_t pad = width - text_width(kept);

    if (column->width) {
        text_fill(view->out, ' ', pad + 1);
    }
    style_add(view->out, style, view->colour, kept);
    if (!column->width) {
        text_fill(view->out, ' ', pad);
    }
}

static void add_titles(const struct view *view)
{
    for (size_t i = 0; i < top_column_count; i++) {
        const struct top_column *column = &top_columns[i];
        struct text title = {0};

        if (is_shown(view, column)) {
            text_put(&title, column->title);
            if (i == view->state->column) {
                bool falls = column->largest != view->state->reversed;

                // If the title fills its column, its last character gives way to the sort mark.
                text_cut(&title, column->width == title.len ? title.len - 1 : title.len);
                text_put_char(&title, falls ? 'v' : '^');
            }
            add_cell(view, column, i == view->state->column ? STYLE_MARK : STYLE_STRONG,
                     text_slice(&title));
            text_free(&title);
        }
    }
    text_put_char(view->out, '\n');
}

static enum style style_of(const struct top_column *column, const json_t *queue)
{
    if (column->kind == TOP_NAME) {
        return field_true(queue, "paused") ? STYLE_ODD : STYLE_PLAIN;
    }
    if (column->kind != TOP_COUNT) {
        return STYLE_PLAIN;
    }
    if (field_count(queue, column->field) == 0) {
        return STYLE_FAINT;
    }
    return strcmp(column->field, "jobs.buried") == 0 ? STYLE_BAD : STYLE_PLAIN;
}

static void add_value(const struct view *view, const struct top_column *column, const json_t *queue,
                      struct text *cell)
{
    const char *path = json_string_value(json_object_get(queue, "path"));

    switch (column->kind) {
    case TOP_NAME:
        text_add_escaped(cell, field_text(queue, column->field), false);
        text_put(cell, field_true(queue, "paused") ? " (paused)" : "");
        return;
    case TOP_COUNT:
        units_add_short(cell, field_count(queue, column->field));
        return;
    case TOP_RATE:
        add_rate(cell, top_state_rate(view->state, path ? path : "?", column->field));
        return;
    case TOP_SECONDS:
        if (field_is_set(queue, column->field)) {
            units_add_seconds(cell, field_number(queue, column->field));
        } else {
            text_put_char(cell, '-');
        }
        return;
    }
    UNREACHABLE();
}

static void add_queue(const struct view *view, const json_t *queue)
{
    for (size_t i = 0; i < top_column_count; i++) {
        const struct top_column *column = &top_columns[i];
        struct text cell = {0};

        if (is_shown(view, column)) {
            add_value(view, column, queue, &cell);
            add_cell(view, column, style_of(column, queue), text_slice(&cell));
            text_free(&cell);
        }
    }
    text_put_char(view->out, '\n');
}

static void add_queues(const struct view *view, size_t rows)
{
    const json_t *queues = field_get(view->state->queues, "queues");
    size_t count = json_array_size(queues);
    size_t first = view->state->offset;

    for (size_t i = first; i < first + rows; i++) {
        if (i < count) {
            add_queue(view, json_array_get(queues, i));
        } else {
            text_put_char(view->out, '\n');
        }
    }
}

//
// The whole view
//

static void add_help(const struct view *view, size_t rows)
{
    static const char *const lines[] = {
        "q        quit",
        "< >      sort by the column before, or behind",
        "r        the other way round",
        "/        search by a part of the name; Enter ends, Escape forgets",
        "up down  scroll, also by pages",
        "space    hold the picture, and go on",
        "+ -      look more often, or less",
        "h        this, and back",
    };

    for (size_t i = 0; i < rows; i++) {
        struct text line = {0};

        text_put(&line, i < sizeof lines / sizeof *lines ? lines[i] : "");
        add_line(view, STYLE_PLAIN, &line);
    }
}

static void add_foot(const struct view *view)
{
    struct text line = {0};

    text_format(&line, "q quit  h help  < > sort  r reverse  / search  %s queues",
                units_count(field_count(view->state->queues, "matched")).text);
    add_line(view, STYLE_FAINT, &line);
}

// On a terminal with too few lines, only the first lines are shown.
static void cut_lines(struct text *out, size_t start, size_t height)
{
    const char *at = out->data + start;

    while (height > 0 && (at = memchr(at, '\n', out->len - (size_t)(at - out->data)))) {
        at++;
        height--;
    }
    if (at) {
        text_cut(out, (size_t)(at - out->data));
    }
}

void top_view(struct text *out, const struct top_state *state, size_t width, size_t height,
              bool colour)
{
    struct view view = {.out = out, .state = state, .width = width, .colour = colour};
    size_t start = out->len;

    choose_columns(&view);
    add_title(&view);
    add_jobs(&view);
    add_rates(&view);
    add_state(&view);
    if (state->help) {
        text_put_char(out, '\n');
        add_help(&view, top_view_rows(height));
    } else {
        add_titles(&view);
        add_queues(&view, top_view_rows(height));
    }
    add_foot(&view);
    cut_lines(out, start, height);
}
