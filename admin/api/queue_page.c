/* SPDX-License-Identifier: MIT */
#include "admin/api/queue_page.h"

#include "core/base/glob.h"
#include "core/base/memory.h"
#include "http1/request_target.h"

#include "admin/api/api_input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Queues that a slice visits, with a cheap and with an expensive column.
#define VISITED_AT_ONCE ((size_t)2 * BROKER_SLICE)
#define EXPENSIVE_AT_ONCE ((size_t)BROKER_SLICE / 4)

//
// Filter
//

#define CONDITION(name, expression)                                                                \
    static bool queue_is_##name(const struct queue_info *info)                                     \
    {                                                                                              \
        return (expression);                                                                       \
    }

CONDITION(ready, info->jobs[JOB_READY] > 0)
CONDITION(delayed, info->jobs[JOB_DELAYED] > 0)
CONDITION(reserved, info->jobs[JOB_RESERVED] > 0)
CONDITION(buried, info->jobs[JOB_BURIED] > 0)
CONDITION(paused, info->pause_remaining_for > 0)
CONDITION(waiting, info->waiting > 0)
CONDITION(worked, info->subscriptions > 0)
CONDITION(unworked, info->jobs[JOB_READY] > 0 && info->subscriptions == 0)

static const struct {
    const char *name;
    bool (*holds)(const struct queue_info *info);
} conditions[] = {
    {"ready", queue_is_ready},   {"delayed", queue_is_delayed},   {"reserved", queue_is_reserved},
    {"buried", queue_is_buried}, {"paused", queue_is_paused},     {"waiting", queue_is_waiting},
    {"worked", queue_is_worked}, {"unworked", queue_is_unworked},
};
#define CONDITIONS (sizeof conditions / sizeof *conditions)
// Room for all conditions, with commas.
#define WITH_MAX 80

static void read_conditions(struct queue_filter *filter, struct input *input)
{
    char text[WITH_MAX];
    struct slice left;
    size_t len;

    if (!input_query_text(input, "with", text, sizeof text, &len)) {
        return;
    }
    for (left = slice_of(text, len);;) {
        const char *comma = left.len ? memchr(left.ptr, ',', left.len) : NULL;
        size_t name_len = comma ? (size_t)(comma - left.ptr) : left.len;
        unsigned i = 0;

        while (i < CONDITIONS &&
               !slice_equal(slice_of(left.ptr, name_len), slice_str(conditions[i].name))) {
            i++;
        }
        if (i == CONDITIONS) {
            input_blame(input, 400,
                        "with: \"%.*s\" is not a condition of queues, such as ready or paused",
                        (int)name_len, left.ptr);
            return;
        }
        filter->with |= 1u << i;
        if (!comma) {
            return;
        }
        left = slice_from(left, name_len + 1);
    }
}

static bool text_contains(struct slice text, struct slice part)
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

static bool filter_matches(const struct queue_filter *filter, const struct queue *queue,
                           const struct queue_info *info)
{
    struct slice name = queue_name(queue);

    for (unsigned i = 0; i < CONDITIONS; i++) {
        if ((filter->with & (1u << i)) && !conditions[i].holds(info)) {
            return false;
        }
    }
    return text_contains(name, slice_of(filter->search, filter->search_len)) &&
           (!filter->has_glob || glob_matches(slice_of(filter->glob, filter->glob_len), name));
}

//
// Sort order
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

// The default is the name.
static void read_sort(struct queue_sort *sort, struct input *input)
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
            sort->expensive = sort->column == COLUMN_OLDEST;
            return;
        }
    }
    input_blame(input, 400, "sort: \"%s\" is not a column of queues, such as name or ready", name);
}

// Ages are sorted as times, in steps of 2^20 ns, because a time does not change as the job waits.
#define STEP_BITS 20

