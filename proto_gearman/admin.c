/* SPDX-License-Identifier: MIT */
#include "proto_gearman/admin.h"

#include "core/base/log.h"

#include "proto_gearman/escape.h"
#include "proto_gearman/listing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// The most words that a command has.
#define WORDS_MAX 5
// How many bytes of a word that was typed an error repeats.
#define ECHO_MAX 512

struct words {
    struct slice at[WORDS_MAX];
    size_t count; // at least 1: of an empty line it is an empty word
};

static void answer(struct gear_conn *conn, struct slice text)
{
    const struct slice error = SLICE("ERR ");

    if (text.len > error.len && memcmp(text.ptr, error.ptr, error.len) == 0) {
        wire_log_refused(conn->wire, text);
    }
    output_write(&conn->wire->out, text);
}

static void answer_ok(struct gear_conn *conn)
{
    answer(conn, SLICE("OK\r\n"));
}

// `error` with what was typed directly behind it.
static void answer_echo(struct gear_conn *conn, struct slice error, struct slice word)
{
    answer(conn, error);
    gear_escape_write(&conn->wire->out,
                      slice_of(word.ptr, word.len < ECHO_MAX ? word.len : ECHO_MAX),
                      GEAR_ESCAPE_ECHO);
    answer(conn, SLICE("\r\n"));
}

static void answer_unknown(struct gear_conn *conn, const struct words *words)
{
    answer_echo(conn, SLICE("ERR UNKNOWN_COMMAND Unknown+server+command"), words->at[0]);
}

static void answer_incomplete(struct gear_conn *conn, const struct words *words)
{
    answer_echo(conn,
                SLICE("ERR INVALID_ARGUMENTS "
                      "An+incomplete+set+of+arguments+was+sent+to+this+command+"),
                words->at[0]);
}

// The value of a command that asks for one.
static void answer_value(struct gear_conn *conn, struct slice value)
{
    answer(conn, SLICE("OK "));
    answer(conn, value);
    answer(conn, SLICE("\n"));
}

static void answer_forbidden(struct gear_conn *conn)
{
    answer(conn, SLICE("ERR FORBIDDEN Not+allowed\r\n"));
}

static bool word_is(struct slice word, const char *name)
{
    return word.len == strlen(name) && strncasecmp(word.ptr, name, word.len) == 0;
}

//
// The process
//

static void admin_version(struct gear_conn *conn, const struct words *words)
{
    const char *version = conn->shared->facts->version;

    (void)words;
    answer_value(conn, slice_str(version));
}

static void admin_getpid(struct gear_conn *conn, const struct words *words)
{
    char digits[DIGITS_MAX];
    const char *end = digits_write(digits, (uint64_t)conn->shared->facts->pid);

    (void)words;
    answer_value(conn, slice_of(digits, (size_t)(end - digits)));
}

static void admin_verbose(struct gear_conn *conn, const struct words *words)
{
    static const char *const names[] = {
        [LOG_LEVEL_ERROR] = "ERROR",
        [LOG_LEVEL_WARN] = "WARNING",
        [LOG_LEVEL_INFO] = "INFO",
        [LOG_LEVEL_DEBUG] = "DEBUG",
    };
    const char *name = names[log_most()];

    (void)words;
    answer_value(conn, slice_str(name));
}

//
// Lists
//

static void admin_status(struct gear_conn *conn, const struct words *words)
{
    (void)words;
    gear_listing_begin(conn, GEAR_LIST_STATUS);
}

static void admin_priority_status(struct gear_conn *conn, const struct words *words)
{
    (void)words;
    gear_listing_begin(conn, GEAR_LIST_PRIORITY_STATUS);
}

static void admin_workers(struct gear_conn *conn, const struct words *words)
{
    (void)words;
    gear_listing_begin(conn, GEAR_LIST_WORKERS);
}

static void admin_show(struct gear_conn *conn, const struct words *words)
{
    if (words->count < 2) {
        answer_unknown(conn, words);
    } else if (words->count == 2 && word_is(words->at[1], "jobs")) {
        gear_listing_begin(conn, GEAR_LIST_JOBS);
    } else if (words->count == 3 && word_is(words->at[1], "unique") &&
               word_is(words->at[2], "jobs")) {
        gear_listing_begin(conn, GEAR_LIST_UNIQUES);
    } else {
        answer(conn, SLICE("ERR UNKNOWN_SHOW_ARGUMENTS\r\n"));
    }
}

//
// Jobs and functions
//

