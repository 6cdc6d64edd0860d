/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_TOP_STATE_H
#define TANDEM_CTL_TOP_STATE_H

// What a live picture shows: the last answers of the broker, rates since those before, and how a
// person wants to see them.

#include "ctl/command.h"

#include <stdbool.h>
#include <stddef.h>

struct top_state {
    json_t *process;          // NULL: none yet
    json_t *queues;           // an answer of /api/v1/queues; NULL: none yet
    json_t *before;           // totals of queues by path, and of all under "", at before_at
    json_t *now;              // the same at now_at
    double before_at, now_at; // seconds of any clock

    size_t column; // to sort by, of top_columns
    bool reversed;
    size_t offset; // queues that are scrolled past
    bool held;     // the picture is not made anew
    bool help;
    bool typing; // a search is being written
    struct text search;
    struct text trouble; // why there is no newer answer; empty: there is
};

// How often something has happened: what it counts, as a field of totals.
#define TOP_IN "submitted"
#define TOP_OUT "completed"

struct top_column {
    const char *title;
    size_t width;     // 0: what the others leave
    unsigned drop;    // columns with the highest number go first where there is no space
    const char *sort; // what the broker sorts by
    bool largest;     // first
    enum { TOP_NAME, TOP_COUNT, TOP_RATE, TOP_SECONDS } kind;
    const char *field; // of a queue
};
extern const struct top_column top_columns[];
extern const size_t top_column_count;

// Takes the answers over, which were given at that moment.
void top_state_take(struct top_state *state, json_t *process, json_t *queues, double at);
// Rates a second; below 0: not known yet. `path` is a queue's; "" for all.
double top_state_rate(const struct top_state *state, const char *path, const char *total);
void top_state_free(struct top_state *state);

#endif
