/* SPDX-License-Identifier: MIT */
#include "admin/api/source_memo.h"

#include "core/base/digits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SEAL_FOR (3600 * NSEC_PER_SEC)
#define KEPT_FOR (30 * 86400 * NSEC_PER_SEC)

#define KEY_BEGINS "jobs:"
#define KEY_SIZE (sizeof KEY_BEGINS + IMPORT_SOURCE_MAX + 1 + DIGITS_MAX)

// The value of a memo: flags and four numbers.
#define VALUE_SIZE (sizeof "jdjh" + 4 * (DIGITS_MAX + 1))

bool import_source_valid(struct slice source)
{
    for (size_t i = 0; i < source.len; i++) {
        char c = source.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '-' || c == '_')) {
            return false;
        }
    }
    return source.len > 0 && source.len <= IMPORT_SOURCE_MAX;
}

static struct slice source_seal_key(struct slice source, char room[KEY_SIZE])
{
    return slice_of(
        room, (size_t)snprintf(room, KEY_SIZE, KEY_BEGINS "%.*s", (int)source.len, source.ptr));
}

static struct slice source_memo_key(struct slice source, uint64_t from, char room[KEY_SIZE])
{
    return slice_of(room, (size_t)snprintf(room, KEY_SIZE, KEY_BEGINS "%.*s/%" PRIu64,
                                           (int)source.len, source.ptr, from));
}

bool import_source_sealed(const struct broker *broker, struct slice source)
{
    char room[KEY_SIZE];

    return broker_memo_find(broker, MEMO_IMPORT, source_seal_key(source, room)) != NULL;
}

static enum status source_memo_set(struct broker *broker, struct slice key, struct slice value,
                                   nsec_t keep_for)
{
    const struct memo memo = {.kind = MEMO_IMPORT,
                              .key = key,
                              .value = value,
                              .until_at = nsec_add(broker_now(broker).wall, keep_for)};

    return broker_memo_set(broker, &memo);
}

enum status import_source_seal(struct broker *broker, struct slice source)
{
    char room[KEY_SIZE];

    return source_memo_set(broker, source_seal_key(source, room), SLICE("js"), SEAL_FOR);
}

//
// The value of a memo
//

static bool take_memo_number(struct slice *text, uint64_t *number)
{
    const char *space;
    size_t len;

    if (text->len == 0 || text->ptr[0] != ' ') {
        return false;
    }
    *text = slice_from(*text, 1);
    space = text->len > 0 ? memchr(text->ptr, ' ', text->len) : NULL;
    len = space ? (size_t)(space - text->ptr) : text->len;
    if (!digits_read(slice_of(text->ptr, len), number)) {
        return false;
    }
    *text = slice_from(*text, len);
    return true;
}

static bool source_memo_read(struct slice value, struct source_memo *memo)
{
    struct slice rest;

    if (value.len < 4 || value.ptr[0] != 'j' || value.ptr[1] == 's') {
        return false;
    }
    memo->done = value.ptr[1] == 'd';
    memo->joined = value.ptr[2] == 'j';
    memo->held = value.ptr[3] == 'h';
    rest = slice_from(value, 4);
    return take_memo_number(&rest, &memo->id) && take_memo_number(&rest, &memo->contents) &&
           take_memo_number(&rest, &memo->version) && take_memo_number(&rest, &memo->started);
}

bool source_memo_get(const struct broker *broker, struct slice source, uint64_t from,
                     struct source_memo *memo)
{
    char room[KEY_SIZE];
    const struct memo *found =
        broker_memo_find(broker, MEMO_IMPORT, source_memo_key(source, from, room));

    *memo = (struct source_memo){.from = from};
    return found && source_memo_read(found->value, memo);
}

enum status source_memo_put(struct broker *broker, struct slice source,
                            const struct source_memo *memo)
{
    char room[KEY_SIZE];
    struct memo_usage usage;
    char value[VALUE_SIZE];
    int len = snprintf(value, sizeof value, "j%c%c%c %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                       memo->done ? 'd' : 'i', memo->joined ? 'j' : '-', memo->held ? 'h' : '-',
                       memo->id, memo->contents, memo->version, memo->started);

    broker_memo_usage(broker, MEMO_IMPORT, &usage);
    if (!memo->done && usage.bytes >= IMPORT_MEMOS_BYTES_MOST) {
        return STATUS_NO_MEMORY;
    }
    return source_memo_set(broker, source_memo_key(source, memo->from, room),
                           slice_of(value, (size_t)len), KEPT_FOR);
}

enum status source_memo_drop(struct broker *broker, struct slice source, uint64_t from)
{
    char room[KEY_SIZE];

    return broker_memo_drop(broker, MEMO_IMPORT, source_memo_key(source, from, room));
}

bool source_memo_next(const struct broker *broker, struct slice source, uint64_t *cursor,
                      unsigned *budget, struct source_memo *memo)
{
    const struct memo *found;
    char room[KEY_SIZE];
    struct slice begins = source_seal_key(source, room);

    while (*budget > 0 && (found = broker_memo_next(broker, MEMO_IMPORT, cursor)) != NULL) {
        struct slice key = found->key;

        --*budget;
        if (key.len > begins.len + 1 && memcmp(key.ptr, begins.ptr, begins.len) == 0 &&
            key.ptr[begins.len] == '/' &&
            digits_read(slice_from(key, begins.len + 1), &memo->from) &&
            source_memo_read(found->value, memo)) {
            return true;
        }
    }
    return false;
}