static void admin_cancel(struct gear_conn *conn, const struct words *words)
{
    struct broker *broker = conn->shared->broker;
    enum status status = STATUS_NOT_FOUND;
    uint64_t id;

    if (words->count < 3) {
        answer_unknown(conn, words);
        return;
    }
    if (words->count > 3 || !word_is(words->at[1], "job")) {
        answer(conn, SLICE("ERR UNKNOWN_ERROR\r\n"));
        return;
    }
    if (handle_read(&conn->shared->handles, words->at[2], &id)) {
        status = broker_cancel(broker, conn->session, id, true);
    }
    if (status == STATUS_OK) {
        wire_hold(conn->wire, broker_position(broker));
        answer_ok(conn);
    } else if (status == STATUS_FORBIDDEN) {
        answer_forbidden(conn);
    } else {
        answer(conn, SLICE("ERR UNKNOWN_JOB\r\n"));
    }
}

// `create function F` and `drop function F` are all there is to create and to drop.
static bool names_function(const struct words *words)
{
    return words->count == 3 && word_is(words->at[1], "function");
}

static void admin_create(struct gear_conn *conn, const struct words *words)
{
    enum status status;

    if (!names_function(words)) {
        answer_incomplete(conn, words);
        return;
    }
    status = broker_queue_create(conn->shared->broker, conn->session, words->at[2]);
    if (status == STATUS_OK) {
        answer_ok(conn);
    } else if (status == STATUS_FORBIDDEN) {
        answer_forbidden(conn);
    } else {
        answer_echo(conn, SLICE("ERR CREATE_FUNCTION "), words->at[2]);
    }
}

// A function that is dropped while its waiting jobs are deleted.
struct gear_drop {
    struct sweep sweep;
    char name[];
};

// Whether nothing but jobs that wait keeps the function from being dropped.
static bool only_waits(const struct gear_conn *conn, struct slice name)
{
    struct broker *broker = conn->shared->broker;
    const struct queue *queue = broker_queue_find(broker, name);
    struct queue_info info;

    if (!queue) {
        return false;
    }
    broker_queue_info(broker, queue, &info);
    return info.subscriptions == 0 && info.jobs[JOB_RESERVED] == 0 && info.jobs[JOB_BURIED] == 0;
}

static enum status begin_drop(struct gear_conn *conn, struct slice name)
{
    struct gear_drop *drop = calloc(1, sizeof *drop + name.len);
    enum status status;

    if (!drop) {
        return STATUS_NO_MEMORY;
    }
    memcpy(drop->name, name.ptr, name.len);
    drop->sweep = (struct sweep){
        .queue = slice_of(drop->name, name.len),
        .filter = JOB_FILTER_ALL,
        .act = {.kind = ACT_DELETE},
    };
    drop->sweep.filter.states = JOB_IN(JOB_READY) | JOB_IN(JOB_DELAYED);
    status = broker_sweep_begin(conn->shared->broker, conn->session, &drop->sweep);
    if (status != STATUS_OK) {
        free(drop);
        return status;
    }
    conn->doing.drop = drop;
    conn->state = GEAR_DROPPING;
    return STATUS_OK;
}

static void answer_drop(struct gear_conn *conn, enum status status)
{
    if (status == STATUS_OK) {
        answer_ok(conn);
    } else if (status == STATUS_FORBIDDEN) {
        answer_forbidden(conn);
    } else if (status == STATUS_IN_USE) {
        answer(conn, SLICE("ERR there are still connected workers or executing clients\r\n"));
    } else if (status == STATUS_NO_MEMORY) {
        answer(conn, SLICE("ERR OUT_OF_MEMORY\r\n"));
    } else {
        answer(conn, SLICE("ERR function not found\r\n"));
    }
}

static void admin_drop(struct gear_conn *conn, const struct words *words)
{
    enum status status;

    if (!names_function(words)) {
        answer_incomplete(conn, words);
        return;
    }
    // A producer of another protocol may still refer to it; then it goes when that one does.
    status = broker_queue_forget(conn->shared->broker, conn->session, words->at[2]);
    if (status == STATUS_IN_USE && only_waits(conn, words->at[2])) {
        status = begin_drop(conn, words->at[2]);
        if (status == STATUS_OK) {
            return;
        }
    }
    answer_drop(conn, status);
}

enum step gear_drop_step(struct gear_conn *conn)
{
    struct broker *broker = conn->shared->broker;
    struct sweep *sweep = &conn->doing.drop->sweep;
    enum status status = broker_sweep(broker, conn->session, sweep);

    wire_hold(conn->wire, broker_position(broker));
    if (status == STATUS_MORE) {
        return STEP_AGAIN;
    }
    if (status == STATUS_OK) {
        status = broker_queue_forget(broker, conn->session, sweep->queue);
    }
    // It went with the last of its jobs, where nothing else kept it.
    answer_drop(conn, status == STATUS_NOT_FOUND ? STATUS_OK : status);
    gear_drop_discard(conn);
    conn->state = GEAR_MESSAGE;
    return STEP_ON;
}

