/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/yaml.h"

#include "core/base/digits.h"

// More than any document has; the builder allocates what is written, not this.
#define YAML_TOTAL_MAX ((size_t)1 << 40)

static void append(struct yaml *yaml, struct slice bytes)
{
    if (!yaml->failed) {
        yaml->failed = blob_builder_take(&yaml->text, bytes) != bytes.len;
    }
}

void yaml_begin(struct yaml *yaml)
{
    blob_builder_init(&yaml->text, YAML_TOTAL_MAX);
    yaml->failed = false;
    append(yaml, SLICE("---\n"));
}

static void append_key(struct yaml *yaml, struct slice key)
{
    append(yaml, key);
    append(yaml, SLICE(": "));
}

void yaml_number(struct yaml *yaml, struct slice key, uint64_t value)
{
    char digits[DIGITS_MAX + 1];
    char *end = digits_write(digits, value);

    *end++ = '\n';
    append_key(yaml, key);
    append(yaml, slice_of(digits, (size_t)(end - digits)));
}

void yaml_numbers(struct yaml *yaml, const struct yaml_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        yaml_number(yaml, entries[i].key, entries[i].value);
    }
}

void yaml_plain(struct yaml *yaml, struct slice key, struct slice text)
{
    append_key(yaml, key);
    append(yaml, text);
    append(yaml, SLICE("\n"));
}

static bool stands_for_itself(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

static void append_escaped(struct yaml *yaml, char c)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char byte = (unsigned char)c;
    char escape[] = {'\\', 'x', hex[byte >> 4], hex[byte & 15]};

    append(yaml, slice_of(escape, sizeof escape));
}

void yaml_quoted(struct yaml *yaml, struct slice key, struct slice text)
{
    append_key(yaml, key);
    append(yaml, SLICE("\""));
    while (text.len) {
        size_t run = 0;

        while (run < text.len && stands_for_itself(text.ptr[run])) {
            run++;
        }
        append(yaml, slice_of(text.ptr, run));
        text = slice_from(text, run);
        if (text.len) {
            append_escaped(yaml, *text.ptr);
            text = slice_from(text, 1);
        }
    }
    append(yaml, SLICE("\"\n"));
}

void yaml_item(struct yaml *yaml, struct slice text)
{
    append(yaml, SLICE("- "));
    append(yaml, text);
    append(yaml, SLICE("\n"));
}

struct blob *yaml_finish(struct yaml *yaml)
{
    if (yaml->failed) {
        yaml_discard(yaml);
        return NULL;
    }
    // Only now is it known how long the document is.
    yaml->text.total -= blob_builder_missing(&yaml->text);
    return blob_builder_finish(&yaml->text);
}

void yaml_discard(struct yaml *yaml)
{
    blob_builder_discard(&yaml->text);
}
