/* SPDX-License-Identifier: MIT */

// The commands of the administration by text, except the writing of lists.

#include "proto_gearman/gear_admin.h"

#include "core/base/digits.h"
#include "core/base/log.h"
#include "core/operate.h"
#include "proto_common/wrong_protocol.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// The most words of a command, including its name.
#define ARGS_MAX 5
// An error repeats at most this many bytes of a word.
#define ECHO_MAX 512

struct gear_args {
    struct slice at[ARGS_MAX];
    size_t count; // at least 1: an empty line has one empty word
};

static void gear_text_reply(struct gear_conn *conn, struct slice text)
{
    const struct slice error = SLICE("ERR ");

    if (text.len > error.len && memcmp(text.ptr, error.ptr, error.len) == 0) {
        wire_log_refused(conn->wire, text);
    }
    output_write(&conn->wire->out, text);
}

static void gear_text_ok(struct gear_conn *conn)
{
    gear_text_reply(conn, SLICE("OK\r\n"));
}

// The error, and directly after it the word of the command.
static void gear_text_error_echo(struct gear_conn *conn, struct slice error, struct slice word)
{
    gear_text_reply(conn, error);
    gear_escape_write(&conn->wire->out,
                      slice_of(word.ptr, word.len < ECHO_MAX ? word.len : ECHO_MAX),
                      GEAR_ESCAPE_ECHO);
    gear_text_reply(conn, SLICE("\r\n"));
}

static void gear_text_unknown(struct gear_conn *conn, const struct gear_args *args)
{
    gear_text_error_echo(conn, SLICE("ERR UNKNOWN_COMMAND Unknown+server+command"), args->at[0]);
}

static void gear_text_incomplete(struct gear_conn *conn, const struct gear_args *args)
{
    gear_text_error_echo(conn,
                         SLICE("ERR INVALID_ARGUMENTS "
                               "An+incomplete+set+of+arguments+was+sent+to+this+command+"),
                         args->at[0]);
}

// OK and the value.
static void gear_text_value(struct gear_conn *conn, struct slice value)
{
    gear_text_reply(conn, SLICE("OK "));
    gear_text_reply(conn, value);
    gear_text_reply(conn, SLICE("\n"));
}

static void gear_text_forbidden(struct gear_conn *conn)
{
    gear_text_reply(conn, SLICE("ERR FORBIDDEN Not+allowed\r\n"));
}

void gear_refuse_proxy(struct gear_conn *conn)
{
    gear_text_reply(conn, SLICE("ERR PROXY_PROTOCOL " WRONG_PROTOCOL_PROXY "\r\n"));
    wire_refused(conn->wire, REFUSAL_BAD);
}

static bool gear_word_is(struct slice word, const char *name)
{
    return word.len == strlen(name) && strncasecmp(word.ptr, name, word.len) == 0;
}

//
// The process
//

static void gear_admin_version(struct gear_conn *conn, const struct gear_args *args)
{
    const char *version = conn->shared->facts->version;

    (void)args;
    gear_text_value(conn, slice_str(version));
}

static void gear_admin_getpid(struct gear_conn *conn, const struct gear_args *args)
{
    char digits[DIGITS_MAX];
    const char *end = digits_write(digits, (uint64_t)conn->shared->facts->pid);

    (void)args;
    gear_text_value(conn, slice_of(digits, (size_t)(end - digits)));
}

static void gear_admin_verbose(struct gear_conn *conn, const struct gear_args *args)
{
    static const char *const names[] = {
        [LOG_LEVEL_ERROR] = "ERROR",
        [LOG_LEVEL_WARN] = "WARNING",
        [LOG_LEVEL_INFO] = "INFO",
        [LOG_LEVEL_DEBUG] = "DEBUG",
    };
    const char *name = names[log_most()];

    (void)args;
    gear_text_value(conn, slice_str(name));
}

//
// Lists
//

static void gear_admin_status(struct gear_conn *conn, const struct gear_args *args)
{
    (void)args;
    gear_listing_begin(conn, GEAR_LIST_STATUS);
}

static void gear_admin_priority_status(struct gear_conn *conn, const struct gear_args *args)
{
    (void)args;
    gear_listing_begin(conn, GEAR_LIST_PRIORITY_STATUS);
}

static void gear_admin_workers(struct gear_conn *conn, const struct gear_args *args)
{
    (void)args;
    gear_listing_begin(conn, GEAR_LIST_WORKERS);
}

