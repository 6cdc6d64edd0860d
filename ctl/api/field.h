/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_FIELD_H
#define TANDEM_CTL_API_FIELD_H

// Fields of answers, by paths such as "jobs.ready". A missing field, or one of another type, is 0,
// empty or false, so that this program works with newer and older brokers.

#include "core/base/slice.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// NULL if it is missing.
const json_t *field_get(const json_t *from, const char *path);
// A fraction is truncated.
uint64_t field_count(const json_t *from, const char *path);
double field_number(const json_t *from, const char *path);
bool field_true(const json_t *from, const char *path);
// Whether the field exists and is not null.
bool field_is_set(const json_t *from, const char *path);
// Valid as long as `from`. May contain NUL.
struct slice field_text(const json_t *from, const char *path);

#endif
