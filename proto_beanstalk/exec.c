/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/exec.h"

#include "core/base/macros.h"

#include "proto_beanstalk/batch.h"
#include "proto_beanstalk/caller.h"
#include "proto_beanstalk/clear.h"
#include "proto_beanstalk/listing.h"
#include "proto_beanstalk/put.h"
#include "proto_beanstalk/report.h"
#include "proto_beanstalk/reserve.h"
#include "proto_beanstalk/stats.h"

#include <string.h>

// Answers a command that the broker has just carried out. Where it changed a job that the journal
// keeps, the answer waits until the journal has the change.
static void reply_changed(struct bean_conn *conn, enum status status, enum bean_answer done)
{
    if (status == STATUS_OK) {
        wire_hold(conn->wire, broker_position(conn->shared->broker));
    }
    bean_reply_status(conn->wire, status, done);
}

//
// The worker's commands
//

// Where this connection holds the job, or held it until its TTR ran out, the job is done; a job
// that no worker holds is taken back.
static void exec_delete(struct bean_conn *conn, const struct bean_command *command)
{
    enum status status = broker_complete(conn->session, command->id, NULL);

    if (status == STATUS_NOT_FOUND) {
        status = broker_cancel(conn->shared->broker, conn->session, command->id, false);
    }
    reply_changed(conn, status, BEAN_DELETED);
}

static void exec_release(struct bean_conn *conn, const struct bean_command *command)
{
    enum status status =
        broker_release(conn->session, command->id, command->pri, nsec_from_seconds(command->delay));

    reply_changed(conn, status, BEAN_RELEASED);
}

static void exec_bury(struct bean_conn *conn, const struct bean_command *command)
{
    reply_changed(conn, broker_bury(conn->session, command->id, command->pri), BEAN_BURIED);
}

static void exec_touch(struct bean_conn *conn, const struct bean_command *command)
{
    bean_reply_status(conn->wire, broker_touch(conn->session, command->id), BEAN_TOUCHED);
}

//
// Tubes used and watched
//

static void exec_use(struct bean_conn *conn, const struct bean_command *command)
{
    struct queue *queue;
    enum status status = bean_may_use(conn, command->name)
                             ? broker_queue_hold(conn->shared->broker, command->name, &queue)
                             : STATUS_FORBIDDEN;

    if (status != STATUS_OK) {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
        return;
    }
    broker_queue_drop(conn->shared->broker, conn->used);
    conn->used = queue;
    bean_reply_using(&conn->wire->out, command->name);
}

static void exec_list_tube_used(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    bean_reply_using(&conn->wire->out, queue_name(conn->used));
}

static void reply_watching(struct bean_conn *conn)
{
    bean_reply_number(&conn->wire->out, SLICE("WATCHING "), session_subscriptions(conn->session));
}

