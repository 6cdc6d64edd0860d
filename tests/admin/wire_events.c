/* SPDX-License-Identifier: MIT */
#include "tests/admin/wire_events.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 64

static void take(struct events *events, struct slice bytes)
{
    events->text = realloc(events->text, events->len + bytes.len + 1);
    assert_non_null(events->text);
    memcpy(events->text + events->len, bytes.ptr, bytes.len);
    events->len += bytes.len;
    events->text[events->len] = '\0';
}

// The output received since, without chunks.
static void hear(struct events *events)
{
    struct slice heard = peer_hear(events->peer);

    while (heard.len > 0 && !events->ended) {
        char *end;
        size_t size = strtoul(heard.ptr, &end, 16);

        assert_memory_equal(end, "\r\n", 2);
        heard = slice_from(heard, (size_t)(end + 2 - heard.ptr));
        assert_true(heard.len >= size + 2);
        take(events, slice_of(heard.ptr, size));
        assert_memory_equal(heard.ptr + size, "\r\n", 2);
        heard = slice_from(heard, size + 2);
        events->ended = size == 0;
    }
}

struct events *events_open_at(struct peer *peer, const char *target, const char *file, int line)
{
    struct events *events = calloc(1, sizeof *events);
    struct slice heard = peer_ask(peer, SEES(target));
    struct http_answer answer;

    assert_non_null(events);
    events->peer = peer;
    if (!http_take(&heard, false, &answer) || answer.status != 200 || !answer.open) {
        print_error("no stream: %.*s\n", (int)heard.len, heard.ptr);
        _fail(file, line);
    }
    field_is(&answer, "Content-Type", "text/event-stream");
    field_is(&answer, "Cache-Control", "no-store");
    take(events, answer.body);
    return events;
}

void events_close(struct events *events)
{
    json_decref(events->data);
    free(events->text);
    free(events);
}

// The value of the field at the start of the text, up to the end of its line.
static struct slice field(const char **text, const char *name)
{
    size_t name_len = strlen(name);
    struct slice value;

    assert_memory_equal(*text, name, name_len);
    value.ptr = *text + name_len;
    value.len = strcspn(value.ptr, "\n");
    assert_int_equal(value.ptr[value.len], '\n');
    *text = value.ptr + value.len + 1;
    return value;
}

// Reads the next event; false if there is none.
static bool read_next(struct events *events, char *name)
{
    const char *at = events->text + events->at;
    json_error_t error;
    struct slice value;

    if (events->at == events->len) {
        return false;
    }
    value = field(&at, "id: ");
    assert_int_equal(strtoull(value.ptr, NULL, 10), ++events->number);
    value = field(&at, "event: ");
    assert_true(value.len < NAME_MAX_LEN);
    memcpy(name, value.ptr, value.len);
    name[value.len] = '\0';
    value = field(&at, "data: ");
    json_decref(events->data);
    events->data = json_loadb(value.ptr, value.len, 0, &error);
    assert_non_null(events->data);
    assert_int_equal(*at, '\n');
    events->at = (size_t)(at + 1 - events->text);
    return true;
}

void events_next_at(struct events *events, const char *name, const char *file, int line)
{
    char found[NAME_MAX_LEN];

    hear(events);
    do {
        if (!read_next(events, found)) {
            print_error("there is no event %s\n", name);
            _fail(file, line);
        }
    } while (strcmp(found, name) != 0);
}

size_t events_count(struct events *events, const char *name)
{
    char found[NAME_MAX_LEN];
    size_t count = 0;

    hear(events);
    while (read_next(events, found)) {
        count += strcmp(found, name) == 0;
    }
    return count;
}
