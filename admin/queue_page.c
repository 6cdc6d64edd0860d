/* SPDX-License-Identifier: MIT */
#include "admin/queue_page.h"

#include "core/base/digits.h"
#include "http1/hex.h"

#include "admin/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// What a slice looks at, where the column is read, or is dear.
#define LOOKED_AT_ONCE ((size_t)2 * BROKER_SLICE)
#define DEAR_AT_ONCE ((size_t)BROKER_SLICE / 4)
//
// The cursor: the value, a minus, and the name in hexadecimal digits
//

static void read_name(struct queue_cursor *cursor, struct input *input, struct slice digits)
{
    if (digits.len % 2 != 0 || digits.len / 2 > sizeof cursor->name) {
        input_blame(input, 400, "cursor is not valid: use the `next` of the previous page");
        return;
    }
    for (; cursor->len < digits.len / 2; cursor->len++) {
        int high = http1_hex_value(digits.ptr[2 * cursor->len]);
        int low = http1_hex_value(digits.ptr[2 * cursor->len + 1]);

        if (high < 0 || low < 0) {
            input_blame(input, 400, "cursor is not valid: use the `next` of the previous page");
            return;
        }
        cursor->name[cursor->len] = (char)(high << 4 | low);
    }
}

static void read_cursor(struct queue_cursor *cursor, struct input *input)
{
    char text[QUEUE_CURSOR_MAX];
    const char *minus;
    size_t len;

    if (!input_query_text(input, "cursor", text, sizeof text, &len)) {
        return;
    }
    minus = memchr(text, '-', len);
    if (!minus || !digits_read(slice_of(text, (size_t)(minus - text)), &cursor->value)) {
        input_blame(input, 400, "cursor is not valid: use the `next` of the previous page");
        return;
    }
    cursor->set = true;
    read_name(cursor, input, slice_of(minus + 1, len - (size_t)(minus + 1 - text)));
}

struct slice queue_page_next(const struct queue_page *page, char *text)
{
    const struct queue_pick *last;
    struct slice name;
    int len;

    if (page->behind <= page->picks.count) {
        return SLICE("null");
    }
    last = &page->picks.all[page->picks.count - 1];
    name = queue_name(last->queue);
    len = snprintf(text, QUEUE_CURSOR_MAX, "\"%" PRIu64 "-", last->value);
    for (size_t i = 0; i < name.len; i++) {
        len += snprintf(text + len, QUEUE_CURSOR_MAX - (size_t)len, "%02x",
                        (unsigned char)name.ptr[i]);
    }
    text[len++] = '"';
    return slice_of(text, (size_t)len);
}

void queue_page_read(struct queue_page *page, struct input *input, bool has_cursor)
{
    queue_filter_read(&page->filter, input);
    queue_sort_read(&page->sort, input);
    if (has_cursor) {
        read_cursor(&page->after, input);
    }
}

//
// Looking
//

bool queue_page_begin(struct queue_page *page, struct broker *broker, size_t room)
{
    page->broker = broker;
    page->total = 0;
    page->matched = 0;
    page->behind = 0;
    page->looked = false;
    page->begun = queue_picks_begin(&page->picks, room, page->sort.largest_first);
    if (page->begun) {
        queue_snapshot_begin(broker, &page->roll);
    }
    return page->begun;
}

void queue_page_end(struct queue_page *page)
{
    if (page->begun) {
        queue_snapshot_end(page->broker, &page->roll);
        queue_picks_free(&page->picks);
        page->begun = false;
    }
}

size_t queue_page_holds(const struct queue_page *page)
{
    return page->begun ? page->picks.room * sizeof *page->picks.all : 0;
}

static void look_at(struct queue_page *page, const struct session *session,
                    const struct queue *queue)
{
    struct slice after = slice_of(page->after.name, page->after.len);
    struct queue_pick pick = {.queue = queue};
    struct queue_info info;

    if (queue_has_gone(queue) || !session_may(session, MAY_OBSERVE, queue)) {
        return;
    }
    page->total++;
    broker_queue_info(page->broker, queue, &info);
    if (!queue_fits(&page->filter, queue, &info)) {
        return;
    }
    page->matched++;
    pick.value = queue_sort_value(&page->sort, page->broker, queue, &info);
    if (!page->after.set ||
        queue_pick_before(&page->picks, page->after.value, after, pick.value, queue_name(queue))) {
        page->behind++;
        queue_picks_offer(&page->picks, &pick);
    }
}

void queue_page_look(struct queue_page *page, const struct session *session)
{
    size_t most = page->sort.dear ? DEAR_AT_ONCE : LOOKED_AT_ONCE;

    for (size_t i = 0; i < most; i++) {
        const struct queue *queue = queue_snapshot_next(page->broker, &page->roll);

        if (!queue) {
            page->looked = page->roll.ended;
            if (page->looked) {
                queue_picks_sort(&page->picks);
            }
            return;
        }
        look_at(page, session, queue);
    }
}

const struct queue *queue_page_at(const struct queue_page *page, size_t place)
{
    const struct queue *queue = page->picks.all[place].queue;

    return queue_has_gone(queue) ? NULL : queue;
}
