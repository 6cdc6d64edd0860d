/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_SQLSTATE_H
#define TANDEM_JOURNAL_PG_SQLSTATE_H

// What an error or a warning of PostgreSQL means for a journal. Severity and SQLSTATE are as the
// server sends them (https://www.postgresql.org/docs/15/errcodes-appendix.html); NULL is allowed.

#include "journal/pg/journal_rows.h"

#include <stdbool.h>

struct sqlstate_meaning {
    // ROWS_DOUBT: the statement may have been executed. ROWS_AWAY, ROWS_REFUSED: it was not.
    enum rows_outcome outcome;
    bool leave; // the connection is unusable, or another server may be better
};

struct sqlstate_meaning sqlstate_of_error(const char *severity, const char *state);
// Whether a warning says that a commit may be known to this server only.
bool sqlstate_warns_of_commit(const char *severity, const char *state);

#endif
