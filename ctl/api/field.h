/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_API_FIELD_H
#define TANDEM_CTL_API_FIELD_H

// Fields of answers, by paths such as "jobs.ready". What is not there, or of another type, is 0,
// empty or false: a broker that is newer or older than this program is no reason to fail.

#include "core/base/slice.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// NULL for none.
const json_t *field_get(const json_t *from, const char *path);
// Whole: what is behind the point is dropped.
uint64_t field_count(const json_t *from, const char *path);
double field_number(const json_t *from, const char *path);
bool field_true(const json_t *from, const char *path);
// Whether it is there, and is not null.
bool field_is_set(const json_t *from, const char *path);
// Valid as long as `from`; may have a NUL inside.
struct slice field_text(const json_t *from, const char *path);

#endif
