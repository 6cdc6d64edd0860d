/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_CODEC_PARTS_H
#define TANDEM_JOURNAL_CODEC_PARTS_H

// Private to the codec: what reading any record takes.

#include "journal/codec.h"

// Whether all of the bytes are 0.
bool codec_all_zero(const char *bytes, size_t len);

// Whether the data of the record check, of which the first `start` bytes, with the head, stand at
// `bytes`, then come the body and its padding, of less than 8 bytes.
bool codec_parts_good(const char *bytes, size_t start, struct slice body, const char *padding,
                      uint64_t salt, uint64_t offset) MUST_USE;

#endif
