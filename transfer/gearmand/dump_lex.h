/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_DUMP_LEX_H
#define TANDEM_TRANSFER_GEARMAND_DUMP_LEX_H

// The words of SQL as MySQL has it, out of a stream of any bytes. Memory is for one word.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// No value is longer; a job that is has no broker.
#define DUMP_VALUE_MAX ((size_t)1024 * 1024 * 1024)

struct dump_bytes {
    char *ptr;
    size_t len, capacity;
};

enum dump_word {
    DUMP_NAME,   // a word without quotes, or in back quotes (`quoted`)
    DUMP_STRING, // in quotes, with its escapes undone
    DUMP_HEX,    // 0x41, x'41': the bytes
    DUMP_NUMBER, // as its text
    DUMP_SIGN,   // any other byte
    DUMP_END,    // of the stream
    DUMP_BAD     // `why`
};

struct dump_lex {
    FILE *file;
    uint64_t line; // the number of the line that was read last
    enum dump_word word;
    bool quoted;             // DUMP_NAME
    char sign;               // DUMP_SIGN
    struct dump_bytes bytes; // of all others
    const char *why;         // DUMP_BAD; static
};

void dump_lex_begin(struct dump_lex *lex, FILE *file);
void dump_lex_end(struct dump_lex *lex);

// Reads the next word. Comments are passed over, also those that a server would execute.
enum dump_word dump_lex_next(struct dump_lex *lex);

// Whether the word is that name, whatever its case; a quoted one never is.
bool dump_lex_is(const struct dump_lex *lex, const char *name);
bool dump_lex_is_sign(const struct dump_lex *lex, char sign);

// Goes on behind something bad: at the next line that begins with INSERT or REPLACE, or at the end.
void dump_lex_mend(struct dump_lex *lex);

#endif
