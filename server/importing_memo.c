/* SPDX-License-Identifier: MIT */
#include "server/importing_memo.h"

#include "server/config/journal_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED SLICE("(unused)")

// Text and a NUL.
#define KEY_ROOM (MEMO_KEY_MAX + 1)

void importing_show(const char *text, char *shown, size_t size)
{
    FILE *file = fmemopen(shown, size, "w");

    shown[0] = '\0';
    if (file) {
        import_show(text, file);
        (void)fclose(file);
        shown[size - 1] = '\0';
    }
}

// Neither trailing slashes nor passwords distinguish sources.
static struct slice key_of(const char *text, char room[KEY_ROOM])
{
    size_t len;

    importing_show(text, room, KEY_ROOM);
    len = strlen(room);
    while (len > 1 && room[len - 1] == '/' && room[len - 2] != ':') {
        len--;
    }
    return slice_of(room, len);
}

static enum import_mark mark_of(const struct memo *memo)
{
    switch (memo->value.len > 0 ? memo->value.ptr[0] : '\0') {
    case 'b':
        // Without a fingerprint, the survey was not complete and no job was imported.
        return memo->value.len > 1 ? IMPORT_BEGUN : IMPORT_NONE;
    case 'l':
        return IMPORT_LEFT;
    case 'd':
        return IMPORT_DONE;
    default:
        return IMPORT_NONE;
    }
}

enum import_mark import_memo_find(const struct broker *broker, const char *text,
                                  struct slice *print)
{
    char room[KEY_ROOM];
    const struct memo *memo = broker_memo_find(broker, MEMO_IMPORT, key_of(text, room));

    *print = slice_of(NULL, 0);
    if (!memo || mark_of(memo) == IMPORT_NONE) {
        return IMPORT_NONE;
    }
    *print = slice_from(memo->value, 1);
    return mark_of(memo);
}

bool import_memo_set(struct broker *broker, const char *text, enum import_mark mark,
                     struct slice print, struct error_text *why)
{
    static const char letters[] = {[IMPORT_BEGUN] = 'b', [IMPORT_LEFT] = 'l', [IMPORT_DONE] = 'd'};
    char room[KEY_ROOM];
    struct memo memo = {.kind = MEMO_IMPORT, .key = key_of(text, room), .until_at = NSEC_NEVER};
    char *value = malloc(1 + print.len);
    enum status status = STATUS_NO_MEMORY;

    if (value) {
        value[0] = letters[mark];
        if (print.len > 0) {
            memcpy(value + 1, print.ptr, print.len);
        }
        memo.value = slice_of(value, 1 + print.len);
        status = broker_memo_set(broker, &memo);
        free(value);
    }
    if (status != STATUS_OK) {
        error_set(why, "the memo of the import cannot be written: %s", status_text(status));
    }
    return status == STATUS_OK;
}

bool import_memo_unfinished(const struct broker *broker, const char *text, struct slice *other)
{
    const struct memo *memo;
    char room[KEY_ROOM];
    struct slice key = key_of(text, room);
    uint64_t cursor = 0;

    while ((memo = broker_memo_next(broker, MEMO_IMPORT, &cursor))) {
        if (mark_of(memo) == IMPORT_BEGUN && !slice_equal(memo->key, key)) {
            *other = memo->key;
            return true;
        }
    }
    return false;
}

// Moves a memo to `key`.
static enum status move(struct broker *broker, const struct memo *memo, struct slice key)
{
    char old[MEMO_KEY_MAX];
    struct slice from = {.ptr = old, .len = memo->key.len};
    struct memo moved = *memo;
    char *value = malloc(memo->value.len + 1);
    enum status status = value ? STATUS_OK : STATUS_NO_MEMORY;

    memcpy(old, memo->key.ptr, memo->key.len);
    if (value && !broker_memo_find(broker, MEMO_IMPORT, key)) {
        memcpy(value, memo->value.len > 0 ? memo->value.ptr : "", memo->value.len);
        moved.key = key;
        moved.value = slice_of(value, memo->value.len);
        moved.blob = NULL;
        status = broker_memo_set(broker, &moved);
    }
    free(value);
    return status == STATUS_OK ? broker_memo_drop(broker, MEMO_IMPORT, from) : status;
}

bool import_memo_rename(struct broker *broker, struct slice from, const char *to,
                        struct error_text *why)
{
    const struct memo *memo = broker_memo_find(broker, MEMO_IMPORT, from);
    char room[KEY_ROOM];
    enum status status = memo ? move(broker, memo, key_of(to, room)) : STATUS_OK;

    if (status != STATUS_OK) {
        error_set(why, "the memo of the import cannot be renamed: %s", status_text(status));
    }
    return status == STATUS_OK;
}

bool import_memo_next(const struct broker *broker, const char *text, uint64_t *cursor,
                      struct slice *key, struct slice *print)
{
    size_t kind = strcspn(text, ":") + 1;
    const struct memo *memo;

    while ((memo = broker_memo_next(broker, MEMO_IMPORT, cursor))) {
        if (mark_of(memo) != IMPORT_NONE && memo->key.len > kind &&
            memcmp(memo->key.ptr, text, kind) == 0) {
            *key = memo->key;
            *print = slice_from(memo->value, 1);
            return true;
        }
    }
    return false;
}

bool import_memo_is_unused(const struct broker *broker)
{
    return broker_memo_find(broker, MEMO_IMPORT, UNUSED) != NULL;
}

bool import_memo_set_unused(struct broker *broker, bool unused, struct error_text *why)
{
    const struct memo memo = {
        .kind = MEMO_IMPORT, .key = UNUSED, .value = SLICE("u"), .until_at = NSEC_NEVER};
    enum status status = STATUS_OK;

    if (unused != import_memo_is_unused(broker)) {
        status =
            unused ? broker_memo_set(broker, &memo) : broker_memo_drop(broker, MEMO_IMPORT, UNUSED);
    }
    if (status != STATUS_OK) {
        error_set(why, "the memo that the journal is unused cannot be written: %s",
                  status_text(status));
    }
    return status == STATUS_OK;
}

bool import_memo_renew(struct broker *broker, struct error_text *why)
{
    enum status status = STATUS_OK;
    const struct memo *memo;
    char text[KEY_ROOM];
    char room[KEY_ROOM];
    uint64_t cursor = 0;

    while (status == STATUS_OK && (memo = broker_memo_next(broker, MEMO_IMPORT, &cursor))) {
        struct slice key;

        (void)snprintf(text, sizeof text, "%.*s", (int)memo->key.len, memo->key.ptr);
        key = key_of(text, room);
        if (!slice_equal(key, memo->key)) {
            status = move(broker, memo, key);
        }
    }
    if (status != STATUS_OK) {
        error_set(why, "the memos of imports cannot be converted: %s", status_text(status));
    }
    return status == STATUS_OK;
}
