/* SPDX-License-Identifier: MIT */
#include "journal/pg/db.h"

#include "core/base/digits.h"
#include "journal/pg/schema.h"
#include "journal/pg/sqlstate.h"

#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

// libpq would try one server after the other itself, but would wait for ever for one that does not
// answer: only its blocking calls observe connect_timeout. So each address of each server is tried
// by a connection of its own, with a timeout.
//
// The first server that accepts writes is taken (target_session_attrs). If a database has split and
// two servers do, no fence within the database can detect it: its failover must make sure that the
// former primary accepts no commits (synchronous_standby_names, a watchdog).

#define HOST_MAX 1024
struct db_params {
    const char *keywords[64];
    const char *values[64];
    int count;
    char host[HOST_MAX], address[HOST_MAX], port[32], user_timeout[32];
};

static const char *db_option(const struct db *db, const char *keyword)
{
    for (const PQconninfoOption *option = db->options; option->keyword; option++) {
        if (strcmp(option->keyword, keyword) == 0) {
            return option->val;
        }
    }
    return NULL;
}

static void db_param(struct db_params *params, const char *keyword, const char *value)
{
    if ((size_t)params->count < sizeof params->keywords / sizeof params->keywords[0] - 1) {
        params->keywords[params->count] = keyword;
        params->values[params->count] = value;
        params->count++;
    }
}

// Sets a parameter unless the user has set it.
static void db_default_param(const struct db *db, struct db_params *params, const char *keyword,
                             const char *value)
{
    if (!db_option(db, keyword)) {
        db_param(params, keyword, value);
    }
}

// The item of a list for that server; a single item is for all servers.
static const char *db_list_part(const char *list, unsigned index, char *part, size_t size)
{
    const char *at = list;

    for (; index > 0 && strchr(at, ','); index--) {
        at = strchr(at, ',') + 1;
    }
    if (index > 0) {
        at = list;
    }
    (void)snprintf(part, size, "%.*s", (int)strcspn(at, ","), at);
    return part;
}

static void db_gather_params(const struct db *db, unsigned host, struct db_params *params)
{
    params->count = 0;
    params->host[0] = '\0';
    params->address[0] = '\0';
    for (const PQconninfoOption *option = db->options; option->keyword; option++) {
        const char *value = option->val;

        if (value && strcmp(option->keyword, "host") == 0) {
            value = db_list_part(value, host, params->host, sizeof params->host);
        } else if (value && strcmp(option->keyword, "hostaddr") == 0) {
            value = db_list_part(value, host, params->address, sizeof params->address);
        } else if (value && strcmp(option->keyword, "port") == 0) {
            value = db_list_part(value, host, params->port, sizeof params->port);
        }
        if (value) {
            db_param(params, option->keyword, value);
        }
    }
    (void)snprintf(params->user_timeout, sizeof params->user_timeout, "%u",
                   nsec_to_msec(db->patience_for));
    db_default_param(db, params, "fallback_application_name", "tandemd");
    db_default_param(db, params, "target_session_attrs", "read-write");
    db_default_param(db, params, "client_encoding", "UTF8");
    db_default_param(db, params, "keepalives_idle", "5");
    db_default_param(db, params, "keepalives_interval", "2");
    db_default_param(db, params, "keepalives_count", "3");
    db_default_param(db, params, "tcp_user_timeout", params->user_timeout);
    params->keywords[params->count] = NULL;
    params->values[params->count] = NULL;
}

static enum rows_outcome db_handshake(struct db *db, nsec_t until_at)
{
    PostgresPollingStatusType want = PGRES_POLLING_WRITING;

    for (;;) {
        enum db_event event =
            db_poll(db, want == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_at);

        if (event == DB_STOPPED) {
            return db_fail(db, ROWS_STOPPED, "stopped");
        }
        if (event == DB_LATE) {
            return db_fail(db, ROWS_AWAY, "connection to server at \"%s\" timed out",
                           PQhost(db->conn) ? PQhost(db->conn) : "");
        }
        want = PQconnectPoll(db->conn);
        if (want == PGRES_POLLING_OK) {
            return ROWS_DONE;
        }
        if (want == PGRES_POLLING_FAILED) {
            return db_fail(db, ROWS_AWAY, "%s", PQerrorMessage(db->conn));
        }
    }
}