static void gear_admin_show(struct gear_conn *conn, const struct gear_args *args)
{
    if (args->count < 2) {
        gear_text_unknown(conn, args);
    } else if (args->count == 2 && gear_word_is(args->at[1], "jobs")) {
        gear_listing_begin(conn, GEAR_LIST_JOBS);
    } else if (args->count == 3 && gear_word_is(args->at[1], "unique") &&
               gear_word_is(args->at[2], "jobs")) {
        gear_listing_begin(conn, GEAR_LIST_UNIQUES);
    } else {
        gear_text_reply(conn, SLICE("ERR UNKNOWN_SHOW_ARGUMENTS\r\n"));
    }
}

//
// Jobs and functions
//

static void gear_admin_cancel(struct gear_conn *conn, const struct gear_args *args)
{
    struct broker *broker = conn->shared->broker;
    enum status status = STATUS_NOT_FOUND;
    uint64_t id;

    if (args->count < 3) {
        gear_text_unknown(conn, args);
        return;
    }
    if (args->count > 3 || !gear_word_is(args->at[1], "job")) {
        gear_text_reply(conn, SLICE("ERR UNKNOWN_ERROR\r\n"));
        return;
    }
    if (handle_read(&conn->shared->handles, args->at[2], &id)) {
        status = broker_cancel(broker, conn->session, id, true);
    }
    if (status == STATUS_OK) {
        wire_hold(conn->wire, broker_position(broker));
        gear_text_ok(conn);
    } else if (status == STATUS_FORBIDDEN) {
        gear_text_forbidden(conn);
    } else {
        gear_text_reply(conn, SLICE("ERR UNKNOWN_JOB\r\n"));
    }
}

// Whether the command is `create function F` or `drop function F`; there are no other forms.
static bool gear_names_function(const struct gear_args *args)
{
    return args->count == 3 && gear_word_is(args->at[1], "function");
}

static void gear_admin_create(struct gear_conn *conn, const struct gear_args *args)
{
    enum status status;

    if (!gear_names_function(args)) {
        gear_text_incomplete(conn, args);
        return;
    }
    status = broker_queue_create(conn->shared->broker, conn->session, args->at[2]);
    if (status == STATUS_OK) {
        gear_text_ok(conn);
    } else if (status == STATUS_FORBIDDEN) {
        gear_text_forbidden(conn);
    } else {
        gear_text_error_echo(conn, SLICE("ERR CREATE_FUNCTION "), args->at[2]);
    }
}

// `drop function` while the waiting jobs of the function are deleted.
struct gear_drop {
    struct sweep sweep;
    char name[];
};

// Whether the function cannot be dropped only because it has waiting jobs.
static bool gear_has_only_waiting_jobs(const struct gear_conn *conn, struct slice name)
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

static enum status gear_drop_begin(struct gear_conn *conn, struct slice name)
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

static void gear_drop_reply(struct gear_conn *conn, enum status status)
{
    if (status == STATUS_OK) {
        gear_text_ok(conn);
    } else if (status == STATUS_FORBIDDEN) {
        gear_text_forbidden(conn);
    } else if (status == STATUS_IN_USE) {
        gear_text_reply(conn,
                        SLICE("ERR there are still connected workers or executing clients\r\n"));
    } else if (status == STATUS_NO_MEMORY) {
        gear_text_reply(conn, SLICE("ERR OUT_OF_MEMORY\r\n"));
    } else {
        gear_text_reply(conn, SLICE("ERR function not found\r\n"));
    }
}

static void gear_admin_drop(struct gear_conn *conn, const struct gear_args *args)
{
    enum status status;

    if (!gear_names_function(args)) {
        gear_text_incomplete(conn, args);
        return;
    }
    // If a client of another protocol still uses the queue, it is removed when that client leaves.
    status = broker_queue_forget(conn->shared->broker, conn->session, args->at[2]);
    if (status == STATUS_IN_USE && gear_has_only_waiting_jobs(conn, args->at[2])) {
        status = gear_drop_begin(conn, args->at[2]);
        if (status == STATUS_OK) {
            return;
        }
    }
    gear_drop_reply(conn, status);
}

enum step gear_drop_step(struct gear_conn *conn, struct feed_turn *turn)
{
    struct broker *broker = conn->shared->broker;
    struct sweep *sweep = &conn->doing.drop->sweep;
    enum status status = broker_sweep(broker, conn->session, sweep);

    (void)turn;
    wire_hold(conn->wire, broker_position(broker));
    if (status == STATUS_MORE) {
        return STEP_AGAIN;
    }
    if (status == STATUS_OK) {
        status = broker_queue_forget(broker, conn->session, sweep->queue);
    }
    // The queue may have been removed with its last job.
    gear_drop_reply(conn, status == STATUS_NOT_FOUND ? STATUS_OK : status);
    gear_drop_discard(conn);
    conn->state = GEAR_MESSAGE;
    return STEP_ON;
}

void gear_drop_discard(struct gear_conn *conn)
{
    free(conn->doing.drop);
    conn->doing.drop = NULL;
}

