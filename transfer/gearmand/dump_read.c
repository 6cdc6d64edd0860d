/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/dump_read.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMN_UNIQUE, COLUMN_FUNCTION, COLUMN_PRIORITY, COLUMN_DATA, COLUMN_WHEN };

// Of a call, so that others have a turn.
#define WORDS_AT_ONCE 10000

static const char *const columns[DUMP_COLUMNS] = {
    [COLUMN_UNIQUE] = "unique_key", [COLUMN_FUNCTION] = "function_name",
    [COLUMN_PRIORITY] = "priority", [COLUMN_DATA] = "data",
    [COLUMN_WHEN] = "when_to_run",
};

void dump_read_begin(struct dump_read *read, FILE *file, const char *table)
{
    dump_read_end(read);
    memset(read, 0, sizeof *read);
    dump_lex_begin(&read->lex, file);
    read->table = table;
    for (uint8_t i = 0; i < DUMP_COLUMNS; i++) {
        read->order[i] = i;
    }
    read->order_count = DUMP_COLUMNS;
}

void dump_read_end(struct dump_read *read)
{
    dump_lex_end(&read->lex);
    for (size_t i = 0; i < DUMP_COLUMNS; i++) {
        free(read->values[i].ptr);
        read->values[i] = (struct dump_bytes){.ptr = NULL};
    }
}

static enum source_answer damage(struct dump_read *read, const char *why, struct source_news *news)
{
    uint64_t line = read->lex.line;

    read->in_values = false;
    if (read->lex.word != DUMP_END) {
        dump_lex_mend(&read->lex);
    }
    read->behind = true;
    return source_damage(news, "line", line, "%s", why);
}

static bool is_name(const struct dump_lex *lex, const char *name)
{
    return lex->word == DUMP_NAME && lex->bytes.len == strlen(name) &&
           memcmp(lex->bytes.ptr, name, lex->bytes.len) == 0;
}

// To the end of the statement; false where that does not come.
static bool skip_statement(struct dump_read *read)
{
    while (!dump_lex_is_sign(&read->lex, ';')) {
        if (read->lex.word == DUMP_END || read->lex.word == DUMP_BAD) {
            return false;
        }
        (void)dump_lex_next(&read->lex);
    }
    return true;
}

static uint8_t column_of(const struct dump_lex *lex)
{
    uint8_t i = 0;

    while (i < DUMP_COLUMNS && !is_name(lex, columns[i])) {
        i++;
    }
    return i;
}

// The name of a table, behind that of a database. Whether it is ours; the word behind it is read.
static bool read_table(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;
    bool ours = is_name(lex, read->table);

    if (dump_lex_next(lex) == DUMP_SIGN && lex->sign == '.') {
        (void)dump_lex_next(lex);
        ours = is_name(lex, read->table);
        (void)dump_lex_next(lex);
    }
    read->named |= ours;
    return ours;
}

// LOCK TABLES: all that a dump without CREATE TABLE says of a table that is empty.
static void read_lock(struct dump_read *read)
{
    (void)dump_lex_next(&read->lex);
    if (dump_lex_is(&read->lex, "TABLES")) {
        (void)dump_lex_next(&read->lex);
        (void)read_table(read);
    }
}

static bool is_column(const struct dump_lex *lex)
{
    static const char *const others[] = {"PRIMARY",  "UNIQUE",  "KEY",     "INDEX", "CONSTRAINT",
                                         "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK", "PERIOD"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (dump_lex_is(lex, others[i])) {
            return false;
        }
    }
    return lex->word == DUMP_NAME;
}

// CREATE TABLE: in which order the table has its columns. Anything that is no such thing leaves the
// order alone.
static void read_create(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;
    unsigned depth = 1;
    size_t count = 0;
    bool begins = true;

    (void)dump_lex_next(lex);
    if (!dump_lex_is(lex, "TABLE")) {
        return;
    }
    (void)dump_lex_next(lex);
    while (dump_lex_is(lex, "IF") || dump_lex_is(lex, "NOT") || dump_lex_is(lex, "EXISTS")) {
        (void)dump_lex_next(lex);
    }
    if (!read_table(read) || !dump_lex_is_sign(lex, '(')) {
        return;
    }
    while (depth > 0 && dump_lex_next(lex) != DUMP_END && lex->word != DUMP_BAD) {
        if (begins && is_column(lex) && count < DUMP_COLUMNS_MAX) {
            read->order[count++] = column_of(lex);
        }
        depth += dump_lex_is_sign(lex, '(');
        depth -= dump_lex_is_sign(lex, ')');
        begins = depth == 1 && dump_lex_is_sign(lex, ',');
    }
    read->order_count = count;
}

// (a, b, ...). The word behind it is read. False where it is no such list.
static bool read_columns(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;

    read->given_count = 0;
    do {
        if (dump_lex_next(lex) != DUMP_NAME || read->given_count == DUMP_COLUMNS_MAX) {
            return false;
        }
        read->given[read->given_count++] = column_of(lex);
    } while (dump_lex_next(lex) == DUMP_SIGN && lex->sign == ',');
    if (!dump_lex_is_sign(lex, ')')) {
        return false;
    }
    (void)dump_lex_next(lex);
    return true;
}

