/* SPDX-License-Identifier: MIT */
#include "proto_gearman/listing.h"

#include "proto_common/output.h"

#include "proto_gearman/admin.h"
#include "proto_gearman/escape.h"

#include <stdlib.h>
#include <string.h>

// The bytes after which a step ends, with the line that it is at.
#define STEP_BYTES ((size_t)32 * 1024)
// The lines, and functions in lines, after which it ends.
#define STEP_ITEMS BROKER_SLICE
// The bytes that are collected before they are sent, at least, where the list is as long. Tools
// take what comes in one read for the whole list, or what comes without a pause: the sending of as
// much takes longer than the collecting of what follows.
#define COLLECTED_MAX ((size_t)4 * 1024 * 1024)
// The most numbers in one line.
#define NUMBERS_MAX 4

enum progress {
    LIST_GOES_ON,
    LIST_ENDS // nothing was written: there is no more
};

// Writes the next line, or as much of it as a step may.
typedef enum progress (*next_fn)(struct gear_conn *conn, struct gear_listing *listing);

struct gear_listing {
    next_fn next;
    // How much the step that is being made may still write.
    size_t full_at;      // it ends when so much text is collected
    unsigned items_left; // lines, and functions in lines
    // How far the list has come, by its kind.
    uint32_t queue_cursor;              // status, priority status: in the broker's queues
    struct job_walk jobs;               // jobs, uniques: in the broker's jobs
    struct gear_place place;            // workers: in shared->conns, before the next connection
    uint64_t number;                    // of the connection that is at its functions; 0: none is
    bool begun;                         // something of its line is written
    struct subscription_walk functions; // of that connection
    struct output text;                 // what is collected of it
    struct output behind;               // packets that are to come behind the list
};

//
// Lines
//

static bool step_is_full(const struct gear_conn *conn, const struct gear_listing *listing)
{
    return listing->items_left == 0 ||
           output_pending(&conn->doing.listing->text) >= listing->full_at ||
           output_failed(&conn->doing.listing->text);
}

// Each number behind a tab, and the end of the line.
static void write_numbers(struct gear_conn *conn, const uint64_t *numbers, size_t count)
{
    char text[NUMBERS_MAX * (1 + DIGITS_MAX) + 1];
    char *at = text;

    for (size_t i = 0; i < count; i++) {
        *at++ = '\t';
        at = digits_write(at, numbers[i]);
    }
    *at++ = '\n';
    output_write(&conn->doing.listing->text, slice_of(text, (size_t)(at - text)));
}

//
// Functions
//

// The next queue, its name written. STATUS_MORE: it is not for this connection to see;
// STATUS_EMPTY: that was all.
static enum status next_queue(struct gear_conn *conn, struct gear_listing *listing,
                              struct queue_info *info)
{
    struct broker *broker = conn->shared->broker;
    const struct queue *queue = broker_queue_next(broker, &listing->queue_cursor);

    if (!queue) {
        return STATUS_EMPTY;
    }
    if (!session_may(conn->session, MAY_OBSERVE, queue)) {
        return STATUS_MORE;
    }
    broker_queue_info(broker, queue, info);
    gear_escape_write(&conn->doing.listing->text, queue_name(queue), GEAR_ESCAPE_FIELD);
    return STATUS_OK;
}

static enum progress next_status(struct gear_conn *conn, struct gear_listing *listing)
{
    struct queue_info info;
    enum status status = next_queue(conn, listing, &info);

    if (status != STATUS_OK) {
        return status == STATUS_MORE ? LIST_GOES_ON : LIST_ENDS;
    }
    const uint64_t numbers[] = {
        info.jobs[JOB_READY] + info.jobs[JOB_RESERVED] + info.jobs[JOB_DELAYED],
        info.jobs[JOB_RESERVED],
        info.subscriptions,
    };

    write_numbers(conn, numbers, sizeof numbers / sizeof *numbers);
    return LIST_GOES_ON;
}

static enum progress next_priority_status(struct gear_conn *conn, struct gear_listing *listing)
{
    struct queue_info info;
    enum status status = next_queue(conn, listing, &info);

    if (status != STATUS_OK) {
        return status == STATUS_MORE ? LIST_GOES_ON : LIST_ENDS;
    }
    const uint64_t numbers[] = {
        info.ready[BAND_HIGH],
        info.ready[BAND_NORMAL],
        info.ready[BAND_LOW],
        info.subscriptions,
    };

