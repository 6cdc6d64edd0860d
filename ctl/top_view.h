/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_TOP_VIEW_H
#define TANDEM_CTL_TOP_VIEW_H

// The state of the live view, and its text for a terminal of any size.

#include "ctl/command.h"

#include <stdbool.h>
#include <stddef.h>

// The latest answers of the broker, rates since the previous ones, and the settings that the user
// has changed.
struct top_state {
    json_t *process;          // NULL: not received yet
    json_t *queues;           // an answer of /api/v1/queues; NULL: not received yet
    json_t *before;           // totals at `before_at`, by path of a queue; "": all
    json_t *now;              // the same at `now_at`
    double before_at, now_at; // seconds of any clock

    size_t column; // index in top_columns to sort by
    bool reversed;
    size_t offset; // number of queues above the first visible one
    bool paused;   // no updates
    bool help;
    bool typing; // the user is entering a search
    struct text search;
    struct text trouble; // why the last request failed; empty: it succeeded
};

// Totals from which rates are computed.
#define TOP_IN "submitted"
#define TOP_OUT "completed"

struct top_column {
    const char *title;
    size_t width;     // 0: the remaining width
    unsigned drop;    // columns with the highest number are left out first
    const char *sort; // sort key of the API
    bool largest;     // sorts in descending order
    enum { TOP_NAME, TOP_COUNT, TOP_RATE, TOP_SECONDS } kind;
    const char *field; // of a queue
};
extern const struct top_column top_columns[];
extern const size_t top_column_count;

// Stores new answers, received at time `at`, and takes ownership of them.
void top_state_take(struct top_state *state, json_t *process, json_t *queues, double at);
// Rate per second, negative if unknown. `path` names a queue; "" means all queues.
double top_state_rate(const struct top_state *state, const char *path, const char *total);
void top_state_free(struct top_state *state);

// The number of queues that fit.
size_t top_view_rows(size_t height);

// Adds `height` lines of at most `width` columns.
void top_view(struct text *out, const struct top_state *state, size_t width, size_t height,
              bool colour);

#endif
