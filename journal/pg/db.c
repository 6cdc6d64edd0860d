/* SPDX-License-Identifier: MIT */
#include "journal/pg/db.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

nsec_t db_now(void)
{
    struct timespec now;

    ENSURE(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return nsec_from_seconds((uint64_t)now.tv_sec) + now.tv_nsec;
}

// A line is enough, and what is no text does not belong there.
enum rows_outcome db_fail(struct db *db, enum rows_outcome outcome, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(db->why, sizeof db->why, format, args);
    va_end(args);
    db->why[strcspn(db->why, "\r\n")] = '\0';
    return outcome;
}

//
// Life
//

// The longest of the lists says how many servers there are.
static unsigned count_hosts(const PQconninfoOption *option)
{
    unsigned most = 1;

    for (; option && option->keyword; option++) {
        if (option->val &&
            (strcmp(option->keyword, "host") == 0 || strcmp(option->keyword, "hostaddr") == 0)) {
            unsigned count = 1;

            for (const char *at = option->val; (at = strchr(at, ',')); at++) {
                count++;
            }
            most = count > most ? count : most;
        }
    }
    return most;
}

bool db_init(struct db *db, const char *conninfo, nsec_t patience_for)
{
    char *why = NULL;

    *db = (struct db){.patience_for = patience_for, .stop_fd = -1};
    db->options = PQconninfoParse(conninfo, &why);
    PQfreemem(why);
    db->hosts = count_hosts(db->options);
    db->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return db->stop_fd >= 0;
}

void db_close(struct db *db)
{
    db_drop(db);
    PQconninfoFree(db->options);
    if (db->stop_fd >= 0) {
        (void)close(db->stop_fd);
    }
}

void db_drop(struct db *db)
{
    PQfinish(db->conn);
    db->conn = NULL;
    db->listens = false;
    memset(db->prepared, 0, sizeof db->prepared);
}

//
// Waiting
//

void db_go_on(struct db *db)
{
    db->give_up_at = nsec_add(db_now(), db->patience_for);
}

bool db_hear(struct db *db)
{
    PGnotify *notify;

    while ((notify = PQnotifies(db->conn))) {
        db->woken = true;
        PQfreemem(notify);
    }
    return db->woken;
}

void db_begin(struct db *db)
{
    db_go_on(db);
    db->warned = false;
    // An owner that has followed before hears what it tells others.
    if (db->conn) {
        (void)db_hear(db);
    }
}

void db_stop(struct db *db)
{
    atomic_store(&db->stopped, true);
    (void)eventfd_write(db->stop_fd, 1);
}

void db_resume(struct db *db)
{
    eventfd_t count;

    atomic_store(&db->stopped, false);
    (void)eventfd_read(db->stop_fd, &count);
}

// Rounded up, so that it does not turn round in the last millisecond.
static int left_ms(nsec_t until_at)
{
    nsec_t left_for = until_at - db_now();
    nsec_t most_for = nsec_from_seconds(60);

    if (left_for <= 0) {
        return 0;
    }
    return (int)nsec_to_msec(left_for < most_for ? left_for : most_for);
}

enum db_event db_poll(struct db *db, short events, nsec_t until_at)
{
    while (!atomic_load(&db->stopped)) {
        struct pollfd fds[] = {{.fd = db->stop_fd, .events = POLLIN},
                               {.fd = PQsocket(db->conn), .events = events}};
        int count = poll(fds, 2, left_ms(until_at));

        if (count > 0 && fds[1].revents) {
            return DB_EVENT;
        }
        if (count == 0 && db_now() >= until_at) {
            return DB_LATE;
        }
        ENSURE(count >= 0 || errno == EINTR);
    }
    return DB_STOPPED;
}