// By a warning the server tells that a commit is not replicated: "canceling wait for synchronous
// replication".
static void db_take_notice(void *context, const PGresult *result)
{
    struct db *db = context;

    if (sqlstate_warns_of_commit(PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED),
                                 PQresultErrorField(result, PG_DIAG_SQLSTATE))) {
        const char *what = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

        db->warned = true;
        (void)db_fail(db, ROWS_DOUBT, "%s", what ? what : "a warning");
    }
}

//
// The beginning of a session
//

// The process id of the server, in that column. 0: it is not there.
static uint64_t db_server_process(const PGresult *result, int column)
{
    uint64_t process = 0;
    const char *text =
        PQntuples(result) == 1 && column < PQnfields(result) ? PQgetvalue(result, 0, column) : "";

    return digits_read(slice_str(text), &process) ? process : 0;
}

// A transaction whose client has stalled must not keep the lease from other processes. No statement
// has a time limit: that would end the wait for a standby of the database, and leave a commit in
// doubt. A wait for a lock has one that ends before this side gives up: an abandoned session would
// go on waiting, and if a standby of the database has failed, such sessions would accumulate. A
// process that waits for a row reads its latest state. A session whose client does not take its
// answer ends after four times our patience: it locks the unit that is read, for as long as TCP
// would retry otherwise.
#define GREETING                                                                                   \
    "SET idle_in_transaction_session_timeout = '2s'; SET statement_timeout = 0; "                  \
    "SET lock_timeout = %" PRIu64 "; SET default_transaction_isolation = 'read committed'; "       \
    "SELECT set_config(name, '%" PRIu64 "', false) FROM pg_settings "                              \
    "WHERE name = 'tcp_user_timeout'; "                                                            \
    "SELECT version, pg_backend_pid() FROM tandem.version"

static uint64_t db_lock_timeout_ms(const struct db *db)
{
    nsec_t wait_for = db->patience_for - db->patience_for / 5;

    return wait_for < NSEC_PER_MSEC ? 1 : nsec_to_msec(wait_for);
}

static enum rows_outcome db_greet(struct db *db, uint64_t *process)
{
    char greeting[sizeof GREETING + 40];
    PGresult *result;
    enum rows_outcome outcome;

    (void)snprintf(greeting, sizeof greeting, GREETING, db_lock_timeout_ms(db),
                   (uint64_t)nsec_to_msec(db->patience_for) * 4);
    outcome = db_ask(db, greeting, DB_LOOKS, &result);

    if (outcome == ROWS_REFUSED && db->unknown) {
        return db_fail(db, ROWS_REFUSED, "%s", SCHEMA_IS_NOT_THERE);
    }
    if (outcome == ROWS_DONE) {
        const char *version = PQntuples(result) == 1 ? PQgetvalue(result, 0, 0) : "none";

        if (strcmp(version, SCHEMA_VERSION) != 0) {
            outcome = db_fail(db, ROWS_REFUSED, SCHEMA_IS_ANOTHER, version);
        } else {
            *process = db_server_process(result, 1);
        }
        PQclear(result);
    }
    return outcome;
}

//
// One server after the other
//

// Unless the user has set a limit, an address that does not answer leaves time for the others.
static nsec_t db_connect_for(const struct db *db, unsigned addresses)
{
    const char *text = db_option(db, "connect_timeout");
    nsec_t share_for = db->patience_for / db->hosts / addresses;
    uint64_t seconds = 0;

    if (!text) {
        return share_for < 2 * NSEC_PER_SEC ? share_for : 2 * NSEC_PER_SEC;
    }
    // 0 or an invalid number: no limit, as in libpq.
    if (!digits_read(slice_str(text), &seconds) || seconds > UINT32_MAX || seconds == 0) {
        return NSEC_NEVER;
    }
    return nsec_from_seconds(seconds);
}

