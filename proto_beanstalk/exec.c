/* SPDX-License-Identifier: MIT */

// The commands, and the table that finds the function of each. Reserving, commands with a body, and
// statistics have files of their own.

#include "proto_beanstalk/bean_conn.h"

#include "core/base/memory.h"
#include "core/operate.h"

#include <string.h>

//
// The caller's rights
//

// Tubes that the connection may no longer watch give it no jobs. A connection that watches many
// tubes gets its reply after all of them have been checked.
static void bean_grant(struct bean_conn *conn, struct grants *grants)
{
    if (broker_session_grant(conn->session, grants) == GRANT_MORE) {
        conn->state = BEAN_GRANTING;
    } else {
        conn->state = BEAN_LINE;
        bean_reply(&conn->wire->out, BEAN_OK);
    }
}

enum step bean_grant_step(struct bean_conn *conn, struct feed_turn *turn)
{
    (void)turn;
    bean_grant(conn, broker_session_grants(conn->session));
    return conn->state == BEAN_GRANTING ? STEP_AGAIN : STEP_ON;
}

// From now on, the connection has the rights of the token's owner only. An invalid token is
// FORBIDDEN and changes nothing. After too many invalid tokens from the peer's address, the command
// waits, and so does the input after it.
static void bean_exec_auth(struct bean_conn *conn, const struct bean_command *command)
{
    const struct wire_claim claim = {.token = &command->token};
    const struct wire_caller caller = wire_identify(conn->wire, &claim);

    switch (caller.kind) {
    case CALLER_ADDRESS:
    case CALLER_KNOWN:
        bean_grant(conn, caller.grants);
        return;
    case CALLER_UNKNOWN:
        bean_reply(&conn->wire->out, BEAN_FORBIDDEN);
        return;
    case CALLER_LATER:
        conn->wire->deadline_at = caller.again_at;
        conn->state = BEAN_AUTH_LATER;
        return;
    }
    UNREACHABLE();
}

void bean_auth_expired(struct bean_conn *conn)
{
    if (conn->state == BEAN_AUTH_LATER) {
        conn->state = BEAN_LINE;
        wire_wake(conn->wire);
    }
}

//
// Jobs that the connection holds
//

// Completes a job that this connection holds, or held until its TTR ran out, and cancels a job that
// no worker holds.
static void bean_exec_delete(struct bean_conn *conn, const struct bean_command *command)
{
    enum status status = broker_complete(conn->session, command->id, NULL);

    if (status == STATUS_NOT_FOUND) {
        status = broker_cancel(conn->shared->broker, conn->session, command->id, false);
    }
    bean_reply_changed(conn, status, BEAN_DELETED);
}

static void bean_exec_release(struct bean_conn *conn, const struct bean_command *command)
{
    enum status status =
        broker_release(conn->session, command->id, command->pri, nsec_from_seconds(command->delay));

    bean_reply_changed(conn, status, BEAN_RELEASED);
}

static void bean_exec_bury(struct bean_conn *conn, const struct bean_command *command)
{
    bean_reply_changed(conn, broker_bury(conn->session, command->id, command->pri), BEAN_BURIED);
}

static void bean_exec_touch(struct bean_conn *conn, const struct bean_command *command)
{
    bean_reply_status(conn->wire, broker_touch(conn->session, command->id), BEAN_TOUCHED);
}

// Reports to the clients that wait for the job, whatever protocol they use.
static void bean_exec_progress(struct bean_conn *conn, const struct bean_command *command)
{
    const struct job_event event = {
        .kind = JOB_EVENT_PROGRESS, .numerator = command->done, .denominator = command->total};

    if (broker_report_waits(conn->session, command->id)) {
        // The command will be read and counted again.
        conn->shared->commands[BEAN_PROGRESS]--;
        conn->state = BEAN_PROGRESS_NEXT;
        return;
    }
    bean_reply_status(conn->wire, broker_report(conn->session, command->id, &event), BEAN_REPORTED);
}

//
// Tubes used and watched
//

static void bean_exec_use(struct bean_conn *conn, const struct bean_command *command)
{
    struct queue *queue;
    bool may = session_may_by_name(conn->session, MAY_SUBMIT, command->name) ||
               session_may_by_name(conn->session, MAY_OBSERVE, command->name) ||
               session_may_by_name(conn->session, MAY_OPERATE, command->name);
    enum status status =
        may ? broker_queue_hold(conn->shared->broker, command->name, &queue) : STATUS_FORBIDDEN;

    if (status != STATUS_OK) {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
        return;
    }
    broker_queue_drop(conn->shared->broker, conn->used);
    conn->used = queue;
    bean_reply_using(&conn->wire->out, command->name);
}

static void bean_exec_list_tube_used(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    bean_reply_using(&conn->wire->out, queue_name(conn->used));
}

