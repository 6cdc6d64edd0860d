/* SPDX-License-Identifier: MIT */
#include "access/reason.h"

#include <stdio.h>

// How much of the path and of the word there is room for, beside what is wrong.
#define PATH_SHOWN 100
#define WORD_SHOWN 48
#define BYTE_SHOWN 4 // \xHH

static void show_word(struct slice word, char shown[WORD_SHOWN + BYTE_SHOWN])
{
    static const char digits[] = "0123456789abcdef";
    size_t to = 0;

    for (size_t i = 0; i < word.len && to < WORD_SHOWN - BYTE_SHOWN; i++) {
        unsigned char byte = (unsigned char)word.ptr[i];

        if (byte >= ' ' && byte < 0x7f) {
            shown[to++] = (char)byte;
        } else {
            shown[to++] = '\\';
            shown[to++] = 'x';
            shown[to++] = digits[byte >> 4];
            shown[to++] = digits[byte & 15];
        }
    }
    shown[to] = '\0';
}

void reason_write(struct error_text *why, const char *path, const struct parse_error *error)
{
    char word[WORD_SHOWN + BYTE_SHOWN];

    show_word(error->word, word);
    if (error->line == 0) {
        (void)snprintf(why->text, sizeof why->text, "%.*s: %s", PATH_SHOWN, path, error->what);
    } else if (error->word.len == 0) {
        (void)snprintf(why->text, sizeof why->text, "%.*s:%u: %s", PATH_SHOWN, path, error->line,
                       error->what);
    } else {
        (void)snprintf(why->text, sizeof why->text, "%.*s:%u: \"%s\": %s", PATH_SHOWN, path,
                       error->line, word, error->what);
    }
}
