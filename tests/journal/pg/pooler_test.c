/* SPDX-License-Identifier: MIT */
// A pooler between the journal and its database: how it treats sessions is found out when the
// connection is made. The pooler is a fake server with the necessary part of PostgreSQL's protocol.
#include "journal/pg/db.h"
#include "journal/pg/schema.h"
#include "tests/support/with_cmocka.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 16, MESSAGE_MAX = 4096, PROCESS = 7000, KEY = 99 };

enum play {
    PLAY_DATABASE,      // without a pooler: each connection has its own process
    PLAY_SESSIONS,      // each connection has a session of its own
    PLAY_ONE_SESSION,   // the only session belongs to the first connection
    PLAY_LATEST_FIRST,  // the session that was used last
    PLAY_LONGEST_UNUSED // each session by turns
};

struct pooler {
    enum play play;
    unsigned sessions; // in the pool; connections use them in turn
    int listener;
    int stop[2]; // a pipe
    uint16_t port;
    pthread_t thread;
    int clients[CLIENTS];
    unsigned count;     // of connections so far
    unsigned questions; // for the number of a process
};

//
// The protocol
//

struct message {
    unsigned char bytes[MESSAGE_MAX];
    size_t len;
};

static void put_byte(struct message *message, unsigned char byte)
{
    assert_true(message->len < sizeof message->bytes);
    message->bytes[message->len++] = byte;
}

static void put_number(struct message *message, uint32_t number, unsigned bytes)
{
    while (bytes > 0) {
        bytes--;
        put_byte(message, (unsigned char)(number >> 8 * bytes));
    }
}

static void put_text(struct message *message, const char *text)
{
    for (; *text; text++) {
        put_byte(message, (unsigned char)*text);
    }
}

static size_t begin(struct message *message, char type)
{
    put_byte(message, (unsigned char)type);
    put_number(message, 0, 4);
    return message->len - 4;
}

static void end(struct message *message, size_t at)
{
    size_t end_at = message->len;

    message->len = at;
    put_number(message, (uint32_t)(end_at - at), 4);
    message->len = end_at;
}

static void put_ready(struct message *message)
{
    size_t at = begin(message, 'Z');

    put_byte(message, 'I');
    end(message, at);
}

static void put_setting(struct message *message, const char *name, const char *value)
{
    size_t at = begin(message, 'S');

    put_text(message, name);
    put_byte(message, 0);
    put_text(message, value);
    put_byte(message, 0);
    end(message, at);
}

static void welcome(struct message *message, uint32_t process)
{
    size_t at = begin(message, 'R');

    put_number(message, 0, 4);
    end(message, at);
    put_setting(message, "server_version", "15.0");
    put_setting(message, "default_transaction_read_only", "off");
    put_setting(message, "in_hot_standby", "off");
    at = begin(message, 'K');
    put_number(message, process, 4);
    put_number(message, 1, 4);
    end(message, at);
    put_ready(message);
}

static void put_row(struct message *message, const char *fields[], unsigned count)
{
    size_t at = begin(message, 'T');

    put_number(message, count, 2);
    for (unsigned i = 0; i < count; i++) {
        put_text(message, "field");
        put_byte(message, 0);
        put_number(message, 0, 4);
        put_number(message, 0, 2);
        put_number(message, 25, 4); // text
        put_number(message, UINT16_MAX, 2);
        put_number(message, UINT32_MAX, 4);
        put_number(message, 0, 2);
    }
    end(message, at);
    at = begin(message, 'D');
    put_number(message, count, 2);
    for (unsigned i = 0; i < count; i++) {
        put_number(message, (uint32_t)strlen(fields[i]), 4);
        put_text(message, fields[i]);
    }
    end(message, at);
    at = begin(message, 'C');
    put_text(message, "SELECT 1");
    put_byte(message, 0);
    end(message, at);
}

//
// The pooler
//

static unsigned session_of(struct pooler *pooler, unsigned client)
{
    switch (pooler->play) {
    case PLAY_DATABASE:
    case PLAY_SESSIONS:
    case PLAY_ONE_SESSION:
        return client;
    case PLAY_LATEST_FIRST:
        return 0;
    case PLAY_LONGEST_UNUSED:
        return pooler->questions % pooler->sessions;
    }
    return 0;
}

