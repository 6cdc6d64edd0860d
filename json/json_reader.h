/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JSON_JSON_READER_H
#define TANDEM_JSON_JSON_READER_H

// Reads the members of a JSON object one by one. The first error is noted as a message for people,
// and later calls do nothing: a caller reads everything and then checks `bad`. If a member is
// missing or invalid, a function returns false and leaves the value unchanged, so that the value
// can hold the default.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_READER_WHY 160

// All zero, except the object and the options, at first.
struct json_reader {
    json_t *object;       // borrowed; NULL has no members
    bool null_is_missing; // null is as good as no member, not an error
    bool bad;
    char why[JSON_READER_WHY]; // if bad
};

// Notes an error, unless there is one.
void json_reader_blame(struct json_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Refuses members that are not in the list, which ends with NULL.
void json_reader_known(struct json_reader *reader, const char *const *names);

// An integer from 0 to `most`.
bool json_reader_number(struct json_reader *reader, const char *name, uint64_t most,
                        uint64_t *number);
// A number of seconds from 0 to `most`.
bool json_reader_seconds(struct json_reader *reader, const char *name, double most,
                         double *seconds);
bool json_reader_flag(struct json_reader *reader, const char *name, bool *flag);
// A string, borrowed from the object.
bool json_reader_text(struct json_reader *reader, const char *name, struct slice *text);

// A string that is in the list, which ends with NULL, as its index.
bool json_reader_word(struct json_reader *reader, const char *name, const char *const *words,
                      size_t *place);
// An array of such strings, as bits by index.
bool json_reader_words(struct json_reader *reader, const char *name, const char *const *words,
                       unsigned *bits);
// Finds a text from elsewhere in the list. `name` is its name in the message.
bool json_reader_find(struct json_reader *reader, const char *name, struct slice text,
                      const char *const *words, size_t *place);

// Any bytes: a string, or an object with `encoding` (text or base64) and `data`. They are borrowed
// from the object. Base64 is decoded in place, so the member can be read only once.
bool json_reader_bytes(struct json_reader *reader, const char *name, struct slice *bytes);

// Begins a reader for the object in a member. If it returns true, json_reader_part_end() notes an
// error of the part in the whole.
bool json_reader_part(struct json_reader *reader, const char *name, struct json_reader *part);
void json_reader_part_end(struct json_reader *reader, const char *name,
                          const struct json_reader *part);

// Whether the text is in the list, which ends with NULL; then sets its index.
bool json_list_find(struct slice text, const char *const *list, size_t *place);

// Whether a JSON text has at most `most` values and names. The text may be any bytes. This is
// checked before parsing, because each part takes memory and time, and a megabyte may have a
// hundred thousand.
bool json_parts_fit(struct slice text, size_t most);

#endif
