/* SPDX-License-Identifier: MIT */
#include "journal/codec_memo.h"

#include "journal/codec_parts.h"
#include "journal/layout.h"

// Where fields stand in the data.
enum { MEMO_NUMBER = 0, MEMO_UNTIL = 8, MEMO_VALUE_LEN = 16, MEMO_KEY_LEN = 20, MEMO_KIND = 22 };
enum { MEMO_FLAGS = 23, MEMO_KEY = 24 };
enum { MEMO_FORGOTTEN = 1 };

_Static_assert(CODEC_HEAD + MEMO_KEY == CODEC_MEMO_FIXED, "the key follows what is fixed");
_Static_assert(MEMO_RESULT == 0 && MEMO_RATE == MEMO_KINDS - 1, "kinds are written as they are");

static void put_fixed(char *to, const struct memo *memo, unsigned flags)
{
    char *data = to + CODEC_HEAD;

    memset(to, 0, CODEC_HEAD);
    put32(to + HEAD_LEN, (uint32_t)(MEMO_KEY + memo->key.len + memo->value.len));
    to[HEAD_TYPE] = CODEC_MEMO;
    put64(data + MEMO_NUMBER, memo->number);
    put64(data + MEMO_UNTIL, (uint64_t)memo->until_at);
    put32(data + MEMO_VALUE_LEN, (uint32_t)memo->value.len);
    put16(data + MEMO_KEY_LEN, (uint16_t)memo->key.len);
    data[MEMO_KIND] = (char)memo->kind;
    data[MEMO_FLAGS] = (char)flags;
    memcpy(data + MEMO_KEY, memo->key.ptr, memo->key.len);
}

static size_t put_memo(char *to, const struct memo *memo, unsigned flags)
{
    size_t size = codec_memo_size(memo->key.len, memo->value.len);
    size_t fixed = CODEC_MEMO_FIXED + memo->key.len;

    memset(to + size - 8, 0, 8);
    put_fixed(to, memo, flags);
    if (memo->value.len > 0) {
        memcpy(to + fixed, memo->value.ptr, memo->value.len);
    }
    return size;
}

size_t codec_put_memo(char *to, const struct memo *memo, bool with_value)
{
    ENSURE(memo->key.len <= MEMO_KEY_MAX && memo->value.len <= MEMO_VALUE_MAX);
    if (with_value) {
        return put_memo(to, memo, 0);
    }
    put_fixed(to, memo, 0);
    return CODEC_MEMO_FIXED + memo->key.len;
}

void codec_put_forget(char *to, enum memo_kind kind, struct slice key)
{
    const struct memo memo = {.kind = kind, .key = key};

    (void)put_memo(to, &memo, MEMO_FORGOTTEN);
}

bool codec_memo_value(const char *fixed, size_t *start, size_t *len)
{
    const char *data = fixed + CODEC_HEAD;
    size_t key = get16(data + MEMO_KEY_LEN);
    size_t all = get32(fixed + HEAD_LEN);

    *start = CODEC_MEMO_FIXED + key;
    *len = get32(data + MEMO_VALUE_LEN);
    return key >= 1 && key <= MEMO_KEY_MAX && *len <= MEMO_VALUE_MAX &&
           *len + key + MEMO_KEY == all;
}

// All but the value.
static bool read_fixed(const char *data, struct codec_record *record)
{
    struct memo *memo = &record->memo;
    uint8_t kind = get8(data + MEMO_KIND);
    uint8_t flags = get8(data + MEMO_FLAGS);

    memo->number = get64(data + MEMO_NUMBER);
    memo->until_at = (nsec_t)get64(data + MEMO_UNTIL);
    memo->kind = (enum memo_kind)kind;
    memo->key = slice_of(data + MEMO_KEY, get16(data + MEMO_KEY_LEN));
    memo->blob = NULL;
    record->forgotten = flags == MEMO_FORGOTTEN;
    if (kind >= MEMO_KINDS || flags > MEMO_FORGOTTEN || memo->until_at < 0) {
        return false;
    }
    return record->forgotten ? memo->number == 0 && memo->until_at == 0 && memo->value.len == 0
                             : memo->number >= 1 && memo->number <= CODEC_MEMO_NUMBER_MAX;
}

bool codec_read_memo(const char *data, size_t len, struct codec_record *record)
{
    size_t start, value_len;

    if (len < MEMO_KEY || !codec_memo_value(data - CODEC_HEAD, &start, &value_len)) {
        return false;
    }
    record->memo.value = slice_of(data - CODEC_HEAD + start, value_len);
    return read_fixed(data, record);
}

bool codec_read_memo_parts(const char *bytes, struct slice value, const char *padding,
                           uint64_t salt, uint64_t offset, struct codec_record *record)
{
    size_t start, len;

    if (codec_record_type(bytes) != CODEC_MEMO || !codec_memo_value(bytes, &start, &len) ||
        len != value.len || !codec_parts_good(bytes, start, value, padding, salt, offset)) {
        return false;
    }
    record->type = CODEC_MEMO;
    record->memo.value = value;
    return read_fixed(bytes + CODEC_HEAD, record);
}
