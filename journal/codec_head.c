/* SPDX-License-Identifier: MIT */

// Encodes and decodes the heads of segments and units.

#include "journal/codec.h"

#include "journal/codec_layout.h"
#include "journal/segment.h"

void codec_put_segment_head(char to[CODEC_SEGMENT_HEAD], const struct segment_head *head)
{
    uint64_t unsure = head->previous_unsure ? PREVIOUS_UNSURE : 0;

    memcpy(to, SEGMENT_MAGIC, SEGMENT_VERSION);
    put32(to + SEGMENT_VERSION, CODEC_VERSION);
    put32(to + SEGMENT_SIZE, CODEC_SEGMENT_HEAD);
    put64(to + SEGMENT_NUMBER, head->number);
    put64(to + SEGMENT_SALT, head->salt);
    put64(to + SEGMENT_PREVIOUS, head->previous);
    put64(to + SEGMENT_PREVIOUS_END, head->previous_end | unsure);
    put64(to + SEGMENT_IDS_END, head->ids_end);
    put64(to + SEGMENT_CREATED, head->created_ms);
    put32(to + SEGMENT_SUM, segment_sum(to));
    put32(to + SEGMENT_ZERO, 0);
}

static bool codec_head_matches(const char *head, const char *magic)
{
    return memcmp(head, magic, SEGMENT_VERSION) == 0 &&
           get32(head + SEGMENT_SUM) == segment_sum(head);
}

enum codec_head codec_read_segment_head(const char from[CODEC_SEGMENT_HEAD],
                                        struct segment_head *head)
{
    uint32_t version = get32(from + SEGMENT_VERSION);
    uint64_t previous_end = get64(from + SEGMENT_PREVIOUS_END);

    // The magic bytes, the version and the checksum are at the same place in all versions.
    if (!codec_head_matches(from, SEGMENT_MAGIC)) {
        return CODEC_HEAD_BAD;
    }
    if (version < CODEC_VERSION_OLDEST || version > CODEC_VERSION) {
        return CODEC_HEAD_OTHER_VERSION;
    }
    *head = (struct segment_head){
        .number = get64(from + SEGMENT_NUMBER),
        .salt = get64(from + SEGMENT_SALT),
        .previous = get64(from + SEGMENT_PREVIOUS),
        .previous_end = previous_end & ~PREVIOUS_UNSURE,
        .previous_unsure = (previous_end & PREVIOUS_UNSURE) != 0,
        .ids_end = get64(from + SEGMENT_IDS_END),
        .created_ms = get64(from + SEGMENT_CREATED),
    };
    return get32(from + SEGMENT_SIZE) == CODEC_SEGMENT_HEAD && get32(from + SEGMENT_ZERO) == 0 &&
                   head->ids_end <= CODEC_ID_MAX + 1 &&
                   (version >= CODEC_VERSION_UNSURE || !head->previous_unsure)
               ? CODEC_HEAD_GOOD
               : CODEC_HEAD_BAD;
}

static void codec_put_unit_head(char to[CODEC_SEGMENT_HEAD], const struct unit_head *head)
{
    uint64_t back = head->rewrite_from > 0 ? head->number - head->rewrite_from + 1 : 0;

    ENSURE(back <= UINT32_MAX);
    memcpy(to, UNIT_MAGIC, SEGMENT_VERSION);
    put32(to + SEGMENT_VERSION, CODEC_VERSION);
    put32(to + SEGMENT_SIZE, CODEC_SEGMENT_HEAD);
    put64(to + SEGMENT_NUMBER, head->number);
    put64(to + SEGMENT_SALT, head->salt);
    put64(to + UNIT_OWNER, head->owner);
    put32(to + UNIT_HISTORY, head->history);
    put32(to + UNIT_ANEW, (uint32_t)back);
    put64(to + SEGMENT_IDS_END, head->ids_end);
    put64(to + SEGMENT_CREATED, head->created_ms);
    put32(to + SEGMENT_SUM, segment_sum(to));
    put32(to + SEGMENT_ZERO, 0);
}

