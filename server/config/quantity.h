/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_QUANTITY_H
#define TANDEM_SERVER_CONFIG_QUANTITY_H

// Quantities as operators write them: durations, rates and shares. What is printed is read back as
// the same value.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// The highest rate: a million in a second.
#define QUANTITY_RATE_MOST 1000000
// What a share of 1 is.
#define QUANTITY_SHARE_WHOLE 1000000

// Digits with an optional minus sign; the end of them in `*end`. False where there are none, or the
// number is too large.
bool quantity_digits(const char *text, int64_t *value, const char **end) MUST_USE;

// `500ms`, `10s`, `5m`, `2h`, `7d`, and `10`, which is seconds. Never below 0. False with the
// reason in `why`; so do the others.
bool quantity_duration(const char *text, nsec_t *duration_for, struct error_text *why) MUST_USE;

// `100/s`, `5/m`, `2/h`, `1/d`: how long it is from one to the next, rounded down to a nanosecond;
// 0 for `0`, which is any rate.
bool quantity_rate(const char *text, nsec_t *interval_for, struct error_text *why) MUST_USE;

// `0`, `0.25`, `1`: in parts of a million.
bool quantity_share(const char *text, uint32_t *share, struct error_text *why) MUST_USE;

// A duration in the largest unit that leaves no fraction.
void quantity_print_duration(nsec_t duration_for, FILE *file);

// A rate in the smallest unit of time that leaves no fraction.
void quantity_print_rate(nsec_t interval_for, FILE *file);

void quantity_print_share(uint32_t share, FILE *file);

#endif
