/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_CODEC_PAST_H
#define TANDEM_JOURNAL_CODEC_PAST_H

// Private to the codec: the past of a dead letter (core/dead_letter.h) as bytes, and back, as a
// part of the records that have one.

#include "journal/codec.h"

// Bytes of all that stands between the fixed part of a job's record and its body.
static inline size_t codec_names_len(const struct job_image *image)
{
    return image->queue.len + image->key.len + image->reducer.len +
           dead_letter_len(&image->dead_letter);
}

// Writes a past, nothing for DEAD_NOT; where it ends.
char *codec_put_past(char *to, const struct dead_letter *past);

// Whether so many bytes can be a past, or, where there is to be none, are none.
bool codec_past_fits(size_t len, bool past);

// Reads what codec_put_past() wrote, all of `bytes`. False where no job can have such a past.
bool codec_read_past(struct slice bytes, bool is_there, struct dead_letter *past) MUST_USE;

#endif