static void bean_reply_watching(struct bean_conn *conn)
{
    bean_reply_number(&conn->wire->out, SLICE("WATCHING "), session_subscriptions(conn->session));
}

static void bean_exec_watch(struct bean_conn *conn, const struct bean_command *command)
{
    const struct subscription_terms terms = {.limit_for = 0, .on_limit = ON_LIMIT_RETRY};
    enum status status = broker_subscribe(conn->session, command->name, &terms);

    if (status == STATUS_OK) {
        bean_reply_watching(conn);
    } else {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}

static void bean_exec_ignore(struct bean_conn *conn, const struct bean_command *command)
{
    if (session_subscriptions(conn->session) == 1 &&
        session_subscribed(conn->session, command->name)) {
        bean_reply(&conn->wire->out, BEAN_NOT_IGNORED);
        return;
    }
    broker_unsubscribe(conn->session, command->name, false);
    bean_reply_watching(conn);
}

static void bean_exec_pause_tube(struct bean_conn *conn, const struct bean_command *command)
{
    struct broker *broker = conn->shared->broker;
    struct queue *queue;
    enum status status = STATUS_NOT_FOUND;

    if (command->validity != BEAN_GOOD) {
        bean_refuse(conn->wire, BEAN_BAD_FORMAT);
        return;
    }
    queue = broker_queue_find(broker, command->name);
    if (!session_may_by_name(conn->session, MAY_OPERATE, command->name)) {
        status = STATUS_FORBIDDEN;
    } else if (queue) {
        status = broker_pause(broker, conn->session, queue, nsec_from_seconds(command->delay));
    }
    bean_reply_changed(conn, status, BEAN_PAUSED);
}

//
// clear-tube: deletes, in slices, the jobs that are in the tube when it begins and are not held
//

struct bean_clear {
    struct sweep sweep;
    char name[]; // of the tube
};

static void bean_exec_clear_tube(struct bean_conn *conn, const struct bean_command *command)
{
    struct bean_clear *clear = memory_alloc(sizeof *clear + command->name.len);
    enum status status;

    if (!clear) {
        bean_refuse(conn->wire, BEAN_OUT_OF_MEMORY);
        return;
    }
    memcpy(clear->name, command->name.ptr, command->name.len);
    clear->sweep = (struct sweep){
        .queue = slice_of(clear->name, command->name.len),
        .filter = JOB_FILTER_ALL,
        .act = {.kind = ACT_DELETE},
    };
    conn->doing.clear = clear;
    conn->state = BEAN_CLEARING;
    status = broker_sweep_begin(conn->shared->broker, conn->session, &clear->sweep);
    if (status != STATUS_OK) {
        bean_clear_discard(conn);
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}

enum step bean_clear_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct sweep *sweep = &conn->doing.clear->sweep;
    enum status status = broker_sweep(conn->shared->broker, conn->session, sweep);

    (void)turn;
    // The reply, which is staged next, waits for the records of all slices.
    wire_hold(conn->wire, broker_position(conn->shared->broker));
    if (status == STATUS_MORE) {
        return STEP_AGAIN;
    }
    // The space for the record of a job's end was reserved when the job was submitted.
    ENSURE(status == STATUS_OK);
    bean_reply_number(&conn->wire->out, SLICE("CLEARED "), sweep->counts.done);
    bean_clear_discard(conn);
    return STEP_ON;
}

size_t bean_clear_holds(const struct bean_conn *conn)
{
    return sizeof(struct bean_clear) + conn->doing.clear->sweep.queue.len;
}

void bean_clear_discard(struct bean_conn *conn)
{
    memory_free(conn->doing.clear, bean_clear_holds(conn));
    conn->doing.clear = NULL;
    conn->state = BEAN_LINE;
}

//
// Peeking and kicking
//

static void bean_reply_job_or_none(struct bean_conn *conn, const struct job *job)
{
    if (job) {
        wire_hold(conn->wire, broker_job_position(conn->shared->broker, job));
        bean_reply_found(&conn->wire->out, job);
    } else {
        bean_reply(&conn->wire->out, BEAN_NOT_FOUND);
    }
}

static void bean_exec_peek(struct bean_conn *conn, const struct bean_command *command)
{
    bean_reply_job_or_none(conn, bean_find_job(conn, command->id));
}

static void bean_exec_peek_used(struct bean_conn *conn, const struct bean_command *command)
{
    if (!session_may(conn->session, MAY_OBSERVE, conn->used)) {
        bean_refuse(conn->wire, BEAN_FORBIDDEN);
    } else if (command->verb == BEAN_PEEK_READY) {
        bean_reply_job_or_none(conn, queue_peek_ready(conn->used));
    } else if (command->verb == BEAN_PEEK_DELAYED) {
        bean_reply_job_or_none(conn, queue_peek_delayed(conn->shared->broker, conn->used));
    } else {
        bean_reply_job_or_none(conn, queue_peek_buried(conn->used));
    }
}

static void bean_exec_kick(struct bean_conn *conn, const struct bean_command *command)
{
    enum status status =
        broker_kick_begin(conn->session, conn->used, command->bound, &conn->doing.kick);

    if (status == STATUS_OK) {
        conn->state = BEAN_KICKING;
    } else {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}

enum step bean_kick_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct kick *kick = &conn->doing.kick;
    enum status status = broker_kick(conn->shared->broker, conn->used, kick);

    (void)turn;
    // The reply, which is staged next, waits for the records of all slices.
    wire_hold(conn->wire, broker_position(conn->shared->broker));
    if (status == STATUS_MORE) {
        return STEP_AGAIN;
    }
    // If the store ran out of space, the reply counts the jobs that were kicked before.
    if (status == STATUS_OK || kick->kicked > 0) {
        bean_reply_number(&conn->wire->out, SLICE("KICKED "), kick->kicked);
    } else {
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
    conn->state = BEAN_LINE;
    return STEP_ON;
}

static void bean_exec_kick_job(struct bean_conn *conn, const struct bean_command *command)
{
    bean_reply_changed(conn, broker_kick_id(conn->shared->broker, conn->session, command->id),
                       BEAN_KICKED);
}

//
// The table of commands
//

static void bean_exec_quit(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    conn->state = BEAN_FINISHED;
}

typedef void (*bean_exec_fn)(struct bean_conn *conn, const struct bean_command *command);

// NULL: a body follows the command.
static const bean_exec_fn bean_execs[BEAN_VERBS] = {
    [BEAN_AUTH] = bean_exec_auth,
    [BEAN_BURY] = bean_exec_bury,
    [BEAN_CLEAR_TUBE] = bean_exec_clear_tube,
    [BEAN_DELETE] = bean_exec_delete,
    [BEAN_IGNORE] = bean_exec_ignore,
    [BEAN_KICK] = bean_exec_kick,
    [BEAN_KICK_JOB] = bean_exec_kick_job,
    [BEAN_LIST_TUBES_WATCHED] = bean_list_tubes_watched,
    [BEAN_LIST_TUBES] = bean_list_tubes,
    [BEAN_LIST_TUBE_USED] = bean_exec_list_tube_used,
    [BEAN_PEEK] = bean_exec_peek,
    [BEAN_PEEK_READY] = bean_exec_peek_used,
    [BEAN_PEEK_DELAYED] = bean_exec_peek_used,
    [BEAN_PEEK_BURIED] = bean_exec_peek_used,
    [BEAN_PAUSE_TUBE] = bean_exec_pause_tube,
    [BEAN_PROGRESS] = bean_exec_progress,
    [BEAN_QUIT] = bean_exec_quit,
    [BEAN_RESERVE_BATCH] = bean_reserve_batch,
    [BEAN_RESERVE_WITH_TIMEOUT] = bean_reserve_with_timeout,
    [BEAN_RESERVE_JOB] = bean_reserve_job,
    [BEAN_RESERVE] = bean_reserve,
    [BEAN_RELEASE] = bean_exec_release,
    [BEAN_STATS_JOB] = bean_stats_job,
    [BEAN_STATS_TUBE] = bean_stats_tube,
    [BEAN_STATS] = bean_stats,
    [BEAN_TOUCH] = bean_exec_touch,
    [BEAN_USE] = bean_exec_use,
    [BEAN_WATCH] = bean_exec_watch,
};

// Logs the line as it is, except a token.
static APART void bean_log_command(const struct bean_conn *conn, struct slice line,
                                   const struct bean_command *command)
{
    const char *space = memchr(line.ptr, ' ', line.len);
    size_t name = space ? (size_t)(space - line.ptr) : line.len;
    struct slice arguments = space ? slice_from(line, name + 1) : SLICE("");

    wire_log_command(conn->wire, slice_of(line.ptr, name),
                     command->verb == BEAN_AUTH ? SLICE("") : arguments, 0);
}

void bean_exec(struct bean_conn *conn, struct slice line, struct feed_turn *turn)
{
    struct bean_command command;

    bean_parse(line, &command);
    if (conn->wire->traced) {
        bean_log_command(conn, line, &command);
    }
    if (bean_is_extension(command.verb) && !bean_extensions(conn->shared)) {
        bean_refuse(conn->wire, BEAN_UNKNOWN_COMMAND);
        return;
    }
    if (command.validity == BEAN_BAD) {
        bean_refuse(conn->wire, BEAN_BAD_FORMAT);
        return;
    }
    if (command.verb == BEAN_UNKNOWN) {
        bean_refuse(conn->wire, BEAN_UNKNOWN_COMMAND);
        return;
    }
    conn->shared->commands[command.verb]++;
    if (bean_execs[command.verb]) {
        bean_execs[command.verb](conn, &command);
    } else {
        bean_exec_with_body(conn, &command, turn);
    }
}
