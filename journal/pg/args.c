/* SPDX-License-Identifier: MIT */
#include "journal/pg/args.h"

#include "core/base/macros.h"

#include <stdio.h>
#include <string.h>

static void add(struct args *args, const char *value, size_t len)
{
    ENSURE(args->count < ARGS_MAX);
    args->values[args->count] = value;
    args->lengths[args->count] = (int)len;
    args->formats[args->count] = 1;
    args->count++;
}

void args_number(struct args *args, uint64_t number)
{
    char *bytes = args->numbers[args->count];

    for (size_t i = 0; i < sizeof number; i++) {
        bytes[i] = (char)(number >> (8 * (sizeof number - 1 - i)));
    }
    add(args, bytes, sizeof number);
}

void args_text(struct args *args, const char *text)
{
    add(args, text, strlen(text));
}

void args_bytes(struct args *args, const char *bytes, size_t len)
{
    add(args, bytes, len);
}

int64_t field_number(const PGresult *result, int row, int column)
{
    const char *bytes = PQgetvalue(result, row, column);
    uint64_t number = 0;

    if (PQgetlength(result, row, column) != (int)sizeof number) {
        return 0;
    }
    for (size_t i = 0; i < sizeof number; i++) {
        number = number << 8 | (unsigned char)bytes[i];
    }
    return (int64_t)number;
}

bool field_bool(const PGresult *result, int row, int column)
{
    return PQgetlength(result, row, column) == 1 && PQgetvalue(result, row, column)[0] != 0;
}

void field_text(const PGresult *result, int row, int column, char *text, size_t size)
{
    (void)snprintf(text, size, "%.*s", PQgetlength(result, row, column),
                   PQgetvalue(result, row, column));
}