// The value of the column. For ages, an earlier time has a higher value; without ready jobs, it is
// the lowest.
static uint64_t sort_value(const struct queue_sort *sort, const struct broker *broker,
                           const struct queue *queue, const struct queue_info *info)
{
    struct counts counts;
    nsec_t age_for;

    if (sort->expensive) {
        return queue_oldest_ready(broker, queue, &age_for)
                   ? (uint64_t)INT64_MAX -
                         (uint64_t)((broker_now(broker).mono >> STEP_BITS) - (age_for >> STEP_BITS))
                   : 0;
    }
    if (!sort->column->value) {
        return 0;
    }
    queue_counts(queue, &counts);
    return sort->column->value(info, &counts);
}

static bool sorts_before(bool largest_first, uint64_t value, struct slice name, uint64_t other,
                         struct slice other_name)
{
    int order = (value > other) - (value < other);

    if (order == 0) {
        order =
            memcmp(name.ptr, other_name.ptr, name.len < other_name.len ? name.len : other_name.len);
    }
    if (order == 0) {
        order = (name.len > other_name.len) - (name.len < other_name.len);
    }
    return largest_first ? order > 0 : order < 0;
}

//
// The first entries in sort order
//

static bool top_entry_before(const struct queue_top *top, const struct queue_entry *a,
                             const struct queue_entry *b)
{
    return sorts_before(top->largest_first, a->value, queue_name(a->queue), b->value,
                        queue_name(b->queue));
}

// Replaces the top of the first `count` entries: puts the entry there, or further down.
static void top_sift_down(struct queue_top *top, size_t count, const struct queue_entry *entry)
{
    size_t at = 0;

    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && top_entry_before(top, &top->all[child], &top->all[child + 1])) {
            child++;
        }
        if (!top_entry_before(top, entry, &top->all[child])) {
            break;
        }
        top->all[at] = top->all[child];
        at = child;
    }
    top->all[at] = *entry;
}

