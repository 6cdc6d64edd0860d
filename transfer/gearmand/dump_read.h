/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_DUMP_READ_H
#define TANDEM_TRANSFER_GEARMAND_DUMP_READ_H

// Reads the rows of one table from a dump by mysqldump or mariadb-dump: from the statements INSERT
// and REPLACE in all their forms. CREATE TABLE gives the order of the columns; other statements and
// rows of other tables are skipped. One row at a time is in memory.

#include "core/base/slice.h"
#include "transfer/gearmand/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Number of columns of gearmand's table, and the maximum for any table.
#define DUMP_COLUMNS 5
#define DUMP_COLUMNS_MAX 64

struct dump_bytes {
    char *ptr;
    size_t len, capacity;
};

enum dump_word {
    DUMP_NAME,   // a word without quotes, or in backquotes (`quoted`)
    DUMP_STRING, // in quotes, with the escapes decoded
    DUMP_HEX,    // 0x41 or x'41', decoded
    DUMP_NUMBER, // as text
    DUMP_SIGN,   // any other byte
    DUMP_END,    // the end of the file
    DUMP_BAD     // invalid: `why`
};

// Splits a file into the words of MySQL's SQL. All private to dump_read.c.
struct dump_lex {
    FILE *file;
    uint64_t line; // number of the current line
    enum dump_word word;
    bool quoted;             // DUMP_NAME
    char sign;               // DUMP_SIGN
    struct dump_bytes bytes; // the other words
    const char *why;         // DUMP_BAD; static
};

struct dump_read {
    struct dump_lex lex; /* private */
    const char *table;   // borrowed
    // For each column of the table, and of the current statement, its index among gearmand's
    // columns; DUMP_COLUMNS for other columns.
    uint8_t order[DUMP_COLUMNS_MAX], given[DUMP_COLUMNS_MAX]; /* private */
    size_t order_count, given_count;                          /* private */
    bool in_values; /* private: within a statement, in front of a row */
    bool peeked;    /* private: the first word of the next statement is already read */
    bool torn;      /* private: the last row was complete, but its statement is not */
    bool named;     // a statement named the table
    struct dump_bytes values[DUMP_COLUMNS]; /* private */
    bool is_null[DUMP_COLUMNS];             /* private */
};

void dump_read_begin(struct dump_read *read, FILE *file, const char *table);
void dump_read_end(struct dump_read *read);

// JOB: a row, borrowed until the next call; MORE, DAMAGE or END.
enum source_answer dump_read_next(struct dump_read *read, struct row *row,
                                  struct source_news *news);

#endif
