/* SPDX-License-Identifier: MIT */
#include "ctl/top_view.h"

#include "core/base/macros.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"

#include <string.h>

const struct top_column top_columns[] = {
    {"QUEUE", 0, 0, "name", false, TOP_NAME, "name"},
    {"READY", 7, 1, "ready", true, TOP_COUNT, "jobs.ready"},
    {"RSVD", 6, 2, "reserved", true, TOP_COUNT, "jobs.reserved"},
    {"DELAY", 6, 8, "delayed", true, TOP_COUNT, "jobs.delayed"},
    {"BURIED", 6, 3, "buried", true, TOP_COUNT, "jobs.buried"},
    {"IN/s", 6, 6, "submitted", true, TOP_RATE, TOP_IN},
    {"OUT/s", 6, 5, "completed", true, TOP_RATE, TOP_OUT},
    {"OLDEST", 8, 4, "oldest_ready_seconds", true, TOP_SECONDS, "oldest_ready_seconds"},
    {"WORK", 5, 7, "workers", true, TOP_COUNT, "workers"},
    {"WAIT", 5, 9, "waiting", true, TOP_COUNT, "waiting"},
};
const size_t top_column_count = sizeof top_columns / sizeof *top_columns;

static void note_totals(json_t *totals, const char *path, const json_t *from)
{
    json_t *two = need(json_pack("{s:I, s:I}", TOP_IN, (json_int_t)field_count(from, TOP_IN),
                                 TOP_OUT, (json_int_t)field_count(from, TOP_OUT)));

    if (json_object_set_new(totals, path, two) != 0) {
        (void)need(NULL);
    }
}

void top_state_take(struct top_state *state, json_t *process, json_t *queues, double at)
{
    json_t *totals = need(json_object());
    const json_t *list = field_get(queues, "queues");

    json_decref(state->process);
    json_decref(state->queues);
    json_decref(state->before);
    state->process = process;
    state->queues = queues;
    state->before = state->now;
    state->before_at = state->now_at;
    note_totals(totals, "", field_get(process, "totals"));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *queue = json_array_get(list, i);
        const char *path = json_string_value(json_object_get(queue, "path"));

        if (path) {
            note_totals(totals, path, field_get(queue, "totals"));
        }
    }
    state->now = totals;
    state->now_at = at;
    text_cut(&state->trouble, 0);
}

double top_state_rate(const struct top_state *state, const char *path, const char *total)
{
    const json_t *before = json_object_get(state->before, path);
    const json_t *now = json_object_get(state->now, path);
    uint64_t then = field_count(before, total);
    uint64_t later = field_count(now, total);

    // The queue is new, or was removed and created again.
    if (!before || !now || later < then || state->now_at <= state->before_at) {
        return -1;
    }
    return (double)(later - then) / (state->now_at - state->before_at);
}

void top_state_free(struct top_state *state)
{
    json_decref(state->process);
    json_decref(state->queues);
    json_decref(state->before);
    json_decref(state->now);
    text_free(&state->search);
    text_free(&state->trouble);
}

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
static void add_view_line(const struct view *view, enum style style, struct text *line)
{
    struct slice all = text_slice(line);

    style_add(view->out, style, view->colour, slice_of(all.ptr, text_fit(all, view->width)));
    text_put_char(view->out, '\n');
    text_free(line);
}

//
// The head
//

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

// Adds the broker, the number of jobs, and rates.
static void add_head(const struct view *view)
{
    const json_t *process = view->state->process;
    struct text line = {0};

    text_put(&line, "tandem ");
    text_add_escaped(&line, field_text(process, "version"), false);
    text_put(&line, " on ");
    text_add_escaped(&line, field_text(process, "host"), false);
    text_format(&line, ", up %s", units_seconds(field_number(process, "uptime_seconds")).text);
    text_put(&line, field_true(process, "draining") ? ", DRAINING" : "");
    text_put(&line, view->state->paused ? ", PAUSED" : "");
    add_view_line(view, STYLE_STRONG, &line);

    text_put(&line, "jobs ");
    units_add_short(&line, field_count(process, "jobs.ready"));
    text_put(&line, " ready, ");
    units_add_short(&line, field_count(process, "jobs.reserved"));
    text_put(&line, " reserved, ");
    units_add_short(&line, field_count(process, "jobs.buried"));
    text_put(&line, " buried, ");
    units_add_short(&line, field_count(process, "jobs.delayed"));
    text_put(&line, " delayed");
    add_view_line(view, STYLE_PLAIN, &line);

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
    add_view_line(view, STYLE_PLAIN, &line);
}

static void add_search_or_trouble(const struct view *view)
{
    const struct top_state *state = view->state;
    struct text line = {0};

    if (state->typing || (state->search.len > 0 && state->trouble.len == 0)) {
        text_put(&line, "search: ");
        text_add_escaped(&line, text_slice(&state->search), false);
        text_put(&line, state->typing ? "_" : "");
        add_view_line(view, state->typing ? STYLE_STRONG : STYLE_ODD, &line);
    } else {
        text_add_escaped(&line, text_slice(&state->trouble), false);
        add_view_line(view, STYLE_BAD, &line);
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
static void add_view_cell(const struct view *view, const struct top_column *column,
                          enum style style, struct slice what)
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

static void add_column_titles(const struct view *view)
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
            add_view_cell(view, column, i == view->state->column ? STYLE_MARK : STYLE_STRONG,
                          text_slice(&title));
            text_free(&title);
        }
    }
    text_put_char(view->out, '\n');
}

static enum style cell_style(const struct top_column *column, const json_t *queue)
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

static void add_cell_value(const struct view *view, const struct top_column *column,
                           const json_t *queue, struct text *cell)
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

static void add_view_queue(const struct view *view, const json_t *queue)
{
    for (size_t i = 0; i < top_column_count; i++) {
        const struct top_column *column = &top_columns[i];
        struct text cell = {0};

        if (is_shown(view, column)) {
            add_cell_value(view, column, queue, &cell);
            add_view_cell(view, column, cell_style(column, queue), text_slice(&cell));
            text_free(&cell);
        }
    }
    text_put_char(view->out, '\n');
}

static void add_view_queues(const struct view *view, size_t rows)
{
    const json_t *queues = field_get(view->state->queues, "queues");
    size_t count = json_array_size(queues);
    size_t first = view->state->offset;

    for (size_t i = first; i < first + rows; i++) {
        if (i < count) {
            add_view_queue(view, json_array_get(queues, i));
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
        "< >      sort by the previous or next column",
        "r        reverse the order",
        "/        search in names; Enter keeps the search, Escape clears it",
        "up down  scroll; also Page Up, Page Down, Home, End",
        "space    pause or resume updates",
        "+ -      update more or less often",
        "h        show or hide this help",
    };

    for (size_t i = 0; i < rows; i++) {
        struct text line = {0};

        text_put(&line, i < sizeof lines / sizeof *lines ? lines[i] : "");
        add_view_line(view, STYLE_PLAIN, &line);
    }
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
    struct text foot = {0};

    choose_columns(&view);
    add_head(&view);
    add_search_or_trouble(&view);
    if (state->help) {
        text_put_char(out, '\n');
        add_help(&view, top_view_rows(height));
    } else {
        add_column_titles(&view);
        add_view_queues(&view, top_view_rows(height));
    }
    text_format(&foot, "q quit  h help  < > sort  r reverse  / search  %s queues",
                units_count(field_count(state->queues, "matched")).text);
    add_view_line(&view, STYLE_FAINT, &foot);
    cut_lines(out, start, height);
}