static enum codec_head codec_read_old_unit_head(const char from[CODEC_SEGMENT_HEAD],
                                                struct unit_head *head)
{
    struct segment_head old;
    enum codec_head read = codec_read_segment_head(from, &old);

    if (read == CODEC_HEAD_GOOD) {
        *head = (struct unit_head){.number = old.number,
                                   .salt = old.salt,
                                   .ids_end = old.ids_end,
                                   .created_ms = old.created_ms};
    }
    return read;
}

enum codec_head codec_read_unit_head(const char from[CODEC_SEGMENT_HEAD], struct unit_head *head)
{
    uint32_t version = get32(from + SEGMENT_VERSION);
    uint64_t number = get64(from + SEGMENT_NUMBER);
    uint32_t back = get32(from + UNIT_ANEW);

    if (!codec_head_matches(from, UNIT_MAGIC)) {
        return codec_read_old_unit_head(from, head);
    }
    if (version < CODEC_VERSION_UNITS || version > CODEC_VERSION) {
        return CODEC_HEAD_OTHER_VERSION;
    }
    *head = (struct unit_head){
        .number = number,
        .salt = get64(from + SEGMENT_SALT),
        .owner = get64(from + UNIT_OWNER),
        .history = get32(from + UNIT_HISTORY),
        .rewrite_from = back > 0 ? number - back + 1 : 0,
        .ids_end = get64(from + SEGMENT_IDS_END),
        .created_ms = get64(from + SEGMENT_CREATED),
    };
    return get32(from + SEGMENT_SIZE) == CODEC_SEGMENT_HEAD && get32(from + SEGMENT_ZERO) == 0 &&
                   head->ids_end <= CODEC_ID_MAX + 1 && back <= number
               ? CODEC_HEAD_GOOD
               : CODEC_HEAD_BAD;
}

bool codec_mend_segment_head(char head[CODEC_SEGMENT_HEAD])
{
    uint32_t said = get32(head + SEGMENT_SUM);
    struct segment_head read;

    put32(head + SEGMENT_ZERO, 0);
    // If one byte of the checksum itself is wrong, the other three match.
    for (unsigned i = 0; i < sizeof said; i++) {
        uint32_t wrong = (said ^ segment_sum(head)) & ~(UINT32_C(0xff) << (8 * i));

        if (wrong == 0) {
            put32(head + SEGMENT_SUM, segment_sum(head));
            return codec_read_segment_head(head, &read) == CODEC_HEAD_GOOD;
        }
    }
    for (unsigned i = 0; i < SEGMENT_SUM * 256u; i++) {
        char was = head[i / 256];

        head[i / 256] = (char)(i % 256);
        if (codec_read_segment_head(head, &read) == CODEC_HEAD_GOOD) {
            return true;
        }
        head[i / 256] = was;
    }
    return false;
}

void segment_put_head(char to[CODEC_SEGMENT_HEAD], const struct segment *segment)
{
    const struct segment_head head = {
        .number = segment->number,
        .salt = segment->salt,
        .previous = segment->number - 1,
        .previous_end = segment->previous_end,
        .previous_unsure = segment->previous_unsure,
        .ids_end = segment->ids_end,
        .created_ms = segment->created_ms,
    };

    codec_put_segment_head(to, &head);
}

void segment_put_unit_head(char to[CODEC_SEGMENT_HEAD], const struct segment *segment)
{
    const struct unit_head head = {
        .number = segment->number,
        .salt = segment->salt,
        .owner = segment->owner,
        .history = segment->history,
        .rewrite_from = segment->rewrite_from,
        .ids_end = segment->ids_end,
        .created_ms = segment->created_ms,
    };

    codec_put_unit_head(to, &head);
}
