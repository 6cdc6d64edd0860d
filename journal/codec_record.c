/* SPDX-License-Identifier: MIT */

// What all records have: their heads, and the checksums of their data.

#include "journal/codec_parts.h"

#include "journal/layout.h"

uint64_t codec_record_size(const char *head)
{
    return ((uint64_t)CODEC_HEAD + get32(head + HEAD_LEN) + 7) & ~UINT64_C(7);
}

uint8_t codec_record_type(const char *head)
{
    return get8(head + HEAD_TYPE);
}

bool codec_head_good(const char *head, uint64_t salt, uint64_t offset)
{
    uint8_t type = codec_record_type(head);

    // The type is compared first: for most bytes that are no record, a search needs no checksum.
    return type >= CODEC_JOB && type <= CODEC_LAST && get8(head + HEAD_ZERO8) == 0 &&
           get16(head + HEAD_ZERO16) == 0 && get32(head + HEAD_SUM) == head_sum(head, salt, offset);
}

bool codec_all_zero(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

bool codec_parts_good(const char *bytes, size_t start, struct slice body, const char *padding,
                      uint64_t salt, uint64_t offset)
{
    uint32_t sum = data_seed(salt, offset);
    size_t pad_len = codec_padded(start + body.len) - start - body.len;

    sum = sum_more(sum, bytes + CODEC_HEAD, start - CODEC_HEAD);
    sum = sum_more(sum_more(sum, body.ptr, body.len), padding, pad_len);
    return ~sum == get32(bytes + HEAD_DATA_SUM) && codec_all_zero(padding, pad_len);
}
