/* SPDX-License-Identifier: MIT */
#include "server/config/ini_line.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n' || byte == '\v' ||
           byte == '\f';
}

// Without blanks at either end.
static char *trim(char *text)
{
    size_t len;

    while (is_blank(*text)) {
        text++;
    }
    for (len = strlen(text); len > 0 && is_blank(text[len - 1]); len--) {
    }
    text[len] = '\0';
    return text;
}

static void cut_comment(char *line)
{
    for (char *at = strchr(line, ';'); at; at = strchr(at + 1, ';')) {
        if (at > line && is_blank(at[-1])) {
            *at = '\0';
            return;
        }
    }
}

enum ini_line ini_line_cut(char *line, char **name, char **value)
{
    char *end;

    line = trim(line);
    if (*line == '\0' || *line == '#' || *line == ';') {
        return INI_NOTHING;
    }
    cut_comment(line);
    line = trim(line);
    end = line + strlen(line) - 1;
    if (*line == '[') {
        *name = line + 1;
        if (*end != ']') {
            return INI_BAD;
        }
        *end = '\0';
        return INI_SECTION;
    }
    end = line + strcspn(line, "=:");
    if (*end == '\0') {
        return INI_BAD;
    }
    *end = '\0';
    *name = trim(line);
    *value = trim(end + 1);
    return INI_KEY;
}
