/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_VERDICT_H
#define TANDEM_JOURNAL_PG_VERDICT_H

// What an error or a warning of PostgreSQL means for a journal. Severity and SQLSTATE are as the
// server sends them (https://www.postgresql.org/docs/15/errcodes-appendix.html); NULL is allowed.

#include "journal/pg/rows.h"

#include <stdbool.h>

struct verdict {
    // ROWS_DOUBT: what was under way may have been done. ROWS_AWAY, ROWS_REFUSED: it was not.
    enum rows_outcome outcome;
    bool leave; // the connection is of no use any more, or another server may be
};

struct verdict verdict_of_error(const char *severity, const char *state);
// Whether a warning says that what was committed here may be known here only.
bool verdict_of_warning(const char *severity, const char *state);

#endif
