/* SPDX-License-Identifier: MIT */
#include "proto_http/list.h"

#include "core/broker.h"
#include "proto_common/http1/fields.h"

#include <fnmatch.h>
#include <string.h>

#define GLOB_MAX 512

static bool divides(char c)
{
    return c == ',' || c == ' ' || c == '\t';
}

bool web_list_next(struct slice *list, struct slice *word)
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

bool web_list_names(const char *list, struct slice text)
{
    struct slice rest = slice_of(list, strlen(list));
    struct slice word;

    while (web_list_next(&rest, &word)) {
        if (http1_same_word(word, text)) {
            return true;
        }
    }
    return false;
}

bool web_globs_match(const char *globs, struct slice name)
{
    struct slice rest = slice_of(globs, strlen(globs));
    char text[QUEUE_NAME_MAX + 1];
    char glob[GLOB_MAX + 1];
    struct slice word;

    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    while (web_list_next(&rest, &word)) {
        if (word.len <= GLOB_MAX) {
            memcpy(glob, word.ptr, word.len);
            glob[word.len] = '\0';
            if (fnmatch(glob, text, 0) == 0) {
                return true;
            }
        }
    }
    return false;
}
