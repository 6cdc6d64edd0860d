/* SPDX-License-Identifier: MIT */
#include "server/importing_memo.h"

#include <stdlib.h>
#include <string.h>

// A slash more at the end is the same source.
static struct slice key_of(const char *text)
{
    size_t len = strlen(text);

    while (len > 1 && text[len - 1] == '/' && text[len - 2] != ':') {
        len--;
    }
    return slice_of(text, len);
}

static enum import_mark mark_of(const struct memo *memo)
{
    switch (memo->value.len > 0 ? memo->value.ptr[0] : '\0') {
    case 'b':
        return IMPORT_BEGUN;
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
    const struct memo *memo = broker_memo_find(broker, MEMO_IMPORT, key_of(text));

    *print = slice_of(NULL, 0);
    if (!memo || mark_of(memo) == IMPORT_NONE) {
        return IMPORT_NONE;
    }
    *print = slice_from(memo->value, 1);
    return mark_of(memo);
}

bool import_memo_set(struct broker *broker, const char *text, enum import_mark mark,
                     struct slice print, struct reason *why)
{
    static const char letters[] = {[IMPORT_BEGUN] = 'b', [IMPORT_LEFT] = 'l', [IMPORT_DONE] = 'd'};
    struct memo memo = {.kind = MEMO_IMPORT, .key = key_of(text), .until_at = NSEC_NEVER};
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
        reason_set(why, "the journal cannot remember the import: %s", status_text(status));
    }
    return status == STATUS_OK;
}

bool import_memo_unfinished(const struct broker *broker, const char *text, struct slice *other)
{
    const struct memo *memo;
    uint64_t cursor = 0;

    while ((memo = broker_memo_next(broker, MEMO_IMPORT, &cursor))) {
        if (mark_of(memo) == IMPORT_BEGUN && !slice_equal(memo->key, key_of(text))) {
            *other = memo->key;
            return true;
        }
    }
    return false;
}
