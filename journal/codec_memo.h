/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_CODEC_MEMO_H
#define TANDEM_JOURNAL_CODEC_MEMO_H

// Records of memos (core/memo.h) as bytes, and back: one type says both that a memo is set and that
// it is dropped. See codec.h and FORMAT.md.

#include "journal/codec.h"

#define CODEC_MEMO_FIXED 40 // with head, before the key

// Whole size, with head and padding.
static inline size_t codec_memo_size(size_t key_len, size_t value_len)
{
    return codec_padded(CODEC_MEMO_FIXED + key_len + value_len);
}

// Writes a record without its checksums; leaves the value and the padding out where `!with_value`.
// Returns how much it wrote.
size_t codec_put_memo(char *to, const struct memo *memo, bool with_value);
// That it is dropped: a record of codec_memo_size(key_len, 0).
void codec_put_forget(char *to, enum memo_kind kind, struct slice key);

// Where the value begins and how long it is, as codec_job_body().
bool codec_memo_value(const char *fixed, size_t *start, size_t *len);

// Reads the data of a record whose checksums are good.
bool codec_read_memo(const char *data, size_t len, struct codec_record *record) MUST_USE;

// As codec_read_job(), for a value that stands elsewhere.
bool codec_read_memo_parts(const char *bytes, struct slice value, const char *padding,
                           uint64_t salt, uint64_t offset, struct codec_record *record) MUST_USE;

#endif
