/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_ARGS_H
#define TANDEM_JOURNAL_PG_ARGS_H

// The parameters of a statement, and the fields of what it answers, as they are on the wire: bytea
// and text as they are, bigint with its highest byte first, boolean as one byte.

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARGS_MAX 12

struct args {
    int count;
    const char *values[ARGS_MAX];
    int lengths[ARGS_MAX];
    int formats[ARGS_MAX];
    char numbers[ARGS_MAX][sizeof(int64_t)];
};

// Texts and bytes are borrowed. A number is a bigint, which is signed: the highest bit must be 0.
void args_number(struct args *args, uint64_t number);
void args_text(struct args *args, const char *text);
void args_bytes(struct args *args, const char *bytes, size_t len);

// Of NULL, or of what is no number: 0.
int64_t field_number(const PGresult *result, int row, int column);
bool field_bool(const PGresult *result, int row, int column);
// Cut to `size`.
void field_text(const PGresult *result, int row, int column, char *text, size_t size);

#endif
