/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SETTING_H
#define TANDEM_SERVER_CONFIG_SETTING_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "proto_common/option.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct small_file;

// One setting: the field of a section's struct that a `struct option` describes, its text in the
// configuration file, and the texts of durations, rates and shares. Text fields own their string. A
// struct of settings starts zeroed, and setting_clear() ends each of its options.
//
// If a function with `why` returns false, the reason is in `why`.

// Sets the field from its text in the file. False, with the field unchanged, if the text is not a
// value of this kind, if it is out of range, or without memory.
bool setting_parse(const struct option *option, void *values, const char *text,
                   struct error_text *why) MUST_USE;

// Reads a file with one line, such as a secret, and removes the end of the line. If `waits` is
// false, the file must be a regular one: a pipe could block. The reason in `why` does not contain
// the line. The caller frees the file with small_file_free().
bool setting_read_line(const char *path, bool waits, struct small_file *file,
                       struct error_text *why) MUST_USE;

// The replacement of a secret in output.
#define SETTING_HIDDEN "(hidden)"

// Writes the value in the format of the file, with SETTING_HIDDEN for a secret.
void setting_print(const struct option *option, const void *values, FILE *file);

// The same as text, truncated to `room` bytes with the NUL.
void setting_text(const struct option *option, const void *values, char *text, size_t room);

bool setting_equal(const struct option *option, const void *a, const void *b);

// Exchanges the values of two structs, and with them the ownership of a text.
void setting_swap(const struct option *option, void *a, void *b);

// Frees the text of the field.
void setting_clear(const struct option *option, void *values);

//
// Quantities. A printed quantity is parsed as the same value.
//

// The highest rate: a million a second.
#define QUANTITY_RATE_MOST 1000000
// The value of a share of 1.
#define QUANTITY_SHARE_WHOLE 1000000

// `500ms`, `10s`, `5m`, `2h`, `7d`, and `10`, which is seconds. Never below 0.
bool quantity_duration(const char *text, nsec_t *duration_for, struct error_text *why) MUST_USE;

// `100/s`, `5/m`, `2/h`, `1/d`: the time between two, rounded down to a nanosecond; 0 for `0`,
// which means no limit.
bool quantity_rate(const char *text, nsec_t *interval_for, struct error_text *why) MUST_USE;

// `0`, `0.25`, `1`: in millionths.
bool quantity_share(const char *text, uint32_t *share, struct error_text *why) MUST_USE;

// A duration in the largest unit that leaves no fraction.
void quantity_print_duration(nsec_t duration_for, FILE *file);

// A rate in the smallest unit of time that leaves no fraction.
void quantity_print_rate(nsec_t interval_for, FILE *file);

void quantity_print_share(uint32_t share, FILE *file);

#endif
