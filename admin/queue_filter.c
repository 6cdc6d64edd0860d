/* SPDX-License-Identifier: MIT */
#include "admin/queue_filter.h"

#include "core/base/glob.h"

#include "admin/input.h"

#include <string.h>

//
// Which are shown
//

static bool has_ready(const struct queue_info *info)
{
    return info->jobs[JOB_READY] > 0;
}

static bool has_delayed(const struct queue_info *info)
{
    return info->jobs[JOB_DELAYED] > 0;
}

static bool has_reserved(const struct queue_info *info)
{
    return info->jobs[JOB_RESERVED] > 0;
}

static bool has_buried(const struct queue_info *info)
{
    return info->jobs[JOB_BURIED] > 0;
}

static bool is_paused(const struct queue_info *info)
{
    return info->pause_remaining_for > 0;
}

static bool has_waiting(const struct queue_info *info)
{
    return info->waiting > 0;
}

static bool is_worked(const struct queue_info *info)
{
    return info->subscriptions > 0;
}

static bool is_unworked(const struct queue_info *info)
{
    return info->jobs[JOB_READY] > 0 && info->subscriptions == 0;
}

static const struct {
    const char *word;
    bool (*fits)(const struct queue_info *info);
} words[] = {
    {"ready", has_ready},   {"delayed", has_delayed},  {"reserved", has_reserved},
    {"buried", has_buried}, {"paused", is_paused},     {"waiting", has_waiting},
    {"worked", is_worked},  {"unworked", is_unworked},
};
#define WORDS (sizeof words / sizeof *words)
// Room for all of them, with commas.
#define WITH_MAX 80

static unsigned word_bit(struct slice text)
{
    for (unsigned i = 0; i < WORDS; i++) {
        if (slice_equal(text, slice_str(words[i].word))) {
            return 1u << i;
        }
    }
    return 0;
}

static void read_with(struct queue_filter *filter, struct input *input)
{
    char text[WITH_MAX];
    struct slice left;
    size_t len;

    if (!input_query_text(input, "with", text, sizeof text, &len)) {
        return;
    }
    for (left = slice_of(text, len);;) {
        const char *comma = left.len ? memchr(left.ptr, ',', left.len) : NULL;
        size_t word_len = comma ? (size_t)(comma - left.ptr) : left.len;
        unsigned bit = word_bit(slice_of(left.ptr, word_len));

        if (!bit) {
            input_blame(input, 400, "with: %.*s is not a known condition", (int)word_len, left.ptr);
            return;
        }
        filter->with |= bit;
        if (!comma) {
            return;
        }
        left = slice_from(left, word_len + 1);
    }
}

void queue_filter_read(struct queue_filter *filter, struct input *input)
{
    (void)input_query_text(input, "search", filter->search, sizeof filter->search,
                           &filter->search_len);
    filter->has_glob =
        input_query_text(input, "name", filter->glob, sizeof filter->glob, &filter->glob_len);
    if (filter->has_glob && !glob_valid(slice_of(filter->glob, filter->glob_len))) {
        input_blame(input, 400, "name is not a valid glob");
    }
    read_with(filter, input);
}

// Whether the text has that part in it.
static bool has_part(struct slice text, struct slice part)
{
    const char *at;

    if (part.len == 0) {
        return true;
    }
    while (part.len <= text.len) {
        at = memchr(text.ptr, part.ptr[0], text.len - part.len + 1);
        if (!at) {
            return false;
        }
        if (memcmp(at, part.ptr, part.len) == 0) {
            return true;
        }
        text = slice_from(text, (size_t)(at - text.ptr) + 1);
    }
    return false;
}

bool queue_fits(const struct queue_filter *filter, const struct queue *queue,
                const struct queue_info *info)
{
    struct slice name = queue_name(queue);

    for (unsigned i = 0; i < WORDS; i++) {
        if ((filter->with & (1u << i)) && !words[i].fits(info)) {
            return false;
        }
    }
    return has_part(name, slice_of(filter->search, filter->search_len)) &&
           (!filter->has_glob || glob_matches(slice_of(filter->glob, filter->glob_len), name));
}

//
// How they are sorted
//

struct queue_column {
    const char *name;
    uint64_t (*value)(const struct queue_info *info, const struct counts *counts);
};

#define COLUMN(name, expression)                                                                   \
    static uint64_t value_of_##name(const struct queue_info *info, const struct counts *counts)    \
    {                                                                                              \
        (void)info;                                                                                \
        (void)counts;                                                                              \
        return (expression);                                                                       \
    }

COLUMN(ready, info->jobs[JOB_READY])
COLUMN(delayed, info->jobs[JOB_DELAYED])
COLUMN(reserved, info->jobs[JOB_RESERVED])
COLUMN(buried, info->jobs[JOB_BURIED])
COLUMN(submitted, counts->submitted)
COLUMN(completed, counts->completed)
COLUMN(failed, counts->failed)
COLUMN(timeouts, counts->timeouts)
COLUMN(retries, counts->retries)
COLUMN(deleted, counts->deleted)
COLUMN(workers, info->subscriptions)
COLUMN(waiting, info->waiting)

static const struct queue_column columns[] = {
    {"name", NULL},
    {"oldest_ready_seconds", NULL},
    {"ready", value_of_ready},
    {"delayed", value_of_delayed},
    {"reserved", value_of_reserved},
    {"buried", value_of_buried},
    {"submitted", value_of_submitted},
    {"completed", value_of_completed},
    {"failed", value_of_failed},
    {"timeouts", value_of_timeouts},
    {"retries", value_of_retries},
    {"deleted", value_of_deleted},
    {"workers", value_of_workers},
    {"waiting", value_of_waiting},
};
#define COLUMNS (sizeof columns / sizeof *columns)
#define COLUMN_OLDEST (&columns[1])
// Room for the longest name, with a minus.
#define SORT_MAX 32

void queue_sort_read(struct queue_sort *sort, struct input *input)
{
    char text[SORT_MAX];
    const char *name = text;
    size_t len;

    *sort = (struct queue_sort){.column = &columns[0]};
    if (!input_query_text(input, "sort", text, sizeof text, &len)) {
        return;
    }
    sort->largest_first = text[0] == '-';
    name += sort->largest_first;
    for (size_t i = 0; i < COLUMNS; i++) {
        if (strcmp(name, columns[i].name) == 0) {
            sort->column = &columns[i];
            sort->dear = sort->column == COLUMN_OLDEST;
            return;
        }
    }
    input_blame(input, 400, "sort is not a known column");
}

// Ages are told in steps of 2^20 ns, and a moment is the same however old it is by now.
#define STEP_BITS 20

// The longer ago the moment, the higher; none ready is lowest.
static uint64_t oldest_value(const struct broker *broker, const struct queue *queue)
{
    nsec_t age_for;

    if (!queue_oldest_ready(broker, queue, &age_for)) {
        return 0;
    }
    return (uint64_t)INT64_MAX -
           (uint64_t)((broker_now(broker).mono >> STEP_BITS) - (age_for >> STEP_BITS));
}

uint64_t queue_sort_value(const struct queue_sort *sort, const struct broker *broker,
                          const struct queue *queue, const struct queue_info *info)
{
    struct counts counts;

    if (sort->dear) {
        return oldest_value(broker, queue);
    }
    if (!sort->column->value) {
        return 0;
    }
    queue_counts(queue, &counts);
    return sort->column->value(info, &counts);
}