static void exec_watch(struct bean_conn *conn, const struct bean_command *command)
{
    const struct terms terms = {.limit_for = 0, .on_limit = ON_LIMIT_RETRY};
    enum status status = broker_subscribe(conn->session, command->name, &terms);

    if (status == STATUS_OK) {
        reply_watching(conn);
    } else {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}

static void exec_ignore(struct bean_conn *conn, const struct bean_command *command)
{
    if (session_subscriptions(conn->session) == 1 &&
        session_subscribed(conn->session, command->name)) {
        bean_reply(&conn->wire->out, BEAN_NOT_IGNORED);
        return;
    }
    broker_unsubscribe(conn->session, command->name, false);
    reply_watching(conn);
}

static void exec_pause_tube(struct bean_conn *conn, const struct bean_command *command)
{
    struct broker *broker = conn->shared->broker;
    struct queue *queue;
    enum status status = STATUS_NOT_FOUND;

    if (command->verdict != BEAN_GOOD) {
        bean_refuse(conn->wire, BEAN_BAD_FORMAT);
        return;
    }
    queue = broker_queue_find(broker, command->name);
    if (!session_may_by_name(conn->session, MAY_OPERATE, command->name)) {
        status = STATUS_FORBIDDEN;
    } else if (queue) {
        status = broker_pause(broker, conn->session, queue, nsec_from_seconds(command->delay));
    }
    reply_changed(conn, status, BEAN_PAUSED);
}

//
// Peeking and kicking
//

static void reply_found(struct bean_conn *conn, const struct job *job)
{
    if (job) {
        wire_hold(conn->wire, broker_job_position(conn->shared->broker, job));
        bean_reply_found(&conn->wire->out, job);
    } else {
        bean_reply(&conn->wire->out, BEAN_NOT_FOUND);
    }
}

static void exec_peek(struct bean_conn *conn, const struct bean_command *command)
{
    reply_found(conn, bean_look_up(conn, command->id));
}

static void exec_peek_used(struct bean_conn *conn, const struct bean_command *command)
{
    if (!session_may(conn->session, MAY_OBSERVE, conn->used)) {
        bean_refuse(conn->wire, BEAN_FORBIDDEN);
    } else if (command->verb == BEAN_PEEK_READY) {
        reply_found(conn, queue_peek_ready(conn->used));
    } else if (command->verb == BEAN_PEEK_DELAYED) {
        reply_found(conn, queue_peek_delayed(conn->shared->broker, conn->used));
    } else {
        reply_found(conn, queue_peek_buried(conn->used));
    }
}

static void exec_kick(struct bean_conn *conn, const struct bean_command *command)
{
    enum status status =
        broker_kick_begin(conn->session, conn->used, command->bound, &conn->doing.kick);

    if (status == STATUS_OK) {
        conn->state = BEAN_KICKING;
    } else {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}

enum step bean_kick_step(struct bean_conn *conn)
{
    struct kick *kick = &conn->doing.kick;
    enum status status = broker_kick(conn->shared->broker, conn->used, kick);

    // The answer, which is the next thing that is staged, waits for the records of all slices.
    wire_hold(conn->wire, broker_position(conn->shared->broker));
    if (status == STATUS_MORE) {
        return STEP_AGAIN;
    }
    // Where the journal ran out of room half way, the jobs kicked so far stay so, and are counted.
    if (status == STATUS_OK || kick->kicked > 0) {
        bean_reply_number(&conn->wire->out, SLICE("KICKED "), kick->kicked);
    } else {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
    conn->state = BEAN_LINE;
    return STEP_ON;
}

static void exec_kick_job(struct bean_conn *conn, const struct bean_command *command)
{
    reply_changed(conn, broker_kick_id(conn->shared->broker, conn->session, command->id),
                  BEAN_KICKED);
}

//
// The table of commands
//

static void exec_quit(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    conn->state = BEAN_FINISHED;
}

typedef void (*exec_fn)(struct bean_conn *conn, const struct bean_command *command);

// Those that take input beyond their line are not here: `put`, `put-unique` and `complete`.
static const exec_fn execs[BEAN_VERBS] = {
    [BEAN_AUTH] = bean_auth,
    [BEAN_BURY] = exec_bury,
    [BEAN_CLEAR_TUBE] = bean_clear_tube,
    [BEAN_DELETE] = exec_delete,
    [BEAN_IGNORE] = exec_ignore,
    [BEAN_KICK] = exec_kick,
    [BEAN_KICK_JOB] = exec_kick_job,
    [BEAN_LIST_TUBES_WATCHED] = bean_list_tubes_watched,
    [BEAN_LIST_TUBES] = bean_list_tubes,
    [BEAN_LIST_TUBE_USED] = exec_list_tube_used,
    [BEAN_PEEK] = exec_peek,
    [BEAN_PEEK_READY] = exec_peek_used,
    [BEAN_PEEK_DELAYED] = exec_peek_used,
    [BEAN_PEEK_BURIED] = exec_peek_used,
    [BEAN_PAUSE_TUBE] = exec_pause_tube,
    [BEAN_PROGRESS] = bean_progress,
    [BEAN_QUIT] = exec_quit,
    [BEAN_RESERVE_BATCH] = bean_reserve_batch,
    [BEAN_RESERVE_WITH_TIMEOUT] = bean_reserve_with_timeout,
    [BEAN_RESERVE_JOB] = bean_reserve_job,
    [BEAN_RESERVE] = bean_reserve,
    [BEAN_RELEASE] = exec_release,
    [BEAN_STATS_JOB] = bean_stats_job,
    [BEAN_STATS_TUBE] = bean_stats_tube,
    [BEAN_STATS] = bean_stats,
    [BEAN_TOUCH] = exec_touch,
    [BEAN_USE] = exec_use,
    [BEAN_WATCH] = exec_watch,
};

static void begin_body(struct bean_conn *conn, const struct bean_command *command,
                       struct feed_turn *turn)
{
    if (command->verb == BEAN_COMPLETE) {
        bean_complete_begin(conn, command, turn);
    } else {
        bean_put_begin(conn, command, turn);
    }
}

// The line as it is, but for a token.
static APART void trace(const struct bean_conn *conn, struct slice line,
                        const struct bean_command *command)
{
    const char *space = memchr(line.ptr, ' ', line.len);
    size_t word = space ? (size_t)(space - line.ptr) : line.len;
    struct slice about = space ? slice_from(line, word + 1) : SLICE("");

    wire_log_command(conn->wire, slice_of(line.ptr, word),
                     command->verb == BEAN_AUTH ? SLICE("") : about, 0);
}

void bean_exec(struct bean_conn *conn, struct slice line, struct feed_turn *turn)
{
    struct bean_command command;

    bean_parse(line, &command);
    if (conn->wire->traced) {
        trace(conn, line, &command);
    }
    if (bean_is_extension(command.verb) && !bean_extensions(conn->shared)) {
        bean_refuse(conn->wire, BEAN_UNKNOWN_COMMAND);
        return;
    }
    if (command.verdict == BEAN_BAD) {
        bean_refuse(conn->wire, BEAN_BAD_FORMAT);
        return;
    }
    if (command.verb == BEAN_UNKNOWN) {
        bean_refuse(conn->wire, BEAN_UNKNOWN_COMMAND);
        return;
    }
    conn->shared->commands[command.verb]++;
    if (execs[command.verb]) {
        execs[command.verb](conn, &command);
    } else {
        begin_body(conn, &command, turn);
    }
}