    write_numbers(conn, numbers, sizeof numbers / sizeof *numbers);
    return LIST_GOES_ON;
}

//
// Connections
//

// The connection that is next; NULL at the end. Places of other lists are passed over.
static struct gear_conn *conn_at_place(const struct gear_conn *conn,
                                       const struct gear_listing *listing)
{
    const struct list_node *end = &conn->shared->conns;
    struct list_node *node = listing->place.node.next;

    while (node != end && !list_item(node, struct gear_place, node)->is_conn) {
        node = node->next;
    }
    return node == end ? NULL : list_item(node, struct gear_conn, place.node);
}

// Where it has not begun yet.
static void begin_line(struct gear_conn *conn, struct gear_listing *listing,
                       const struct gear_conn *subject)
{
    struct output *out = &conn->doing.listing->text;
    const char *id = subject->client_id && *subject->client_id ? subject->client_id : "-";
    char text[DIGITS_MAX + 1 + WIRE_PEER_MAX + 1];
    char *at;

    if (listing->begun) {
        return;
    }
    at = digits_write(text, subject->wire->number);
    *at++ = ' ';
    wire_peer(subject->wire, at);
    at += strlen(at);
    *at++ = ' ';
    output_write(out, slice_of(text, (size_t)(at - text)));
    gear_escape_write(out, slice_str(id), GEAR_ESCAPE_WORD);
    output_write(out, SLICE(" :"));
    listing->begun = true;
}

static void end_line(struct gear_conn *conn, struct gear_listing *listing)
{
    if (listing->begun) {
        output_write(&conn->doing.listing->text, SLICE("\n"));
    }
    listing->begun = false;
    listing->number = 0;
    subscription_walk_end(&listing->functions);
}

// Goes on with the functions of a line, newest first, those that are for this connection to see.
// False: the step is full before the line is.
static bool write_functions(struct gear_conn *conn, struct gear_listing *listing,
                            const struct gear_conn *subject)
{
    struct output *out = &conn->doing.listing->text;

    while (!step_is_full(conn, listing)) {
        const struct queue *queue = subscription_walk_next(&listing->functions);

        if (!queue) {
            return true;
        }
        listing->items_left--;
        if (session_may(conn->session, MAY_OBSERVE, queue)) {
            begin_line(conn, listing, subject);
            output_write(out, SLICE(" "));
            gear_escape_write(out, queue_name(queue), GEAR_ESCAPE_WORD);
        }
    }
    if (!subscription_walk_keep(&listing->functions)) {
        output_fail(out);
    }
    return false;
}

static enum progress next_worker(struct gear_conn *conn, struct gear_listing *listing)
{
    struct gear_conn *subject = conn_at_place(conn, listing);

    if (listing->number != 0 && (!subject || subject->wire->number != listing->number)) {
        // It has gone in the middle of its line.
        end_line(conn, listing);
        return LIST_GOES_ON;
    }
    if (!subject) {
        return LIST_ENDS;
    }
    if (listing->number == 0) {
        listing->number = subject->wire->number;
        subscription_walk_begin(&listing->functions, subject->session);
        // Otherwise its line begins with the first function that is to be seen.
        if (session_may_everywhere(conn->session, MAY_OBSERVE)) {
            begin_line(conn, listing, subject);
        }
    }
    if (write_functions(conn, listing, subject)) {
        end_line(conn, listing);
        list_remove(&listing->place.node);
        list_insert_before(subject->place.node.next, &listing->place.node);
    }
    return LIST_GOES_ON;
}

//
// Jobs
//

// The next job that is for this connection to see; as broker_job_next().
static enum status next_seen(struct gear_conn *conn, struct gear_listing *listing,
                             struct job_info *info)
{
    const struct job *job;
    enum status status = broker_job_next(conn->shared->broker, &listing->jobs, &job);

    if (status != STATUS_OK) {
        return status;
    }
    broker_job_info(conn->shared->broker, job, info);
    return session_may(conn->session, MAY_OBSERVE, info->queue) ? STATUS_OK : STATUS_MORE;
}