static enum rows_outcome db_make_connection(struct db *db, const struct db_params *params,
                                            nsec_t until_at)
{
    enum rows_outcome outcome;

    db->conn = PQconnectStartParams(params->keywords, params->values, 0);
    if (!db->conn) {
        return db_fail(db, ROWS_AWAY, "out of memory");
    }
    if (PQstatus(db->conn) == CONNECTION_BAD) {
        return db_fail(db, ROWS_AWAY, "%s", PQerrorMessage(db->conn));
    }
    (void)PQsetNoticeReceiver(db->conn, db_take_notice, db);
    outcome = db_handshake(db, until_at < db->give_up_at ? until_at : db->give_up_at);
    if (outcome == ROWS_DONE && PQsetnonblocking(db->conn, 1) != 0) {
        outcome = db_fail(db, ROWS_AWAY, "%s", PQerrorMessage(db->conn));
    }
    return outcome;
}

//
// Poolers
//

// A pooler that gives each transaction another session loses prepared statements, settings and
// LISTEN. While its pool is idle it gives the same session each time, so the connection alone
// cannot tell. A second connection can: while the first exists, no other connection gets its
// session, unless sessions are shared. Poolers choose the session used last, or the one unused for
// longest; different numbers of questions detect both, for any number of sessions.
enum { POOLER_ROUNDS = 3 };

#define POOLER_SHARES                                                                              \
    "a connection pooler gives each transaction another session: connect to the database "         \
    "itself, or to a pool that keeps sessions (PgBouncer: pool_mode = session)"

#define OTHER_FOR (5 * NSEC_PER_SEC)

// The other connection must leave time for the first one.
static nsec_t db_other_until(const struct db *db)
{
    nsec_t now_at = db_now();
    nsec_t share_for = (db->give_up_at - now_at) / 3;

    return now_at + (share_for < OTHER_FOR ? share_for : OTHER_FOR);
}

static enum rows_outcome db_ask_process(struct db *db, uint64_t *process)
{
    PGresult *result;
    enum rows_outcome outcome = db_ask(db, "SELECT pg_backend_pid()", DB_LOOKS, &result);

    *process = outcome == ROWS_DONE ? db_server_process(result, 0) : 0;
    PQclear(result);
    return outcome;
}

static void db_exchange(struct db *db, PGconn **other)
{
    PGconn *conn = db->conn;

    db->conn = *other;
    *other = conn;
}

// Whether one of that many answers on the other connection comes from that process. If none comes
// in time, all sessions are in use, which happens only if each belongs to one client.
static bool db_answers_there(struct db *db, PGconn **other, unsigned questions, uint64_t process)
{
    uint64_t found = 0;

    db_exchange(db, other);
    for (unsigned i = 0; i < questions && db->conn && found != process; i++) {
        (void)db_ask_process(db, &found);
    }
    db_exchange(db, other);
    return found == process;
}

static enum rows_outcome db_compare_sessions(struct db *db, PGconn **other, uint64_t process)
{
    nsec_t give_up_at = db->give_up_at;

    for (unsigned round = 1; round <= POOLER_ROUNDS && *other; round++) {
        enum rows_outcome outcome;
        uint64_t found;
        bool shared;

        db->give_up_at = db_other_until(db);
        shared = db_answers_there(db, other, round, process);
        db->give_up_at = give_up_at;
        outcome = db_ask_process(db, &found);
        if (outcome != ROWS_DONE) {
            return outcome;
        }
        if (shared || found != process) {
            return db_fail(db, ROWS_REFUSED, "%s", POOLER_SHARES);
        }
    }
    return ROWS_DONE;
}

// If there is a pooler, the process id of the connection is not that of the server: a pooler has
// keys of its own.
static enum rows_outcome db_check_session(struct db *db, const struct db_params *params,
                                          uint64_t process)
{
    PGconn *other = NULL;
    enum rows_outcome outcome;

    if (db->own_session || process == 0 || process == (uint64_t)PQbackendPID(db->conn)) {
        return ROWS_DONE;
    }
    db_exchange(db, &other);
    if (db_make_connection(db, params, db_other_until(db)) != ROWS_DONE) {
        db_drop(db);
    }
    db_exchange(db, &other);
    outcome = db_compare_sessions(db, &other, process);
    PQfinish(other);
    db->own_session = outcome == ROWS_DONE;
    return outcome;
}

