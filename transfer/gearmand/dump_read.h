/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_DUMP_READ_H
#define TANDEM_TRANSFER_GEARMAND_DUMP_READ_H

// Rows of one table out of a dump of MySQL. Memory is for one row.

#include "transfer/gearmand/dump_lex.h"
#include "transfer/gearmand/rows.h"

// Columns of ours, and how many a table may have at all.
#define DUMP_COLUMNS 5
#define DUMP_COLUMNS_MAX 64

struct dump_read {
    struct dump_lex lex;
    const char *table;
    // Which column of ours the n-th one is, DUMP_COLUMNS for another; of the table, and of the
    // statement.
    uint8_t order[DUMP_COLUMNS_MAX], given[DUMP_COLUMNS_MAX];
    size_t order_count, given_count;
    bool in_values; // between the rows of a statement
    bool behind;    // the word is read that the next statement begins with
    bool torn;      // the last row was whole, and its statement is not
    bool named;     // a statement was about the table
    struct dump_bytes values[DUMP_COLUMNS];
    bool is_null[DUMP_COLUMNS];
};

void dump_read_begin(struct dump_read *read, FILE *file, const char *table);
void dump_read_end(struct dump_read *read);

// JOB: a row, borrowed until the next call; MORE, DAMAGE, END.
enum source_answer dump_read_next(struct dump_read *read, struct row *row,
                                  struct source_news *news);

#endif
