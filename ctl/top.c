/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "ctl/print/ctl_signals.h"
#include "ctl/print/terminal.h"
#include "ctl/top_view.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NO_TERMINAL "top needs a terminal; use queues to print the table once"

#define INTERVAL_SECONDS 2.0
#define INTERVAL_LEAST 0.1
#define INTERVAL_MOST 60.0
// The longest wait for a key in seconds; the loop waits again for what is left of an interval.
#define WAIT_MOST 60.0
// The most queues to request and to scroll through.
#define QUEUES_MOST 1000
// The longest search text.
#define SEARCH_MOST 200

struct top {
    struct context *context;
    struct top_state state;
    double interval;
    size_t width, height;
    double due_at; // time of the next request
    bool ends;
};

static double top_clock(void)
{
    struct timespec moment;

    (void)clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec + (double)moment.tv_nsec / 1e9;
}

static void draw_top(const struct top *top)
{
    struct text lines = {0};

    top_view(&lines, &top->state, top->width, top->height, top->context->screen.colour);
    terminal_draw(&lines);
    text_free(&lines);
}

//
// Keys
//

// Requests new data at once, also if updates are paused.
static void update_soon(struct top *top)
{
    top->due_at = 0;
    top->state.paused = false;
}

static void sort_by_neighbour(struct top *top, size_t steps)
{
    top->state.column = (top->state.column + steps) % top_column_count;
    top->state.reversed = false;
    top->state.offset = 0;
    update_soon(top);
}

static void scroll_queues(struct top *top, long by)
{
    uint64_t count = field_count(top->state.queues, "matched");
    long at = (long)top->state.offset + by;
    long most = count < QUEUES_MOST ? (long)count - 1 : QUEUES_MOST - 1;

    at = at > most ? most : at;
    top->state.offset = at > 0 ? (size_t)at : 0;
    // The new position may need more queues.
    update_soon(top);
}

static void edit_search(struct top *top, int key)
{
    struct text *search = &top->state.search;

    if (key == '\r' || key == '\n') {
        top->state.typing = false;
    } else if (key == TERMINAL_KEY_ESCAPE) {
        top->state.typing = false;
        text_cut(search, 0);
    } else if (key == 0x7f || key == '\b') {
        size_t len = search->len;

        // Removes a whole UTF-8 sequence.
        while (len > 0 && ((unsigned char)search->data[len - 1] & 0xc0) == 0x80) {
            len--;
        }
        text_cut(search, len > 0 ? len - 1 : 0);
    } else if (key >= ' ' && key < 0x100 && search->len < SEARCH_MOST) {
        text_put_char(search, (char)key);
    }
    top->state.offset = 0;
    update_soon(top);
}

// Handles keys that scroll; false for any other key.
static bool take_scroll_key(struct top *top, int key)
{
    long page = (long)top_view_rows(top->height);

    switch (key) {
    case TERMINAL_KEY_UP:
        scroll_queues(top, -1);
        return true;
    case TERMINAL_KEY_DOWN:
        scroll_queues(top, 1);
        return true;
    case TERMINAL_KEY_PAGE_UP:
        scroll_queues(top, -page);
        return true;
    case TERMINAL_KEY_PAGE_DOWN:
        scroll_queues(top, page);
        return true;
    case TERMINAL_KEY_HOME:
        scroll_queues(top, -QUEUES_MOST);
        return true;
    case TERMINAL_KEY_END:
        scroll_queues(top, QUEUES_MOST);
        return true;
    default:
        return false;
    }
}

static void take_key(struct top *top, int key)
{
    if (take_scroll_key(top, key)) {
        return;
    }
    if (key == 'q' || key == 'Q') {
        top->ends = true;
    } else if (key == '<' || key == TERMINAL_KEY_LEFT) {
        sort_by_neighbour(top, top_column_count - 1);
    } else if (key == '>' || key == TERMINAL_KEY_RIGHT) {
        sort_by_neighbour(top, 1);
    } else if (key == 'r') {
        top->state.reversed = !top->state.reversed;
        update_soon(top);
    } else if (key == '/') {
        top->state.typing = true;
    } else if (key == ' ') {
        top->state.paused = !top->state.paused;
    } else if (key == '+' || key == '-') {
        double interval = top->interval * (key == '+' ? 0.5 : 2);

        if (interval >= INTERVAL_LEAST && interval <= INTERVAL_MOST) {
            top->interval = interval;
        }
    } else if (key == 'h' || key == '?') {
        top->state.help = !top->state.help;
    } else if (key == TERMINAL_KEY_ESCAPE) {
        top->state.help = false;
    }
}

static void take_keys(struct top *top)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char bytes[256];
    ssize_t got;

    if (poll(&input, 1, 0) <= 0) {
        return;
    }
    got = read(STDIN_FILENO, bytes, sizeof bytes);
    // The terminal is closed.
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
        top->ends = true;
        return;
    }
    for (size_t at = 0, len; got > 0 && at < (size_t)got; at += len) {
        int key = terminal_key(slice_of(bytes + at, (size_t)got - at), &len);

        if (top->state.typing) {
            edit_search(top, key);
        } else {
            take_key(top, key);
        }
    }
    draw_top(top);
}

//
// Signals
//

