/* SPDX-License-Identifier: MIT */
#include "server/config/file_mode.h"

#include <string.h>

bool file_mode_parse(const char *text, mode_t *mode, struct error_text *why)
{
    size_t len = strlen(text);
    mode_t sum = 0;

    if (len == 0 || len > 4 || text[strspn(text, "01234567")] != '\0' ||
        (len == 4 && text[0] != '0')) {
        return error_set(why, "`%s` is not a mode from 0 to 0777", text);
    }
    for (; *text; text++) {
        sum = sum * 8 + (mode_t)(*text - '0');
    }
    *mode = sum;
    return true;
}