// A question that contains the number of the process, with the schema's version or alone.
static void answer(struct pooler *pooler, unsigned client, const char *question,
                   struct message *message)
{
    char process[16];
    const char *fields[] = {SCHEMA_VERSION, process};
    bool greets = strstr(question, "tandem.version") != NULL;

    if (pooler->play == PLAY_ONE_SESSION && client > 0) {
        return;
    }
    assert_non_null(strstr(question, "pg_backend_pid()"));
    (void)snprintf(process, sizeof process, "%u", PROCESS + session_of(pooler, client));
    pooler->questions++;
    put_row(message, greets ? fields : fields + 1, greets ? 2 : 1);
    put_ready(message);
}

static bool read_all(int fd, void *bytes, size_t len)
{
    return len == 0 || recv(fd, bytes, len, MSG_WAITALL) == (ssize_t)len;
}

// Reads the bytes after the length; false: the connection has ended.
static bool read_rest(int fd, char *text)
{
    unsigned char head[4];
    uint32_t len;

    if (!read_all(fd, head, 4)) {
        return false;
    }
    len = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
    assert_in_range(len, 4, MESSAGE_MAX);
    text[len - 4] = '\0';
    return read_all(fd, text, len - 4);
}

static bool serve(struct pooler *pooler, unsigned client)
{
    static char text[MESSAGE_MAX];
    int fd = pooler->clients[client];
    struct message message = {.len = 0};
    char type;

    if (!read_all(fd, &type, 1) || !read_rest(fd, text) || type != 'Q') {
        return false;
    }
    answer(pooler, client, text, &message);
    return send(fd, message.bytes, message.len, MSG_NOSIGNAL) == (ssize_t)message.len;
}

static void take_client(struct pooler *pooler)
{
    static char text[MESSAGE_MAX];
    int fd = accept(pooler->listener, NULL, NULL);
    unsigned client = pooler->count++;
    struct message message = {.len = 0};

    assert_true(fd >= 0 && client < CLIENTS);
    pooler->clients[client] = fd;
    assert_true(read_rest(fd, text));
    welcome(&message, pooler->play == PLAY_DATABASE ? PROCESS + client : KEY);
    assert_int_equal(send(fd, message.bytes, message.len, MSG_NOSIGNAL), message.len);
}

static void *run(void *context)
{
    struct pooler *pooler = context;
    struct pollfd fds[CLIENTS + 2];

    for (;;) {
        unsigned count = pooler->count;

        fds[CLIENTS] = (struct pollfd){.fd = pooler->listener, .events = POLLIN};
        fds[CLIENTS + 1] = (struct pollfd){.fd = pooler->stop[0], .events = POLLIN};
        for (unsigned i = 0; i < CLIENTS; i++) {
            fds[i] = (struct pollfd){.fd = i < count ? pooler->clients[i] : -1, .events = POLLIN};
        }
        assert_true(poll(fds, CLIENTS + 2, -1) > 0);
        if (fds[CLIENTS + 1].revents) {
            return NULL;
        }
        if (fds[CLIENTS].revents) {
            take_client(pooler);
        }
        for (unsigned i = 0; i < count; i++) {
            if (fds[i].revents && !serve(pooler, i)) {
                (void)close(pooler->clients[i]);
                pooler->clients[i] = -1;
            }
        }
    }
}

static void pooler_begin(struct pooler *pooler, enum play play, unsigned sessions)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;

    *pooler = (struct pooler){.play = play, .sessions = sessions};
    pooler->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(pooler->listener >= 0);
    assert_int_equal(bind(pooler->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(pooler->listener, CLIENTS), 0);
    assert_int_equal(getsockname(pooler->listener, (struct sockaddr *)&at, &len), 0);
    pooler->port = ntohs(at.sin_port);
    assert_int_equal(pipe(pooler->stop), 0);
    assert_int_equal(pthread_create(&pooler->thread, NULL, run, pooler), 0);
}

static void pooler_end(struct pooler *pooler)
{
    assert_int_equal(write(pooler->stop[1], "", 1), 1);
    assert_int_equal(pthread_join(pooler->thread, NULL), 0);
    for (unsigned i = 0; i < pooler->count; i++) {
        if (pooler->clients[i] >= 0) {
            (void)close(pooler->clients[i]);
        }
    }
    (void)close(pooler->listener);
    (void)close(pooler->stop[0]);
    (void)close(pooler->stop[1]);
}