static enum rows_outcome db_connect_with(struct db *db, const struct db_params *params,
                                         unsigned addresses)
{
    uint64_t process = 0;
    enum rows_outcome outcome =
        db_make_connection(db, params, nsec_add(db_now(), db_connect_for(db, addresses)));

    if (outcome == ROWS_DONE) {
        outcome = db->bare ? db_ask_process(db, &process) : db_greet(db, &process);
    }
    return outcome == ROWS_DONE ? db_check_session(db, params, process) : outcome;
}

// The addresses of the host, if it is a name that has to be resolved.
static enum rows_outcome db_resolve(struct db *db, const struct db_params *params,
                                    struct addrinfo **addresses)
{
    const char *host = params->host;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    int error;

    *addresses = NULL;
    if (host[0] == '\0' || host[0] == '/' || host[0] == '@' || params->address[0] != '\0') {
        return ROWS_DONE;
    }
    error = getaddrinfo(host, NULL, &hints, addresses);
    return error ? db_fail(db, ROWS_AWAY, "cannot resolve \"%s\": %s", host, gai_strerror(error))
                 : ROWS_DONE;
}

static unsigned db_count_addresses(const struct addrinfo *address)
{
    unsigned count = 0;

    for (; address; address = address->ai_next) {
        count++;
    }
    return count;
}

// Tries the addresses of that server one after the other. The name remains, for the server's
// certificate.
static enum rows_outcome db_connect_to(struct db *db, unsigned host)
{
    struct db_params params;
    struct addrinfo *addresses;
    enum rows_outcome outcome;

    db_gather_params(db, host, &params);
    outcome = db_resolve(db, &params, &addresses);
    if (outcome != ROWS_DONE || !addresses) {
        return outcome == ROWS_DONE ? db_connect_with(db, &params, 1) : outcome;
    }
    outcome = ROWS_AWAY;
    db_param(&params, "hostaddr", params.address);
    params.keywords[params.count] = NULL;
    for (const struct addrinfo *at = addresses;
         at && outcome == ROWS_AWAY && db_now() < db->give_up_at; at = at->ai_next) {
        db_drop(db);
        if (getnameinfo(at->ai_addr, at->ai_addrlen, params.address, sizeof params.address, NULL, 0,
                        NI_NUMERICHOST) == 0) {
            outcome = db_connect_with(db, &params, db_count_addresses(addresses));
        }
    }
    freeaddrinfo(addresses);
    return outcome;
}

// A password in a URI that is not percent-encoded becomes a part of the host, and would be logged
// with it.
static bool db_host_is_sane(const struct db *db)
{
    const char *host = db_option(db, "host");

    return !host || !strchr(host + (host[0] == '@'), '@');
}

// The last server used is tried first, then those after it.
static enum rows_outcome db_connect_to_any(struct db *db)
{
    enum rows_outcome outcome = ROWS_AWAY;

    if (!db->options || !db_host_is_sane(db)) {
        return db_fail(db, ROWS_REFUSED, "this is not a valid connection string of libpq");
    }
    for (unsigned tried = 0; tried < db->hosts && outcome == ROWS_AWAY; tried++) {
        outcome = db_connect_to(db, db->host);
        if (outcome != ROWS_DONE) {
            db_drop(db);
            db->host = (db->host + 1) % db->hosts;
        }
        if (db_now() >= db->give_up_at) {
            break;
        }
    }
    return outcome;
}

enum rows_outcome db_ready(struct db *db)
{
    enum rows_outcome outcome;

    if (atomic_load(&db->stopped)) {
        return db_fail(db, ROWS_STOPPED, "stopped");
    }
    if (db->conn && PQstatus(db->conn) != CONNECTION_OK) {
        db_drop(db);
    }
    if (db->conn) {
        return ROWS_DONE;
    }
    db->count++;
    outcome = db_connect_to_any(db);
    if (outcome != ROWS_DONE) {
        db_drop(db);
    }
    db->warned = false; // it was not about a commit of ours
    return outcome;
}
