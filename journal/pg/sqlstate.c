/* SPDX-License-Identifier: MIT */
#include "journal/pg/sqlstate.h"

#include "core/base/macros.h"

#include <string.h>

// A class has two characters, a state five. The first matching prefix counts.
static const struct {
    const char *state;
    struct sqlstate_meaning meaning;
} sqlstates[] = {
    // Another session has the lock.
    {"55P03", {ROWS_AWAY, false}},
    // A row with that number exists: ours from before, or another process's.
    {"23505", {ROWS_DOUBT, false}},
    // Databases of several servers that do not know the outcome themselves.
    {"40003", {ROWS_DOUBT, true}},
    // The transaction was rolled back: a conflict, or a deadlock.
    {"40", {ROWS_AWAY, false}},
    // A read-only server: a former primary. The next connection finds the present one.
    {"25006", {ROWS_AWAY, true}},
    // The transaction is not in the expected state.
    {"25", {ROWS_AWAY, true}},
    // The prepared statement is unknown, because of a pooler between.
    {"26", {ROWS_AWAY, true}},
    {"42P05", {ROWS_AWAY, true}},
    // The connection was lost, or could not be made.
    {"08", {ROWS_DOUBT, true}},
    {"57014", {ROWS_AWAY, false}},
    {"57", {ROWS_DOUBT, true}},
    // Memory, disk, connections; errors of the system; internal errors.
    {"53", {ROWS_AWAY, true}},
    {"54", {ROWS_AWAY, true}},
    {"58", {ROWS_AWAY, true}},
    {"XX", {ROWS_AWAY, true}},
};

static bool sqlstate_text_is(const char *text, const char *what)
{
    return text && strcmp(text, what) == 0;
}

struct sqlstate_meaning sqlstate_of_error(const char *severity, const char *state)
{
    if (!state || sqlstate_text_is(severity, "FATAL") || sqlstate_text_is(severity, "PANIC")) {
        return (struct sqlstate_meaning){ROWS_DOUBT, true};
    }
    for (size_t i = 0; i < sizeof sqlstates / sizeof sqlstates[0]; i++) {
        if (strncmp(state, sqlstates[i].state, strlen(sqlstates[i].state)) == 0) {
            return sqlstates[i].meaning;
        }
    }
    return (struct sqlstate_meaning){ROWS_REFUSED, false};
}

// The two ways in which a server ends its wait for a standby (SyncRepWaitForLSN()) have the states
// "warning" and "administrator shutdown".
bool sqlstate_warns_of_commit(const char *severity, const char *state)
{
    return sqlstate_text_is(severity, "WARNING") &&
           (!state || strncmp(state, "01", 2) == 0 || strncmp(state, "57", 2) == 0);
}