static const char *place_of(const struct pooler *pooler)
{
    static char place[200];

    (void)snprintf(place, sizeof place,
                   "host=127.0.0.1 port=%u user=tandem dbname=tandem sslmode=disable "
                   "gssencmode=disable",
                   pooler->port);
    return place;
}

// Connects `times` times; returns the outcome of the last time.
static enum rows_outcome connect_by(struct pooler *pooler, nsec_t patience_for, unsigned times,
                                    char why[ROWS_WHY_MAX])
{
    enum rows_outcome outcome = ROWS_AWAY;
    struct db db;

    assert_true(db_init(&db, place_of(pooler), patience_for));
    for (unsigned i = 0; i < times; i++) {
        db_drop(&db);
        db_begin(&db);
        outcome = db_ready(&db);
    }
    (void)snprintf(why, ROWS_WHY_MAX, "%s", db.why);
    db_close(&db);
    return outcome;
}

#define PATIENCE_FOR (60 * NSEC_PER_SEC)

static void pooler_that_shares_sessions_is_refused_whichever_it_gives(void **state)
{
    char why[ROWS_WHY_MAX];
    struct pooler pooler;

    (void)state;
    pooler_begin(&pooler, PLAY_LATEST_FIRST, 1);
    assert_int_equal(connect_by(&pooler, PATIENCE_FOR, 1, why), ROWS_REFUSED);
    pooler_end(&pooler);
    assert_non_null(strstr(why, "pool_mode = session"));
    for (unsigned sessions = 1; sessions < 12; sessions++) {
        pooler_begin(&pooler, PLAY_LONGEST_UNUSED, sessions);
        assert_int_equal(connect_by(&pooler, PATIENCE_FOR, 1, why), ROWS_REFUSED);
        pooler_end(&pooler);
        assert_non_null(strstr(why, "pool_mode = session"));
    }
}

static void store_is_not_made_by_a_pooler_that_shares_sessions(void **state)
{
    static char said[SCHEMA_TEXT_SIZE];
    struct pooler pooler;

    (void)state;
    pooler_begin(&pooler, PLAY_LATEST_FIRST, 1);
    assert_false(journal_pg_init_store(place_of(&pooler), "main", said, sizeof said));
    pooler_end(&pooler);
    assert_non_null(strstr(said, "pool_mode = session"));
}

static void pooler_that_keeps_sessions_is_checked_once_and_used(void **state)
{
    char why[ROWS_WHY_MAX];
    struct pooler pooler;

    (void)state;
    pooler_begin(&pooler, PLAY_SESSIONS, 0);
    assert_int_equal(connect_by(&pooler, PATIENCE_FOR, 3, why), ROWS_DONE);
    pooler_end(&pooler);
    assert_int_equal(pooler.count, 4);
}

// The second connection gets no session: its patience passes here.
static void pooler_whose_only_session_is_in_use_keeps_sessions(void **state)
{
    char why[ROWS_WHY_MAX];
    struct pooler pooler;

    (void)state;
    pooler_begin(&pooler, PLAY_ONE_SESSION, 1);
    assert_int_equal(connect_by(&pooler, 12 * NSEC_PER_SEC, 1, why), ROWS_DONE);
    pooler_end(&pooler);
    assert_int_equal(pooler.count, 2);
}

static void database_without_a_pooler_is_connected_to_once(void **state)
{
    char why[ROWS_WHY_MAX];
    struct pooler pooler;

    (void)state;
    pooler_begin(&pooler, PLAY_DATABASE, 0);
    assert_int_equal(connect_by(&pooler, PATIENCE_FOR, 1, why), ROWS_DONE);
    pooler_end(&pooler);
    assert_int_equal(pooler.count, 1);
    assert_int_equal(pooler.questions, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pooler_that_shares_sessions_is_refused_whichever_it_gives),
        cmocka_unit_test(store_is_not_made_by_a_pooler_that_shares_sessions),
        cmocka_unit_test(pooler_that_keeps_sessions_is_checked_once_and_used),
        cmocka_unit_test(pooler_whose_only_session_is_in_use_keeps_sessions),
        cmocka_unit_test(database_without_a_pooler_is_connected_to_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
