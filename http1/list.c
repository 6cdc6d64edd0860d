/* SPDX-License-Identifier: MIT */
#include "http1/list.h"

#include "http1/fields.h"

#include <string.h>

static bool divides(char c)
{
    return c == ',' || c == ' ' || c == '\t';
}

bool http1_list_next(struct slice *list, struct slice *word)
{
    size_t len = 0;

    while (list->len > 0 && divides(*list->ptr)) {
        *list = slice_from(*list, 1);
    }
    while (len < list->len && !divides(list->ptr[len])) {
        len++;
    }
    *word = slice_of(list->ptr, len);
    *list = slice_from(*list, len);
    return len > 0;
}

bool http1_list_names(const char *list, struct slice text)
{
    struct slice rest = slice_str(list);
    struct slice word;

    while (http1_list_next(&rest, &word)) {
        if (http1_same_word(word, text)) {
            return true;
        }
    }
    return false;
}