// INSERT or REPLACE, as far as its rows. False where it is damaged.
static bool read_insert(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;

    do {
        (void)dump_lex_next(lex);
    } while (dump_lex_is(lex, "LOW_PRIORITY") || dump_lex_is(lex, "DELAYED") ||
             dump_lex_is(lex, "HIGH_PRIORITY") || dump_lex_is(lex, "IGNORE") ||
             dump_lex_is(lex, "INTO"));
    if (!read_table(read)) {
        return skip_statement(read);
    }
    memcpy(read->given, read->order, sizeof read->given);
    read->given_count = read->order_count;
    if (dump_lex_is_sign(lex, '(') && !read_columns(read)) {
        return false;
    }
    read->in_values = dump_lex_is(lex, "VALUES") || dump_lex_is(lex, "VALUE");
    return read->in_values;
}

//
// Rows
//

static bool read_value(struct dump_read *read, uint8_t column)
{
    struct dump_lex *lex = &read->lex;
    struct dump_bytes bytes;

    // _binary 'data': in which character set it is.
    if (dump_lex_next(lex) == DUMP_NAME && !lex->quoted && lex->bytes.ptr[0] == '_') {
        (void)dump_lex_next(lex);
    }
    if (lex->word != DUMP_STRING && lex->word != DUMP_HEX && lex->word != DUMP_NUMBER &&
        !dump_lex_is(lex, "NULL")) {
        return false;
    }
    if (column < DUMP_COLUMNS) {
        read->is_null[column] = lex->word == DUMP_NAME;
        bytes = read->values[column];
        read->values[column] = lex->bytes;
        lex->bytes = bytes;
    }
    return true;
}

static bool read_values(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;

    for (size_t i = 0; i < DUMP_COLUMNS; i++) {
        read->is_null[i] = true;
    }
    for (size_t i = 0; i < read->given_count; i++) {
        if (!read_value(read, read->given[i])) {
            return false;
        }
        (void)dump_lex_next(lex);
        if (!dump_lex_is_sign(lex, i + 1 < read->given_count ? ',' : ')')) {
            return false;
        }
    }
    return read->given_count > 0;
}

static struct slice value_of(const struct dump_read *read, unsigned column)
{
    const struct dump_bytes *bytes = &read->values[column];

    return read->is_null[column] || bytes->len == 0 ? SLICE("") : slice_of(bytes->ptr, bytes->len);
}

// At most ten digits, and perhaps a sign; false where it is none.
static bool number_of(const struct dump_read *read, unsigned column, int64_t *number)
{
    struct slice text = value_of(read, column);
    bool minus = text.len > 0 && text.ptr[0] == '-';

    *number = 0;
    text = slice_from(text, minus);
    if (text.len == 0 || text.len > 10) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
        *number = *number * 10 + (text.ptr[i] - '0');
    }
    *number = minus ? -*number : *number;
    return true;
}

static enum source_answer take_row(struct dump_read *read, struct row *row,
                                   struct source_news *news)
{
    *row = (struct row){
        .unique = value_of(read, COLUMN_UNIQUE),
        .function = value_of(read, COLUMN_FUNCTION),
        .data = value_of(read, COLUMN_DATA),
        .number = read->lex.line,
    };
    if (!number_of(read, COLUMN_PRIORITY, &row->priority)) {
        return source_damage(news, "line", row->number, "the priority is no number");
    }
    if (!number_of(read, COLUMN_WHEN, &row->when_to_run) && !read->is_null[COLUMN_WHEN]) {
        return source_damage(news, "line", row->number, "when_to_run is no number");
    }
    return SOURCE_JOB;
}

// In front of a row, or behind the last one of a statement.
static enum source_answer next_row(struct dump_read *read, struct row *row,
                                   struct source_news *news)
{
    struct dump_lex *lex = &read->lex;

    (void)dump_lex_next(lex);
    if (!dump_lex_is_sign(lex, '(') || !read_values(read)) {
        return damage(read, lex->word == DUMP_BAD ? lex->why : "it is no row of the table", news);
    }
    (void)dump_lex_next(lex);
    if (!dump_lex_is_sign(lex, ',')) {
        read->in_values = false;
        // ON DUPLICATE KEY UPDATE, or the end. A row that is whole counts, whatever follows it.
        read->torn = !skip_statement(read);
    }
    return take_row(read, row, news);
}

enum source_answer dump_read_next(struct dump_read *read, struct row *row, struct source_news *news)
{
    struct dump_lex *lex = &read->lex;

    if (read->torn) {
        read->torn = false;
        return damage(read, lex->word == DUMP_BAD ? lex->why : "the dump ends in a statement",
                      news);
    }
    for (unsigned i = 0; i < WORDS_AT_ONCE; i++) {
        if (read->in_values) {
            return next_row(read, row, news);
        }
        if (!read->behind) {
            (void)dump_lex_next(lex);
        }
        read->behind = false;
        if (lex->word == DUMP_END) {
            return SOURCE_END;
        }
        if (dump_lex_is(lex, "CREATE")) {
            read_create(read);
        } else if (dump_lex_is(lex, "LOCK")) {
            read_lock(read);
        }
        if (dump_lex_is(lex, "INSERT") || dump_lex_is(lex, "REPLACE")) {
            if (!read_insert(read)) {
                return damage(read, lex->word == DUMP_BAD ? lex->why : "it is no INSERT", news);
            }
        } else if (!skip_statement(read)) {
            return damage(read, lex->word == DUMP_BAD ? lex->why : "the dump ends in a statement",
                          news);
        }
    }
    return SOURCE_MORE;
}
