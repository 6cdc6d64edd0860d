/* SPDX-License-Identifier: MIT */
#include "ctl/beanstalk/yaml.h"

#include "core/base/digits.h"

// Removes the next line from the document.
static bool take_yaml_line(struct slice *document, struct slice *line)
{
    const char *end;

    if (document->len == 0) {
        return false;
    }
    end = memchr(document->ptr, '\n', document->len);
    *line = slice_of(document->ptr, end ? (size_t)(end - document->ptr) : document->len);
    *document = slice_from(*document, end ? line->len + 1 : line->len);
    return true;
}

static bool line_begins(struct slice line, struct slice with)
{
    return line.len >= with.len && memcmp(line.ptr, with.ptr, with.len) == 0;
}

static struct slice unquoted(struct slice value)
{
    bool quoted = value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"';

    return quoted ? slice_of(value.ptr + 1, value.len - 2) : value;
}

bool yaml_text(struct slice document, struct slice key, struct slice *value)
{
    struct slice line;

    while (take_yaml_line(&document, &line)) {
        if (line.len > key.len + 1 && line.ptr[key.len] == ':' && line.ptr[key.len + 1] == ' ' &&
            line_begins(line, key)) {
            *value = unquoted(slice_from(line, key.len + 2));
            return true;
        }
    }
    return false;
}

bool yaml_count(struct slice document, struct slice key, uint64_t *value)
{
    struct slice text;

    return yaml_text(document, key, &text) && digits_read(text, value);
}

bool yaml_item(struct slice *document, struct slice *item)
{
    struct slice line;

    while (take_yaml_line(document, &line)) {
        if (line_begins(line, SLICE("- "))) {
            *item = unquoted(slice_from(line, 2));
            return true;
        }
    }
    return false;
}

bool is_tube(struct slice name)
{
    static const char others[] = "-+/;.$_()";

    if (name.len == 0 || name.len > TUBE_NAME_MAX || name.ptr[0] == '-') {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!plain && !memchr(others, c, sizeof others - 1)) {
            return false;
        }
    }
    return true;
}
