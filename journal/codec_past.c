/* SPDX-License-Identifier: MIT */
#include "journal/codec_past.h"

#include "core/broker.h"
#include "journal/layout.h"

// Where fields stand, behind the names of a job, or behind that of a move.
enum { PAST_AT = 0, PAST_ATTEMPTS = 8, PAST_QUEUE_LEN = 10, PAST_WHY = 12, PAST_ZERO = 13 };
enum { PAST_QUEUE = DEAD_LETTER_FIXED_LEN };

// How the reasons are written: the core may number its own as it likes.
static const enum dead_reason reasons[] = {DEAD_NOT, DEAD_ATTEMPTS, DEAD_FAILED, DEAD_EXCEPTION,
                                           DEAD_EXPIRED};
#define REASONS (sizeof reasons / sizeof *reasons)

static char reason_byte(enum dead_reason why)
{
    for (size_t i = 1; i < REASONS; i++) {
        if (reasons[i] == why) {
            return (char)i;
        }
    }
    UNREACHABLE();
}

char *codec_put_past(char *to, const struct dead_letter *past)
{
    if (past->why == DEAD_NOT) {
        return to;
    }
    memset(to, 0, DEAD_LETTER_FIXED_LEN);
    put64(to + PAST_AT, past->at_ms);
    put16(to + PAST_ATTEMPTS, past->attempts);
    put16(to + PAST_QUEUE_LEN, (uint16_t)past->queue.len);
    to[PAST_WHY] = reason_byte(past->why);
    memcpy(to + PAST_QUEUE, past->queue.ptr, past->queue.len);
    return to + PAST_QUEUE + past->queue.len;
}

bool codec_past_fits(size_t len, bool past)
{
    return past ? len > DEAD_LETTER_FIXED_LEN && len <= DEAD_LETTER_FIXED_LEN + QUEUE_NAME_MAX
                : len == 0;
}

bool codec_read_past(struct slice bytes, bool is_there, struct dead_letter *past)
{
    static const char zeros[PAST_QUEUE - PAST_ZERO];
    uint8_t why;

    *past = (struct dead_letter){.why = DEAD_NOT};
    if (!is_there || !codec_past_fits(bytes.len, is_there)) {
        return codec_past_fits(bytes.len, is_there);
    }
    why = get8(bytes.ptr + PAST_WHY);
    if (why == 0 || why >= REASONS) {
        return false;
    }
    past->why = reasons[why];
    past->at_ms = get64(bytes.ptr + PAST_AT);
    past->attempts = get16(bytes.ptr + PAST_ATTEMPTS);
    past->queue = slice_of(bytes.ptr + PAST_QUEUE, bytes.len - PAST_QUEUE);
    return past->at_ms <= INT64_MAX / NSEC_PER_MSEC && past->attempts <= JOB_ATTEMPTS_MAX &&
           get16(bytes.ptr + PAST_QUEUE_LEN) == past->queue.len &&
           memcmp(bytes.ptr + PAST_ZERO, zeros, sizeof zeros) == 0 &&
           !memchr(past->queue.ptr, 0, past->queue.len);
}