static void take_signals(struct top *top)
{
    signals_drain();
    if (signals_stop()) {
        top->ends = true;
    }
    if (signals_suspend()) {
        terminal_leave();
        (void)raise(SIGSTOP);
        (void)terminal_enter();
        update_soon(top);
    }
    // After SIGCONT the shell may have changed the terminal.
    if (signals_resumed()) {
        terminal_leave();
        (void)terminal_enter();
        update_soon(top);
    }
    if (signals_resized()) {
        terminal_size(&top->width, &top->height);
        update_soon(top);
        draw_top(top);
    }
}

// Handles signals and keys; called also while a request waits for its answer.
static bool take_keys_and_signals(void *context)
{
    struct top *top = context;

    take_signals(top);
    if (!top->ends) {
        take_keys(top);
    }
    return top->ends;
}

//
// The broker
//

static enum outcome fetch_queues(struct top *top, struct reply *reply)
{
    const struct top_column *column = &top_columns[top->state.column];
    const struct options *options = top->context->options;
    size_t wanted = top->state.offset + top_view_rows(top->height);
    struct text sort = {0};
    struct text path = {0};
    enum outcome outcome;

    text_put(&sort, column->largest != top->state.reversed ? "-" : "");
    text_put(&sort, column->sort);
    text_put(&path, "/api/v1/queues");
    path_add_text(&path, "sort", text_string(&sort));
    path_add_number(&path, "limit", wanted < QUEUES_MOST ? wanted : QUEUES_MOST);
    path_add_text(&path, "search", top->state.search.len ? text_string(&top->state.search) : NULL);
    path_add_text(&path, "name", options->name);
    path_add_text(&path, "with", options->with);
    outcome = command_ask(top->context, "GET", text_string(&path), NULL, reply);
    text_free(&sort);
    text_free(&path);
    return outcome;
}

static enum outcome fetch_top(struct top *top)
{
    struct reply process = {0};
    struct reply queues = {0};
    enum outcome outcome;

    // Set first, so that a key pressed during the requests can ask for an earlier update.
    top->due_at = top_clock() + top->interval;
    outcome = command_ask(top->context, "GET", "/api/v1/process", NULL, &process);
    if (outcome == OUTCOME_DONE) {
        outcome = fetch_queues(top, &queues);
    }
    if (outcome == OUTCOME_DONE) {
        top_state_take(&top->state, json_incref(process.json), json_incref(queues.json),
                       top_clock());
    } else if (outcome != OUTCOME_INTERRUPTED) {
        text_cut(&top->state.trouble, 0);
        text_put(&top->state.trouble, top->context->problem->why.text);
    }
    reply_free(&process);
    reply_free(&queues);
    return outcome;
}

//
// The loop
//

static void run_loop(struct top *top)
{
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = signals_fd(), .events = POLLIN}};

    while (!top->ends) {
        double left;

        if (!top->state.paused && top_clock() >= top->due_at) {
            (void)fetch_top(top);
            draw_top(top);
        }
        if (!top->ends) {
            left = top->state.paused ? WAIT_MOST : fmin(top->due_at - top_clock(), WAIT_MOST);
            (void)poll(fds, 2, left > 0 ? (int)(left * 1000) + 1 : 0);
            (void)take_keys_and_signals(top);
        }
    }
}

// Sets the column from --sort, which takes the sort keys of the API.
static void choose_sort_column(struct top *top)
{
    const char *sort = top->context->options->sort;
    bool largest = sort && *sort == '-';

    top->state.column = 1;
    for (size_t i = 0; sort && i < top_column_count; i++) {
        if (strcmp(top_columns[i].sort, sort + largest) == 0) {
            top->state.column = i;
            top->state.reversed = largest != top_columns[i].largest;
        }
    }
}

static enum outcome show_top(struct top *top)
{
    struct context *context = top->context;
    enum outcome outcome;
    int stop;

    // If the first request fails, the terminal stays unchanged.
    outcome = fetch_top(top);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    signals_catch_stops();
    signals_catch_terminal();
    if (!terminal_enter()) {
        return problem_set(context->problem, OUTCOME_USAGE, NO_TERMINAL);
    }
    client_watch(context->client, (const int[]){STDIN_FILENO, signals_fd()}, take_keys_and_signals,
                 top);
    draw_top(top);
    run_loop(top);
    client_watch(context->client, NULL, NULL, NULL);
    terminal_leave();
    stop = signals_stop();
    context->problem->why.text[0] = '\0';
    return stop && stop != SIGINT ? OUTCOME_INTERRUPTED : OUTCOME_DONE;
}

enum outcome run_top(struct context *context)
{
    struct top top = {.context = context, .interval = context->options->interval};
    enum outcome outcome;

    if (!context->screen.asks || !context->screen.terminal) {
        return problem_set(context->problem, OUTCOME_USAGE, NO_TERMINAL);
    }
    if (top.interval < 0) {
        top.interval = INTERVAL_SECONDS;
    }
    top.interval = top.interval < INTERVAL_LEAST ? INTERVAL_LEAST : top.interval;
    if (context->options->search) {
        text_put(&top.state.search, context->options->search);
    }
    choose_sort_column(&top);
    terminal_size(&top.width, &top.height);
    outcome = show_top(&top);
    top_state_free(&top.state);
    return outcome;
}