static enum progress next_job(struct gear_conn *conn, struct gear_listing *listing)
{
    struct job_info info;
    char handle[HANDLE_MAX];
    enum status status = next_seen(conn, listing, &info);

    if (status != STATUS_OK) {
        return status == STATUS_MORE ? LIST_GOES_ON : LIST_ENDS;
    }
    const char *end = handle_write(&conn->shared->handles, info.id, handle);
    // In gearmand, the second number marks a job that will be dropped instead of done.
    const uint64_t numbers[] = {info.attempts, 0, info.durable};

    output_write(&conn->doing.listing->text, slice_of(handle, (size_t)(end - handle)));
    write_numbers(conn, numbers, sizeof numbers / sizeof *numbers);
    return LIST_GOES_ON;
}

static enum progress next_unique(struct gear_conn *conn, struct gear_listing *listing)
{
    struct job_info info;
    enum status status = next_seen(conn, listing, &info);

    if (status != STATUS_OK) {
        return status == STATUS_MORE ? LIST_GOES_ON : LIST_ENDS;
    }
    if (info.key_kind == KEY_CONTENT) {
        output_write(&conn->doing.listing->text, SLICE("-")); // as its submitter said it
    } else if (slice_equal(info.key, SLICE("."))) {
        output_write(&conn->doing.listing->text, SLICE("%2E")); // as it is, it would end the list
    } else {
        gear_escape_write(&conn->doing.listing->text, info.key, GEAR_ESCAPE_FIELD);
    }
    output_write(&conn->doing.listing->text, SLICE("\n"));
    return LIST_GOES_ON;
}

//
// Steps
//

static const next_fn nexts[GEAR_LISTS] = {
    [GEAR_LIST_STATUS] = next_status,  [GEAR_LIST_PRIORITY_STATUS] = next_priority_status,
    [GEAR_LIST_WORKERS] = next_worker, [GEAR_LIST_JOBS] = next_job,
    [GEAR_LIST_UNIQUES] = next_unique,
};

void gear_listing_begin(struct gear_conn *conn, enum gear_list list)
{
    struct gear_listing *listing = calloc(1, sizeof *listing);

    if (!listing) {
        output_write(&conn->wire->out, SLICE("ERR OUT_OF_MEMORY\r\n"));
        return;
    }
    listing->next = nexts[list];
    list_init(&listing->place.node);
    list_init(&listing->functions.in_session);
    output_init(&listing->text, conn->wire->out.pool);
    output_init(&listing->behind, conn->wire->out.pool);
    if (list == GEAR_LIST_WORKERS) {
        list_insert_before(conn->shared->conns.next, &listing->place.node);
    }
    conn->doing.listing = listing;
    conn->state = GEAR_LISTING;
}

enum step gear_listing_step(struct gear_conn *conn)
{
    struct gear_listing *listing = conn->doing.listing;

    listing->full_at = output_pending(&listing->text) + STEP_BYTES;
    listing->items_left = STEP_ITEMS;
    while (!step_is_full(conn, listing)) {
        if (listing->next(conn, listing) == LIST_ENDS) {
            output_write(&listing->text, SLICE(".\n"));
            output_append(&conn->wire->out, &listing->text);
            output_append(&conn->wire->out, &listing->behind);
            gear_listing_discard(conn);
            conn->state = GEAR_MESSAGE;
            // A pipeline of lists makes one step in a turn, as one list does.
            return STEP_AGAIN;
        }
        listing->items_left -= listing->items_left > 0;
    }
    if (output_pending(&listing->text) >= COLLECTED_MAX || output_failed(&listing->text)) {
        output_append(&conn->wire->out, &listing->text);
    }
    return STEP_AGAIN;
}

struct output *gear_listing_behind(struct gear_conn *conn)
{
    return &conn->doing.listing->behind;
}

size_t gear_listing_holds(const struct gear_conn *conn)
{
    return sizeof *conn->doing.listing + output_pending(&conn->doing.listing->text) +
           output_pending(&conn->doing.listing->behind);
}

void gear_listing_discard(struct gear_conn *conn)
{
    list_remove(&conn->doing.listing->place.node);
    subscription_walk_end(&conn->doing.listing->functions);
    output_clear(&conn->doing.listing->text);
    output_clear(&conn->doing.listing->behind);
    free(conn->doing.listing);
    conn->doing.listing = NULL;
}
