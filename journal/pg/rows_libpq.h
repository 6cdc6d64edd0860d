/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_ROWS_LIBPQ_H
#define TANDEM_JOURNAL_PG_ROWS_LIBPQ_H

// Rows in a PostgreSQL, by libpq (schema.h says how they are kept there). Of what else speaks its
// wire, a server must know bigint, bytea, statements that are prepared, and WITH around what
// changes rows. Without LISTEN, wait() does no more than sleep. Units are removed by TRUNCATE
// within a transaction, of partitions of partitions, which YugabyteDB has and CockroachDB has not.
// A pool between must leave sessions alone (PgBouncer: pool_mode = session).

#include "journal/pg/rows.h"

#include "core/base/macros.h"

// Connects to nothing yet: what is wrong with the connection string is told by the first call.
// Settings are copied. NULL without memory or descriptors.
struct rows *rows_libpq_new(const struct rows_settings *settings) MUST_USE;

#endif
