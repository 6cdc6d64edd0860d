/* SPDX-License-Identifier: MIT */
#include "transfer/gearmand/dump_read.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LEX_FIRST_CAPACITY 256
// Maximum length of a value; jobs are far smaller.
#define DUMP_VALUE_MAX ((size_t)1024 * 1024 * 1024)

static int lex_get(struct dump_lex *lex)
{
    int c = getc_unlocked(lex->file);

    lex->line += c == '\n';
    return c;
}

static void lex_unget(struct dump_lex *lex, int c)
{
    if (c != EOF) {
        lex->line -= c == '\n';
        (void)ungetc(c, lex->file);
    }
}

static enum dump_word lex_bad(struct dump_lex *lex, const char *why)
{
    lex->why = why;
    return DUMP_BAD;
}

static bool lex_add(struct dump_bytes *bytes, int c)
{
    if (bytes->len == bytes->capacity) {
        size_t wanted = bytes->capacity ? bytes->capacity * 2 : LEX_FIRST_CAPACITY;
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

static void lex_skip_line(struct dump_lex *lex)
{
    int c;

    while ((c = lex_get(lex)) != EOF && c != '\n') {
    }
}

// False at the end of the stream.
static bool lex_skip_comment(struct dump_lex *lex)
{
    int before = 0;
    int c;

    while ((c = lex_get(lex)) != EOF) {
        if (before == '*' && c == '/') {
            return true;
        }
        before = c;
    }
    return false;
}

// Returns the first byte of the next word. EOF: the end, with lex->why if it is unexpected.
// Comments are skipped, also the ones that a server would execute.
static int lex_find_word(struct dump_lex *lex)
{
    for (;;) {
        int c = lex_get(lex);

        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            continue;
        }
        if (c == '#') {
            lex_skip_line(lex);
            continue;
        }
        if (c == '-' || c == '/') {
            int next = lex_get(lex);

            if (c == '-' && next == '-') {
                lex_skip_line(lex);
                continue;
            }
            if (c == '/' && next == '*') {
                if (!lex_skip_comment(lex)) {
                    (void)lex_bad(lex, "the dump ends within a comment");
                    return EOF;
                }
                continue;
            }
            lex_unget(lex, next);
        }
        return c;
    }
}

//
// Words
//

static int lex_unescape(int c)
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

static enum dump_word lex_quoted(struct dump_lex *lex, int quote, enum dump_word word)
{
    int c;

    while ((c = lex_get(lex)) != EOF) {
        if (c == quote) {
            // A doubled quote stands for one.
            c = lex_get(lex);
            if (c != quote) {
                lex_unget(lex, c);
                return word;
            }
        } else if (c == '\\' && quote != '`') {
            c = lex_get(lex);
            if (c == EOF) {
                break;
            }
            c = lex_unescape(c);
        }
        if (!lex_add(&lex->bytes, c)) {
            return lex_bad(lex, "out of memory for a value");
        }
    }
    return lex_bad(lex, "the dump ends within a value");
}

static int lex_hex_digit(int c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Reads digits up to `end`; if that is EOF, up to the first other byte.
static enum dump_word lex_hex(struct dump_lex *lex, int end)
{
    int high = -1;
    int c;

    while (lex_hex_digit(c = lex_get(lex)) >= 0) {
        if (high < 0) {
            high = lex_hex_digit(c);
        } else if (!lex_add(&lex->bytes, high * 16 + lex_hex_digit(c))) {
            return lex_bad(lex, "out of memory for a value");
        } else {
            high = -1;
        }
    }
    if (end == EOF) {
        lex_unget(lex, c);
    } else if (c != end) {
        return lex_bad(lex, "a hexadecimal value is not terminated");
    }
    return high < 0 ? DUMP_HEX : lex_bad(lex, "a hexadecimal value has an odd number of digits");
}

static bool lex_is_name_byte(int c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '$' ||
           (c != EOF && c >= 128);
}

static enum dump_word lex_plain(struct dump_lex *lex, int c, enum dump_word word)
{
    bool number = word == DUMP_NUMBER;

    do {
        if (!lex_add(&lex->bytes, c)) {
            return lex_bad(lex, "out of memory for a word");
        }
        c = lex_get(lex);
    } while (lex_is_name_byte(c) || (number && (c == '.' || c == '+' || c == '-')));
    lex_unget(lex, c);
    return word;
}

static enum dump_word lex_word(struct dump_lex *lex, int c)
{
    int next = lex_get(lex);

    if (c == '0' && (next == 'x' || next == 'X')) {
        return lex_hex(lex, EOF);
    }
    if ((c == 'x' || c == 'X') && next == '\'') {
        return lex_hex(lex, '\'');
    }
    lex_unget(lex, next);
    if ((c >= '0' && c <= '9') || ((c == '-' || c == '+') && next >= '0' && next <= '9')) {
        return lex_plain(lex, c, DUMP_NUMBER);
    }
    if (lex_is_name_byte(c)) {
        return lex_plain(lex, c, DUMP_NAME);
    }
    lex->sign = (char)c;
    return DUMP_SIGN;
}

static enum dump_word lex_next(struct dump_lex *lex)
{
    int c;

    lex->why = NULL;
    c = lex_find_word(lex);
    lex->bytes.len = 0;
    lex->quoted = c == '`';
    if (c == EOF) {
        if (ferror(lex->file)) {
            (void)lex_bad(lex, "the dump cannot be read");
        }
        lex->word = lex->why ? DUMP_BAD : DUMP_END;
    } else if (c == '`') {
        lex->word = lex_quoted(lex, c, DUMP_NAME);
    } else if (c == '\'' || c == '"') {
        lex->word = lex_quoted(lex, c, DUMP_STRING);
    } else {
        lex->word = lex_word(lex, c);
    }
    return lex->word;
}

static bool lex_is(const struct dump_lex *lex, const char *name)
{
    return lex->word == DUMP_NAME && !lex->quoted && lex->bytes.len == strlen(name) &&
           strncasecmp(lex->bytes.ptr, name, lex->bytes.len) == 0;
}

static bool lex_is_sign(const struct dump_lex *lex, char sign)
{
    return lex->word == DUMP_SIGN && lex->sign == sign;
}

static void lex_resync(struct dump_lex *lex)
{
    int c = 0;

    while (c != EOF) {
        lex_skip_line(lex);
        c = lex_get(lex);
        lex_unget(lex, c);
        if (c == EOF || c == 'I' || c == 'R') {
            (void)lex_next(lex);
            if (lex->word == DUMP_END || lex_is(lex, "INSERT") || lex_is(lex, "REPLACE")) {
                return;
            }
        }
    }
    lex->word = DUMP_END;
}

enum { COLUMN_UNIQUE, COLUMN_FUNCTION, COLUMN_PRIORITY, COLUMN_DATA, COLUMN_WHEN };

// Statements per call, so that the caller stays responsive.
#define STATEMENTS_AT_ONCE 10000

static const char *const dump_columns[DUMP_COLUMNS] = {
    [COLUMN_UNIQUE] = "unique_key", [COLUMN_FUNCTION] = "function_name",
    [COLUMN_PRIORITY] = "priority", [COLUMN_DATA] = "data",
    [COLUMN_WHEN] = "when_to_run",
};

void dump_read_begin(struct dump_read *read, FILE *file, const char *table)
{
    dump_read_end(read);
    memset(read, 0, sizeof *read);
    read->lex.file = file;
    read->lex.line = 1;
    read->table = table;
    for (uint8_t i = 0; i < DUMP_COLUMNS; i++) {
        read->order[i] = i;
    }
    read->order_count = DUMP_COLUMNS;
}

void dump_read_end(struct dump_read *read)
{
    free(read->lex.bytes.ptr);
    read->lex.bytes = (struct dump_bytes){.ptr = NULL};
    for (size_t i = 0; i < DUMP_COLUMNS; i++) {
        free(read->values[i].ptr);
        read->values[i] = (struct dump_bytes){.ptr = NULL};
    }
}

static enum source_answer dump_damage(struct dump_read *read, const char *why,
                                      struct source_news *news)
{
    uint64_t line = read->lex.line;

    read->in_values = false;
    if (read->lex.word != DUMP_END) {
        lex_resync(&read->lex);
    }
    read->peeked = true;
    return source_damage(news, "line", line, "%s", why);
}

static bool dump_is_name(const struct dump_lex *lex, const char *name)
{
    return lex->word == DUMP_NAME && lex->bytes.len == strlen(name) &&
           memcmp(lex->bytes.ptr, name, lex->bytes.len) == 0;
}

// Skips the rest of the statement. False: the dump ends, or is damaged, within it.
static bool dump_skip_statement(struct dump_read *read)
{
    while (!lex_is_sign(&read->lex, ';')) {
        if (read->lex.word == DUMP_END || read->lex.word == DUMP_BAD) {
            return false;
        }
        (void)lex_next(&read->lex);
    }
    return true;
}

static uint8_t dump_column(const struct dump_lex *lex)
{
    uint8_t i = 0;

    while (i < DUMP_COLUMNS && !dump_is_name(lex, dump_columns[i])) {
        i++;
    }
    return i;
}

// Reads the name of a table, which may follow the name of its database, and the word after it.
// Whether it is the table.
static bool dump_table(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;
    bool ours = dump_is_name(lex, read->table);

    if (lex_next(lex) == DUMP_SIGN && lex->sign == '.') {
        (void)lex_next(lex);
        ours = dump_is_name(lex, read->table);
        (void)lex_next(lex);
    }
    read->named |= ours;
    return ours;
}

// LOCK TABLES: in a dump without CREATE TABLE, the only statement that names an empty table.
static void dump_lock(struct dump_read *read)
{
    (void)lex_next(&read->lex);
    if (lex_is(&read->lex, "TABLES")) {
        (void)lex_next(&read->lex);
        (void)dump_table(read);
    }
}

static bool dump_is_column(const struct dump_lex *lex)
{
    static const char *const others[] = {"PRIMARY",  "UNIQUE",  "KEY",     "INDEX", "CONSTRAINT",
                                         "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK", "PERIOD"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (lex_is(lex, others[i])) {
            return false;
        }
    }
    return lex->word == DUMP_NAME;
}

// CREATE TABLE: sets the order of the columns. If the statement is for something else, or cannot be
// parsed, the order stays.
static void dump_create(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;
    unsigned depth = 1;
    size_t count = 0;
    bool begins = true;

    (void)lex_next(lex);
    if (!lex_is(lex, "TABLE")) {
        return;
    }
    (void)lex_next(lex);
    while (lex_is(lex, "IF") || lex_is(lex, "NOT") || lex_is(lex, "EXISTS")) {
        (void)lex_next(lex);
    }
    if (!dump_table(read) || !lex_is_sign(lex, '(')) {
        return;
    }
    while (depth > 0 && lex_next(lex) != DUMP_END && lex->word != DUMP_BAD) {
        if (begins && dump_is_column(lex) && count < DUMP_COLUMNS_MAX) {
            read->order[count++] = dump_column(lex);
        }
        depth += lex_is_sign(lex, '(');
        depth -= lex_is_sign(lex, ')');
        begins = depth == 1 && lex_is_sign(lex, ',');
    }
    read->order_count = count;
}

// Reads a list (a, b, ...) and the word after it. False if it is not such a list.
static bool dump_column_list(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;

    read->given_count = 0;
    do {
        if (lex_next(lex) != DUMP_NAME || read->given_count == DUMP_COLUMNS_MAX) {
            return false;
        }
        read->given[read->given_count++] = dump_column(lex);
    } while (lex_next(lex) == DUMP_SIGN && lex->sign == ',');
    if (!lex_is_sign(lex, ')')) {
        return false;
    }
    (void)lex_next(lex);
    return true;
}

// Reads INSERT or REPLACE up to the rows. False if it is damaged.
static bool dump_insert(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;

    do {
        (void)lex_next(lex);
    } while (lex_is(lex, "LOW_PRIORITY") || lex_is(lex, "DELAYED") ||
             lex_is(lex, "HIGH_PRIORITY") || lex_is(lex, "IGNORE") || lex_is(lex, "INTO"));
    if (!dump_table(read)) {
        return dump_skip_statement(read);
    }
    memcpy(read->given, read->order, sizeof read->given);
    read->given_count = read->order_count;
    if (lex_is_sign(lex, '(') && !dump_column_list(read)) {
        return false;
    }
    read->in_values = lex_is(lex, "VALUES") || lex_is(lex, "VALUE");
    return read->in_values;
}

//
// Rows
//

static bool dump_value(struct dump_read *read, uint8_t column)
{
    struct dump_lex *lex = &read->lex;
    struct dump_bytes bytes;

    // A character set may come first: _binary 'data'.
    if (lex_next(lex) == DUMP_NAME && !lex->quoted && lex->bytes.ptr[0] == '_') {
        (void)lex_next(lex);
    }
    if (lex->word != DUMP_STRING && lex->word != DUMP_HEX && lex->word != DUMP_NUMBER &&
        !lex_is(lex, "NULL")) {
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

static bool dump_values(struct dump_read *read)
{
    struct dump_lex *lex = &read->lex;

    for (size_t i = 0; i < DUMP_COLUMNS; i++) {
        read->is_null[i] = true;
    }
    for (size_t i = 0; i < read->given_count; i++) {
        if (!dump_value(read, read->given[i])) {
            return false;
        }
        (void)lex_next(lex);
        if (!lex_is_sign(lex, i + 1 < read->given_count ? ',' : ')')) {
            return false;
        }
    }
    return read->given_count > 0;
}

static struct slice dump_value_of(const struct dump_read *read, unsigned column)
{
    const struct dump_bytes *bytes = &read->values[column];

    return read->is_null[column] || bytes->len == 0 ? SLICE("") : slice_of(bytes->ptr, bytes->len);
}

// Parses an optional minus and at most ten digits.
static bool dump_number_of(const struct dump_read *read, unsigned column, int64_t *number)
{
    struct slice text = dump_value_of(read, column);
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

static enum source_answer dump_take_row(struct dump_read *read, struct row *row,
                                        struct source_news *news)
{
    *row = (struct row){
        .unique = dump_value_of(read, COLUMN_UNIQUE),
        .function = dump_value_of(read, COLUMN_FUNCTION),
        .data = dump_value_of(read, COLUMN_DATA),
        .number = read->lex.line,
    };
    if (!dump_number_of(read, COLUMN_PRIORITY, &row->priority)) {
        return source_damage(news, "line", row->number, "the priority is not a number");
    }
    if (!dump_number_of(read, COLUMN_WHEN, &row->when_to_run) && !read->is_null[COLUMN_WHEN]) {
        return source_damage(news, "line", row->number, "when_to_run is not a number");
    }
    return SOURCE_JOB;
}

// Reads the next row of the statement.
static enum source_answer dump_next_row(struct dump_read *read, struct row *row,
                                        struct source_news *news)
{
    struct dump_lex *lex = &read->lex;

    (void)lex_next(lex);
    if (!lex_is_sign(lex, '(') || !dump_values(read)) {
        return dump_damage(
            read, lex->word == DUMP_BAD ? lex->why : "this is not a row of the table", news);
    }
    (void)lex_next(lex);
    if (!lex_is_sign(lex, ',')) {
        read->in_values = false;
        // ON DUPLICATE KEY UPDATE may follow. The row is complete, so it counts in any case.
        read->torn = !dump_skip_statement(read);
    }
    return dump_take_row(read, row, news);
}

enum source_answer dump_read_next(struct dump_read *read, struct row *row, struct source_news *news)
{
    struct dump_lex *lex = &read->lex;

    if (read->torn) {
        read->torn = false;
        return dump_damage(
            read, lex->word == DUMP_BAD ? lex->why : "the dump ends within a statement", news);
    }
    for (unsigned i = 0; i < STATEMENTS_AT_ONCE; i++) {
        if (read->in_values) {
            return dump_next_row(read, row, news);
        }
        if (!read->peeked) {
            (void)lex_next(lex);
        }
        read->peeked = false;
        if (lex->word == DUMP_END) {
            return SOURCE_END;
        }
        if (lex_is(lex, "CREATE")) {
            dump_create(read);
        } else if (lex_is(lex, "LOCK")) {
            dump_lock(read);
        }
        if (lex_is(lex, "INSERT") || lex_is(lex, "REPLACE")) {
            if (!dump_insert(read)) {
                return dump_damage(
                    read, lex->word == DUMP_BAD ? lex->why : "this is not a valid INSERT", news);
            }
        } else if (!dump_skip_statement(read)) {
            return dump_damage(
                read, lex->word == DUMP_BAD ? lex->why : "the dump ends within a statement", news);
        }
    }
    return SOURCE_MORE;
}
