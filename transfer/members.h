/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_MEMBERS_H
#define TANDEM_TRANSFER_MEMBERS_H

// The members of an object of JSON, read one by one. The first thing that is wrong is noted, and
// all that follows is left alone. A member that is null is like one that is not there: false, and
// the value stays as it was.

#include "core/base/nsec.h"
#include "core/base/slice.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct members {
    json_t *object; // borrowed
    const char *of; // what it is, for what is said of it
    bool bad;
    char *why; // where that is said
    size_t why_size;
};

void members_blame(struct members *members, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// No others than those of the list, which ends with NULL.
void members_known(struct members *members, const char *const *names);

bool members_number(struct members *members, const char *name, uint64_t most, uint64_t *number);
// A moment or a span, exact to a millisecond; at most so many seconds.
bool members_seconds(struct members *members, const char *name, double most, nsec_t *span);
bool members_flag(struct members *members, const char *name, bool *flag);
// The word's place in the list, which ends with NULL.
bool members_word(struct members *members, const char *name, const char *const *words,
                  size_t *place);
// Any bytes: a string, or an object that says how they are encoded. They are borrowed, and what is
// base64 is decoded where it stands: it is read once.
bool members_bytes(struct members *members, const char *name, struct slice *bytes);
// The object that is a member, to be read as this one.
bool members_part(struct members *members, const char *name, struct members *part);
// What was wrong in the part is wrong in the whole.
void members_part_end(struct members *members, const struct members *part);

#endif
