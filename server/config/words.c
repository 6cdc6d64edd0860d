/* SPDX-License-Identifier: MIT */
#include "server/config/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// NULL without memory.
__attribute__((format(printf, 1, 0))) static char *text_made(const char *format, va_list args)
{
    va_list again;
    char *text = NULL;
    int len;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, args);
    if (len >= 0 && (text = malloc((size_t)len + 1))) {
        (void)vsnprintf(text, (size_t)len + 1, format, again);
    }
    va_end(again);
    return text;
}

static bool words_make_room(struct words *words)
{
    size_t room = words->room ? 2 * words->room : 8;
    char **all;

    if (words->count < words->room) {
        return true;
    }
    all = realloc(words->all, room * sizeof *all);
    if (!all) {
        return false;
    }
    words->all = all;
    words->room = room;
    return true;
}

// Takes the text over.
static void words_take(struct words *words, char *text)
{
    if (text && words_make_room(words)) {
        words->all[words->count++] = text;
        return;
    }
    free(text);
    words->is_torn = true;
}

void words_add(struct words *words, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    words_take(words, text_made(format, args));
    va_end(args);
}

void words_move(struct words *words, struct words *more)
{
    for (size_t i = 0; i < more->count; i++) {
        words_take(words, more->all[i]);
    }
    words->is_torn = words->is_torn || more->is_torn;
    more->count = 0;
    words_clear(more);
}

void words_clear(struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->all[i]);
    }
    free(words->all);
    *words = (struct words){.all = NULL};
}
