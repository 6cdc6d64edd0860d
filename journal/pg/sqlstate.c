/* SPDX-License-Identifier: MIT */
#include "journal/pg/sqlstate.h"

#include "core/base/macros.h"

#include <string.h>

// A class has two characters, a state five. The first row that a state begins with says it.
static const struct {
    const char *state;
    struct sqlstate_meaning meaning;
} sqlstates[] = {
    // It waits for a lock of somebody else's.
    {"55P03", {ROWS_AWAY, false}},
    // A row of that number is there: ours of before, or somebody else's.
    {"23505", {ROWS_DOUBT, false}},
    // Of databases that are several servers: they do not know themselves.
    {"40003", {ROWS_DOUBT, true}},
    // The transaction was rolled back: a conflict, or a deadlock.
    {"40", {ROWS_AWAY, false}},
    // It reads only: a primary of before. The next connection finds that of now.
    {"25006", {ROWS_AWAY, true}},
    // A transaction that is not as we think it is.
    {"25", {ROWS_AWAY, true}},
    // A prepared statement that has gone, by a pool between us and the server.
    {"26", {ROWS_AWAY, true}},
    {"42P05", {ROWS_AWAY, true}},
    // Lost, or never had.
    {"08", {ROWS_DOUBT, true}},
    {"57014", {ROWS_AWAY, false}},
    {"57", {ROWS_DOUBT, true}},
    // Memory, disk, connections; what the system says; what it does not understand itself.
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
