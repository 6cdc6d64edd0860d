/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/dump_lex.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIRST_ROOM 256

void dump_lex_begin(struct dump_lex *lex, FILE *file)
{
    free(lex->bytes.ptr);
    *lex = (struct dump_lex){.file = file, .line = 1};
}

void dump_lex_end(struct dump_lex *lex)
{
    free(lex->bytes.ptr);
    lex->bytes = (struct dump_bytes){.ptr = NULL};
}

static int get(struct dump_lex *lex)
{
    int c = getc_unlocked(lex->file);

    lex->line += c == '\n';
    return c;
}

static void unget(struct dump_lex *lex, int c)
{
    if (c != EOF) {
        lex->line -= c == '\n';
        (void)ungetc(c, lex->file);
    }
}

static enum dump_word bad(struct dump_lex *lex, const char *why)
{
    lex->why = why;
    return DUMP_BAD;
}

static bool add(struct dump_bytes *bytes, int c)
{
    if (bytes->len == bytes->capacity) {
        size_t wanted = bytes->capacity ? bytes->capacity * 2 : FIRST_ROOM;
        char *grown = bytes->len < DUMP_VALUE_MAX ? realloc(bytes->ptr, wanted) : NULL;

        if (!grown) {
            return false;
        }
        bytes->ptr = grown;
        bytes->capacity = wanted;
    }
    bytes->ptr[bytes->len++] = (char)c;
    return true;
}

//
// Between words
//

static void skip_line(struct dump_lex *lex)
{
    int c;

    while ((c = get(lex)) != EOF && c != '\n') {
    }
}

// False at the end of the stream.
static bool skip_comment(struct dump_lex *lex)
{
    int before = 0;
    int c;

    while ((c = get(lex)) != EOF) {
        if (before == '*' && c == '/') {
            return true;
        }
        before = c;
    }
    return false;
}

static bool is_blank(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// The byte that the next word begins with; EOF at the end, with lex->why where that is no good one.
static int find_word(struct dump_lex *lex)
{
    for (;;) {
        int c = get(lex);

        if (is_blank(c)) {
            continue;
        }
        if (c == '#') {
            skip_line(lex);
            continue;
        }
        if (c == '-' || c == '/') {
            int next = get(lex);

            if (c == '-' && next == '-') {
                skip_line(lex);
                continue;
            }
            if (c == '/' && next == '*') {
                if (!skip_comment(lex)) {
                    (void)bad(lex, "the dump ends within a comment");
                    return EOF;
                }
                continue;
            }
            unget(lex, next);
        }
        return c;
    }
}

//
// Words
//

static int unescaped(int c)
{
    switch (c) {
    case '0':
        return '\0';
    case 'b':
        return '\b';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'Z':
        return 26;
    default:
        return c;
    }
}

static enum dump_word read_quoted(struct dump_lex *lex, int quote, enum dump_word word)
{
    int c;

    while ((c = get(lex)) != EOF) {
        if (c == quote) {
            // A quote that is doubled is one.
            c = get(lex);
            if (c != quote) {
                unget(lex, c);
                return word;
            }
        } else if (c == '\\' && quote != '`') {
            c = get(lex);
            if (c == EOF) {
                break;
            }
            c = unescaped(c);
        }
        if (!add(&lex->bytes, c)) {
            return bad(lex, "a value is longer than memory");
        }
    }
    return bad(lex, "the dump ends within a value");
}

static int digit_of(int c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Digits up to `end`, or, where that is EOF, as far as they go.
static enum dump_word read_hex(struct dump_lex *lex, int end)
{
    int high = -1;
    int c;

    while (digit_of(c = get(lex)) >= 0) {
        if (high < 0) {
            high = digit_of(c);
        } else if (!add(&lex->bytes, high * 16 + digit_of(c))) {
            return bad(lex, "a value is longer than memory");
        } else {
            high = -1;
        }
    }
    if (end == EOF) {
        unget(lex, c);
    } else if (c != end) {
        return bad(lex, "a hexadecimal value has no end");
    }
    return high < 0 ? DUMP_HEX : bad(lex, "a hexadecimal value has half a byte");
}

static bool is_of_name(int c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '$' ||
           (c != EOF && c >= 128);
}

static enum dump_word read_plain(struct dump_lex *lex, int c, enum dump_word word)
{
    bool number = word == DUMP_NUMBER;

    do {
        if (!add(&lex->bytes, c)) {
            return bad(lex, "a word is longer than memory");
        }
        c = get(lex);
    } while (is_of_name(c) || (number && (c == '.' || c == '+' || c == '-')));
    unget(lex, c);
    return word;
}

static enum dump_word read_word(struct dump_lex *lex, int c)
{
    int next = get(lex);

    if (c == '0' && (next == 'x' || next == 'X')) {
        return read_hex(lex, EOF);
    }
    if ((c == 'x' || c == 'X') && next == '\'') {
        return read_hex(lex, '\'');
    }
    unget(lex, next);
    if ((c >= '0' && c <= '9') || ((c == '-' || c == '+') && next >= '0' && next <= '9')) {
        return read_plain(lex, c, DUMP_NUMBER);
    }
    if (is_of_name(c)) {
        return read_plain(lex, c, DUMP_NAME);
    }
    lex->sign = (char)c;
    return DUMP_SIGN;
}

enum dump_word dump_lex_next(struct dump_lex *lex)
{
    int c;

    lex->why = NULL;
    c = find_word(lex);
    lex->bytes.len = 0;
    lex->quoted = c == '`';
    if (c == EOF) {
        if (ferror(lex->file)) {
            (void)bad(lex, "the dump cannot be read");
        }
        lex->word = lex->why ? DUMP_BAD : DUMP_END;
    } else if (c == '`') {
        lex->word = read_quoted(lex, c, DUMP_NAME);
    } else if (c == '\'' || c == '"') {
        lex->word = read_quoted(lex, c, DUMP_STRING);
    } else {
        lex->word = read_word(lex, c);
    }
    return lex->word;
}

bool dump_lex_is(const struct dump_lex *lex, const char *name)
{
    return lex->word == DUMP_NAME && !lex->quoted && lex->bytes.len == strlen(name) &&
           strncasecmp(lex->bytes.ptr, name, lex->bytes.len) == 0;
}

bool dump_lex_is_sign(const struct dump_lex *lex, char sign)
{
    return lex->word == DUMP_SIGN && lex->sign == sign;
}

void dump_lex_mend(struct dump_lex *lex)
{
    int c = 0;

    while (c != EOF) {
        skip_line(lex);
        c = get(lex);
        unget(lex, c);
        if (c == EOF || c == 'I' || c == 'R') {
            (void)dump_lex_next(lex);
            if (lex->word == DUMP_END || dump_lex_is(lex, "INSERT") ||
                dump_lex_is(lex, "REPLACE")) {
                return;
            }
        }
    }
    lex->word = DUMP_END;
}
