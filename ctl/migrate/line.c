/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/line.h"

#include "core/base/digits.h"

#include <string.h>

void line_add(struct text *to, const char *word, const uint64_t *numbers, size_t count)
{
    char digits[DIGITS_MAX];

    text_put(to, word);
    for (size_t i = 0; i < count; i++) {
        text_put_char(to, ' ');
        text_add(to, slice_of(digits, (size_t)(digits_write(digits, numbers[i]) - digits)));
    }
}

bool line_read(struct slice line, struct slice word, uint64_t *numbers, size_t count,
               struct slice *rest)
{
    if (line.len < word.len || memcmp(line.ptr, word.ptr, word.len) != 0) {
        return false;
    }
    line = slice_from(line, word.len);
    for (size_t i = 0; i < count; i++) {
        const char *end;
        size_t len;

        if (line.len == 0 || line.ptr[0] != ' ') {
            return false;
        }
        line = slice_from(line, 1);
        end = line.len ? memchr(line.ptr, ' ', line.len) : NULL;
        len = end ? (size_t)(end - line.ptr) : line.len;
        if (!digits_read(slice_of(line.ptr, len), &numbers[i])) {
            return false;
        }
        line = slice_from(line, len);
    }
    *rest = line;
    return true;
}