void gear_drop_discard(struct gear_conn *conn)
{
    free(conn->doing.drop);
    conn->doing.drop = NULL;
}

// The number that the word begins with: 0 where there is none or it is negative.
static uint32_t parse_limit(struct slice word)
{
    uint64_t limit = 0;
    size_t at = word.len > 0 && *word.ptr == '+' ? 1 : 0;

    for (; at < word.len && word.ptr[at] >= '0' && word.ptr[at] <= '9' && limit < UINT32_MAX;
         at++) {
        limit = limit * 10 + (uint64_t)(word.ptr[at] - '0');
    }
    return limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
}

// maxqueue F [LIMIT | HIGH NORMAL LOW]: what is left out is no limit, but a single one is for all.
static void admin_maxqueue(struct gear_conn *conn, const struct words *words)
{
    struct broker *broker = conn->shared->broker;
    uint32_t limits[BAND_COUNT] = {0};
    struct queue *queue;
    bool limited = false;

    if (words->count < 2) {
        answer_incomplete(conn, words);
        return;
    }
    if (!session_may_by_name(conn->session, MAY_OPERATE, words->at[1])) {
        answer_forbidden(conn);
        return;
    }
    for (size_t band = 0; band < BAND_COUNT; band++) {
        size_t word = words->count == 3 ? 2 : 2 + band;

        limits[band] = word < words->count ? parse_limit(words->at[word]) : 0;
        limited = limited || limits[band] > 0;
    }
    queue = broker_queue_find(broker, words->at[1]);
    if (queue) {
        if (broker_queue_limit(conn->session, queue, limits) == STATUS_OK && limited) {
            // Otherwise the limit would be gone as soon as the queue is empty.
            broker_queue_keep(broker, queue, true);
        }
    }
    answer_ok(conn);
}

//
// The line
//

// Runs of spaces divide. As in gearmand, one at the beginning or the end divides from an empty
// word. False: there are more words than any command has.
static bool split(struct slice line, struct words *words)
{
    words->count = 0;
    while (words->count < WORDS_MAX) {
        const char *space = line.len > 0 ? memchr(line.ptr, ' ', line.len) : NULL;

        if (!space) {
            words->at[words->count++] = line;
            return true;
        }
        words->at[words->count++] = slice_of(line.ptr, (size_t)(space - line.ptr));
        line = slice_from(line, (size_t)(space - line.ptr));
        while (line.len > 0 && *line.ptr == ' ') {
            line = slice_from(line, 1);
        }
    }
    return false;
}

enum need {
    NEEDS_NOTHING, // or asks itself: lists, of each thing that they show
    NEEDS_SIGHT,   // to observe some function, as what it tells is of the process
    NEEDS_A_RULE // of who may operate; where there are no rules, the peer has to be on this machine
};

struct command {
    const char *name;
    void (*carry_out)(struct gear_conn *conn, const struct words *words);
    enum need need;
};

static const struct command commands[] = {
    {"cancel", admin_cancel, NEEDS_A_RULE},
    {"create", admin_create, NEEDS_A_RULE},
    {"drop", admin_drop, NEEDS_A_RULE},
    {"getpid", admin_getpid, NEEDS_SIGHT},
    {"maxqueue", admin_maxqueue, NEEDS_A_RULE},
    {"prioritystatus", admin_priority_status, NEEDS_NOTHING},
    {"show", admin_show, NEEDS_NOTHING},
    {"status", admin_status, NEEDS_NOTHING},
    {"verbose", admin_verbose, NEEDS_SIGHT},
    {"version", admin_version, NEEDS_SIGHT},
    {"workers", admin_workers, NEEDS_NOTHING},
};

static void carry_out(struct gear_conn *conn, const struct command *command,
                      const struct words *words)
{
    if (command->need == NEEDS_SIGHT && !session_may_somewhere(conn->session, MAY_OBSERVE)) {
        answer_forbidden(conn);
    } else if (command->need == NEEDS_A_RULE && !session_has_grants(conn->session) &&
               !wire_is_local(conn->wire)) {
        answer(conn, SLICE("ERR FORBIDDEN Not+allowed+from+this+address\r\n"));
    } else {
        command->carry_out(conn, words);
    }
}

void gear_admin(struct gear_conn *conn, struct slice line)
{
    struct words words;

    if (conn->wire->traced) {
        wire_log_command(conn->wire, SLICE("text"), line, 0);
    }
    if (split(line, &words)) {
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            if (word_is(words.at[0], commands[i].name)) {
                carry_out(conn, &commands[i], &words);
                return;
            }
        }
    }
    answer_unknown(conn, &words);
}