static void top_offer(struct queue_top *top, const struct queue_entry *entry)
{
    size_t at = top->count;

    if (top->count == top->room) {
        if (top_entry_before(top, entry, &top->all[0])) {
            top_sift_down(top, top->count, entry);
        }
        return;
    }
    top->count++;
    while (at > 0 && top_entry_before(top, &top->all[(at - 1) / 2], entry)) {
        top->all[at] = top->all[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    top->all[at] = *entry;
}

static void top_sort(struct queue_top *top)
{
    for (size_t count = top->count; count > 1; count--) {
        const struct queue_entry last = top->all[count - 1];

        top->all[count - 1] = top->all[0];
        top_sift_down(top, count - 1, &last);
    }
}

//
// The cursor: the value, a minus, and the name in hexadecimal digits
//

// Returns false if the digits are not valid.
static bool read_cursor_name(struct queue_cursor *cursor, struct slice digits)
{
    if (digits.len % 2 != 0 || digits.len / 2 > sizeof cursor->name) {
        return false;
    }
    for (; cursor->len < digits.len / 2; cursor->len++) {
        int high = http1_hex_value(digits.ptr[2 * cursor->len]);
        int low = http1_hex_value(digits.ptr[2 * cursor->len + 1]);

        if (high < 0 || low < 0) {
            return false;
        }
        cursor->name[cursor->len] = (char)(high << 4 | low);
    }
    return true;
}

static void read_queue_cursor(struct queue_cursor *cursor, struct input *input)
{
    char text[QUEUE_CURSOR_MAX];
    const char *minus;
    size_t len;

    if (!input_query_text(input, "cursor", text, sizeof text, &len)) {
        return;
    }
    minus = memchr(text, '-', len);
    cursor->set = true;
    if (!minus || !digits_read(slice_of(text, (size_t)(minus - text)), &cursor->value) ||
        !read_cursor_name(cursor, slice_of(minus + 1, len - (size_t)(minus + 1 - text)))) {
        input_blame_cursor(input);
    }
}

struct slice queue_page_next(const struct queue_page *page, char *text)
{
    const struct queue_entry *last;
    struct slice name;
    int len;

    if (page->remaining <= page->top.count) {
        return SLICE("null");
    }
    last = &page->top.all[page->top.count - 1];
    name = queue_name(last->queue);
    len = snprintf(text, QUEUE_CURSOR_MAX, "\"%" PRIu64 "-", last->value);
    for (size_t i = 0; i < name.len; i++) {
        len += snprintf(text + len, QUEUE_CURSOR_MAX - (size_t)len, "%02x",
                        (unsigned char)name.ptr[i]);
    }
    text[len++] = '"';
    return slice_of(text, (size_t)len);
}

//
// The page
//

void queue_page_read(struct queue_page *page, struct input *input, bool has_cursor)
{
    struct queue_filter *filter = &page->filter;

    (void)input_query_text(input, "search", filter->search, sizeof filter->search,
                           &filter->search_len);
    filter->has_glob =
        input_query_text(input, "name", filter->glob, sizeof filter->glob, &filter->glob_len);
    if (filter->has_glob && !glob_valid(slice_of(filter->glob, filter->glob_len))) {
        input_blame(input, 400, "name is not a valid glob");
    }
    read_conditions(filter, input);
    read_sort(&page->sort, input);
    if (has_cursor) {
        read_queue_cursor(&page->after, input);
    }
}

bool queue_page_begin(struct queue_page *page, struct broker *broker, size_t room)
{
    page->broker = broker;
    page->total = 0;
    page->matched = 0;
    page->remaining = 0;
    page->complete = false;
    page->top = (struct queue_top){.room = room, .largest_first = page->sort.largest_first};
    page->top.all = memory_alloc(room * sizeof *page->top.all);
    page->begun = page->top.all != NULL;
    if (page->begun) {
        queue_snapshot_begin(broker, &page->snapshot);
    }
    return page->begun;
}

void queue_page_end(struct queue_page *page)
{
    if (page->begun) {
        queue_snapshot_end(page->broker, &page->snapshot);
        memory_free(page->top.all, page->top.room * sizeof *page->top.all);
        page->top.all = NULL;
        page->begun = false;
    }
}

size_t queue_page_holds(const struct queue_page *page)
{
    return page->begun ? page->top.room * sizeof *page->top.all : 0;
}

static void page_visit(struct queue_page *page, const struct session *session,
                       const struct queue *queue)
{
    struct slice after = slice_of(page->after.name, page->after.len);
    struct queue_entry entry = {.queue = queue};
    struct queue_info info;

    if (queue_has_gone(queue) || !session_may(session, MAY_OBSERVE, queue)) {
        return;
    }
    page->total++;
    broker_queue_info(page->broker, queue, &info);
    if (!filter_matches(&page->filter, queue, &info)) {
        return;
    }
    page->matched++;
    entry.value = sort_value(&page->sort, page->broker, queue, &info);
    if (!page->after.set || sorts_before(page->sort.largest_first, page->after.value, after,
                                         entry.value, queue_name(queue))) {
        page->remaining++;
        top_offer(&page->top, &entry);
    }
}

void queue_page_step(struct queue_page *page, const struct session *session)
{
    size_t most = page->sort.expensive ? EXPENSIVE_AT_ONCE : VISITED_AT_ONCE;

    for (size_t i = 0; i < most; i++) {
        const struct queue *queue = queue_snapshot_next(page->broker, &page->snapshot);

        if (!queue) {
            page->complete = page->snapshot.ended;
            if (page->complete) {
                top_sort(&page->top);
            }
            return;
        }
        page_visit(page, session, queue);
    }
}

const struct queue *queue_page_at(const struct queue_page *page, size_t index)
{
    const struct queue *queue = page->top.all[index].queue;

    return queue_has_gone(queue) ? NULL : queue;
}
