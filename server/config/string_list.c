/* SPDX-License-Identifier: MIT */
#include "server/config/string_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// NULL without memory.
__attribute__((format(printf, 1, 0))) static char *string_format(const char *format, va_list args)
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

// Takes ownership of the text; NULL means that there was no memory.
static void string_list_append(struct string_list *list, char *text)
{
    if (text && list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 8;
        char **all = realloc(list->all, room * sizeof *all);

        if (all) {
            list->all = all;
            list->room = room;
        }
    }
    if (text && list->count < list->room) {
        list->all[list->count++] = text;
        return;
    }
    free(text);
    list->out_of_memory = true;
}

void string_list_add(struct string_list *list, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    string_list_append(list, string_format(format, args));
    va_end(args);
}

void string_list_move(struct string_list *list, struct string_list *more)
{
    for (size_t i = 0; i < more->count; i++) {
        string_list_append(list, more->all[i]);
    }
    list->out_of_memory = list->out_of_memory || more->out_of_memory;
    more->count = 0;
    string_list_clear(more);
}

void string_list_clear(struct string_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->all[i]);
    }
    free(list->all);
    *list = (struct string_list){.all = NULL};
}