// The number at the beginning of the word; 0: there is none, or it is negative.
static uint32_t gear_parse_limit(struct slice word)
{
    uint64_t limit = 0;
    size_t at = word.len > 0 && *word.ptr == '+' ? 1 : 0;

    for (; at < word.len && word.ptr[at] >= '0' && word.ptr[at] <= '9' && limit < UINT32_MAX;
         at++) {
        limit = limit * 10 + (uint64_t)(word.ptr[at] - '0');
    }
    return limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
}

// maxqueue F [LIMIT | HIGH NORMAL LOW]: one limit is for all priorities; a missing one means no
// limit.
static void gear_admin_maxqueue(struct gear_conn *conn, const struct gear_args *args)
{
    struct broker *broker = conn->shared->broker;
    uint32_t limits[BAND_COUNT] = {0};
    struct queue *queue;
    bool limited = false;

    if (args->count < 2) {
        gear_text_incomplete(conn, args);
        return;
    }
    if (!session_may_by_name(conn->session, MAY_OPERATE, args->at[1])) {
        gear_text_forbidden(conn);
        return;
    }
    for (size_t band = 0; band < BAND_COUNT; band++) {
        size_t word = args->count == 3 ? 2 : 2 + band;

        limits[band] = word < args->count ? gear_parse_limit(args->at[word]) : 0;
        limited = limited || limits[band] > 0;
    }
    queue = broker_queue_find(broker, args->at[1]);
    if (queue) {
        if (broker_queue_limit(conn->session, queue, limits) == STATUS_OK && limited) {
            // Otherwise the queue, with its limit, would be removed when it is empty.
            broker_queue_keep(broker, queue, true);
        }
    }
    gear_text_ok(conn);
}

//
// The table of commands
//

// Splits the line at runs of spaces. As in gearmand, a run at the beginning or the end is next to
// an empty word. False: there are more words than any command has.
static bool gear_split_line(struct slice line, struct gear_args *args)
{
    args->count = 0;
    while (args->count < ARGS_MAX) {
        const char *space = line.len > 0 ? memchr(line.ptr, ' ', line.len) : NULL;

        if (!space) {
            args->at[args->count++] = line;
            return true;
        }
        args->at[args->count++] = slice_of(line.ptr, (size_t)(space - line.ptr));
        line = slice_from(line, (size_t)(space - line.ptr));
        while (line.len > 0 && *line.ptr == ' ') {
            line = slice_from(line, 1);
        }
    }
    return false;
}

enum gear_need {
    NEEDS_NOTHING, // the command checks each item that it shows
    NEEDS_OBSERVE, // the right to observe any function
    NEEDS_OPERATE  // the command checks the right to operate; without rules, the peer must be local
};

struct gear_text_command {
    const char *name;
    void (*run)(struct gear_conn *conn, const struct gear_args *args);
    enum gear_need need;
};

static const struct gear_text_command gear_text_commands[] = {
    {"cancel", gear_admin_cancel, NEEDS_OPERATE},
    {"create", gear_admin_create, NEEDS_OPERATE},
    {"drop", gear_admin_drop, NEEDS_OPERATE},
    {"getpid", gear_admin_getpid, NEEDS_OBSERVE},
    {"maxqueue", gear_admin_maxqueue, NEEDS_OPERATE},
    {"prioritystatus", gear_admin_priority_status, NEEDS_NOTHING},
    {"show", gear_admin_show, NEEDS_NOTHING},
    {"status", gear_admin_status, NEEDS_NOTHING},
    {"verbose", gear_admin_verbose, NEEDS_OBSERVE},
    {"version", gear_admin_version, NEEDS_OBSERVE},
    {"workers", gear_admin_workers, NEEDS_NOTHING},
    {NULL, NULL, NEEDS_NOTHING},
};

void gear_admin(struct gear_conn *conn, struct slice line)
{
    const struct gear_text_command *command = gear_text_commands;
    struct gear_args args;
    bool fits = gear_split_line(line, &args);

    if (conn->wire->traced) {
        wire_log_command(conn->wire, SLICE("text"), line, 0);
    }
    while (command->name && !(fits && gear_word_is(args.at[0], command->name))) {
        command++;
    }
    if (!command->name) {
        gear_text_unknown(conn, &args);
    } else if (command->need == NEEDS_OBSERVE &&
               !session_may_somewhere(conn->session, MAY_OBSERVE)) {
        gear_text_forbidden(conn);
    } else if (command->need == NEEDS_OPERATE && !session_has_grants(conn->session) &&
               !wire_is_local(conn->wire)) {
        gear_text_reply(conn, SLICE("ERR FORBIDDEN Not+allowed+from+this+address\r\n"));
    } else {
        command->run(conn, &args);
    }
}
