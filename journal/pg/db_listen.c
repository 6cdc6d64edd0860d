/* SPDX-License-Identifier: MIT */
#include "journal/pg/db.h"

#include <poll.h>
#include <stdio.h>

// A server that knows no LISTEN (CockroachDB) is not asked again: whoever waits polls then.
static enum rows_outcome listen_once(struct db *db)
{
    char command[ROWS_NAME_MAX + 16];
    enum rows_outcome outcome;

    if (db->listens || db->deaf || !db->channel[0]) {
        return ROWS_DONE;
    }
    (void)snprintf(command, sizeof command, "LISTEN %s", db->channel);
    outcome = db_say(db, command, DB_LOOKS);
    db->listens = outcome == ROWS_DONE;
    db->deaf = outcome == ROWS_REFUSED;
    return db->deaf ? ROWS_DONE : outcome;
}

void db_rest(struct db *db, nsec_t until_at)
{
    db_drop(db);
    (void)db_poll(db, 0, until_at);
}

enum rows_outcome db_listen(struct db *db, nsec_t for_at_most)
{
    nsec_t until_at = nsec_add(db_now(), for_at_most > 0 ? for_at_most : 0);
    enum rows_outcome outcome = listen_once(db);

    if (outcome != ROWS_DONE) {
        return outcome;
    }
    while (!db_hear(db)) {
        enum db_event event = db_poll(db, POLLIN, until_at);

        if (event == DB_STOPPED) {
            return db_fail(db, ROWS_STOPPED, "stopped");
        }
        if (event == DB_LATE) {
            return ROWS_DONE;
        }
        if (!PQconsumeInput(db->conn)) {
            (void)db_fail(db, ROWS_AWAY, "%s", PQerrorMessage(db->conn));
            db_drop(db);
            return ROWS_AWAY;
        }
    }
    db->woken = false;
    return ROWS_DONE;
}
