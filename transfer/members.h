/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_MEMBERS_H
#define TANDEM_TRANSFER_MEMBERS_H

// Reads the members of a JSON object one by one. The first error is stored in `why`, and later
// calls do nothing. For a missing or null member, the function returns false and leaves the value
// as it was.

#include "core/base/nsec.h"
#include "core/base/slice.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct members {
    json_t *object; // borrowed
    const char *of; // name of the object in messages
    bool bad;
    char *why; // buffer for the first error
    size_t why_size;
};

void members_blame(struct members *members, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Members that are not in the list are an error. The list ends with NULL.
void members_known(struct members *members, const char *const *names);

bool members_number(struct members *members, const char *name, uint64_t most, uint64_t *number);
// A time or a duration, exact to a millisecond; at most `most` seconds.
bool members_seconds(struct members *members, const char *name, double most, nsec_t *span);
bool members_flag(struct members *members, const char *name, bool *flag);
// The index of the word in the list, which ends with NULL.
bool members_word(struct members *members, const char *name, const char *const *words,
                  size_t *place);
// A string, or an object with an encoding. The bytes are borrowed. Base64 is decoded in place, so
// the member can be read only once.
bool members_bytes(struct members *members, const char *name, struct slice *bytes);
// A member that is an object. End it with members_part_end().
bool members_part(struct members *members, const char *name, struct members *part);
// Makes an error of the part an error of the whole.
void members_part_end(struct members *members, const struct members *part);

#endif
