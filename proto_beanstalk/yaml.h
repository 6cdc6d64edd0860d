/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_YAML_H
#define TANDEM_PROTO_BEANSTALK_YAML_H

// A YAML document that is being written: a mapping or a list, one level deep, as `stats` and the
// lists answer it. It grows as it is written; where memory lacks it remembers that, ignores what
// follows and yields nothing.

#include "core/base/blob.h"
#include "core/base/macros.h"
#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

struct yaml {
    struct blob_builder text; /* private */
    bool failed;              /* private */
};

// A line of a mapping whose value is a number, for tables of them.
struct yaml_entry {
    struct slice key;
    uint64_t value;
};

// Starts with the line that begins a document.
void yaml_begin(struct yaml *yaml);

// key: number
void yaml_number(struct yaml *yaml, struct slice key, uint64_t value);
void yaml_numbers(struct yaml *yaml, const struct yaml_entry *entries, size_t count);

// key: text, as it is.
void yaml_plain(struct yaml *yaml, struct slice key, struct slice text);

// key: "text", with what could end or break the quotes, and every byte that is not printable
// ASCII, escaped.
void yaml_quoted(struct yaml *yaml, struct slice key, struct slice text);

// - text
void yaml_item(struct yaml *yaml, struct slice text);

// The finished document, a reference for the caller; NULL where memory lacked at any point.
struct blob *yaml_finish(struct yaml *yaml) MUST_USE;

// Frees what was written. After yaml_finish() that is nothing.
void yaml_discard(struct yaml *yaml);

#endif
