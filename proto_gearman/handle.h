/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_HANDLE_H
#define TANDEM_PROTO_GEARMAN_HANDLE_H

// The handle of a job: the prefix of this broker, a colon, and the job's id.

#include "core/slice.h"

#include "proto_gearman/conn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GEAR_DIGITS_MAX 20
#define GEAR_HANDLE_MAX (GEAR_PREFIX_MAX + 1 + GEAR_DIGITS_MAX)

// Writes `number` in decimal, at most GEAR_DIGITS_MAX bytes; returns where it ends.
char *gear_digits(char *at, uint64_t number);

// A number of decimal digits and nothing else; false for anything else, also where it does not fit.
bool gear_number_parse(struct slice text, uint64_t *number);

// The number that the text begins with, as C's strtol finds it, for workers are free in what they
// write: spaces and a sign may come first, anything may follow, and nothing is 0.
int64_t gear_number_read(struct slice text);

// Writes the handle, at most GEAR_HANDLE_MAX bytes; returns where it ends.
char *gear_handle_write(const struct gear_shared *shared, uint64_t id, char *at);

// The id in a handle of this broker; false for anything else.
bool gear_handle_parse(const struct gear_shared *shared, struct slice text, uint64_t *id);

// Settles what handles begin with: `prefix`, or H: and the host's name where that is empty. A
// longer prefix than clients have room for is cut, and the log says so. False, which the log
// explains, for a prefix with which a handle would not be one word of a line.
bool gear_handle_prefix(struct gear_shared *shared, const char *prefix, const char *hostname);

#endif
