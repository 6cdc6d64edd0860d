/* SPDX-License-Identifier: MIT */
#include "proto_gearman/gear_admin.h"

#include "core/base/digits.h"

#include <stdlib.h>
#include <string.h>

// A step ends with the line in which it has written this many bytes.
#define STEP_BYTES ((size_t)32 * 1024)
// A step ends after this number of lines and of functions in lines.
#define STEP_ITEMS BROKER_SLICE
// A list that is longer is sent in parts of at least this many bytes. Sending a part takes longer
// than collecting the next one, so that tools, which take a pause for the end, see no pause.
#define COLLECTED_MAX ((size_t)4 * 1024 * 1024)
// The most numbers in a line.
#define NUMBERS_MAX 4

enum gear_list_progress {
    LIST_CONTINUES,
    LIST_ENDS // nothing was written, because all items have been
};

// Writes the next line, or the part of it that fits into the step.
typedef enum gear_list_progress (*gear_list_next_fn)(struct gear_conn *conn,
                                                     struct gear_listing *listing);

struct gear_listing {
    gear_list_next_fn next;
    // The limits of the present step.
    size_t full_at;      // it ends when `text` has this many bytes
    unsigned items_left; // lines, and functions in lines
    // The position, depending on the kind of the list.
    uint32_t queue_cursor;              // status, priority status: in the broker's queues
    struct job_walk jobs;               // jobs, uniques: in the broker's jobs
    struct gear_conn_node in_conns;     // workers: in shared->conns, before the next connection
    uint64_t number;                    // workers: of the connection whose line has begun; 0: none
    bool begun;                         // a part of that line is written
    struct subscription_walk functions; // the next ones of that connection
    struct output text;                 // the part of the list that is collected
    struct output behind;               // packets to be sent after the list
};

//
// Lines
//

static bool gear_listing_is_full(const struct gear_listing *listing)
{
    return listing->items_left == 0 || output_pending(&listing->text) >= listing->full_at ||
           output_failed(&listing->text);
}

// Writes each number after a tab, and the end of the line.
static void gear_list_numbers(struct gear_listing *listing, const uint64_t *numbers, size_t count)
{
    char text[NUMBERS_MAX * (1 + DIGITS_MAX) + 1];
    char *at = text;

    for (size_t i = 0; i < count; i++) {
        *at++ = '\t';
        at = digits_write(at, numbers[i]);
    }
    *at++ = '\n';
    output_write(&listing->text, slice_of(text, (size_t)(at - text)));
}

//
// Functions
//

// Writes the name of the next queue. STATUS_MORE: the connection may not see it; STATUS_EMPTY:
// there is none.
static enum status gear_list_queue(struct gear_conn *conn, struct gear_listing *listing,
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
    gear_escape_write(&listing->text, queue_name(queue), GEAR_ESCAPE_FIELD);
    return STATUS_OK;
}

static enum gear_list_progress gear_list_next_status(struct gear_conn *conn,
                                                     struct gear_listing *listing)
{
    struct queue_info info;
    enum status status = gear_list_queue(conn, listing, &info);

    if (status != STATUS_OK) {
        return status == STATUS_MORE ? LIST_CONTINUES : LIST_ENDS;
    }
    const uint64_t numbers[] = {
        info.jobs[JOB_READY] + info.jobs[JOB_RESERVED] + info.jobs[JOB_DELAYED],
        info.jobs[JOB_RESERVED],
        info.subscriptions,
    };

    gear_list_numbers(listing, numbers, sizeof numbers / sizeof *numbers);
    return LIST_CONTINUES;
}

static enum gear_list_progress gear_list_next_priority(struct gear_conn *conn,
                                                       struct gear_listing *listing)
{
    struct queue_info info;
    enum status status = gear_list_queue(conn, listing, &info);

    if (status != STATUS_OK) {
        return status == STATUS_MORE ? LIST_CONTINUES : LIST_ENDS;
    }
    const uint64_t numbers[] = {
        info.ready[BAND_HIGH],
        info.ready[BAND_NORMAL],
        info.ready[BAND_LOW],
        info.subscriptions,
    };

    gear_list_numbers(listing, numbers, sizeof numbers / sizeof *numbers);
    return LIST_CONTINUES;
}

//
// Connections
//

// The next connection; NULL: none. Skips the positions of other lists.
static struct gear_conn *gear_list_conn(const struct gear_conn *conn,
                                        const struct gear_listing *listing)
{
    const struct list_node *end = &conn->shared->conns;
    struct list_node *node = listing->in_conns.node.next;

    while (node != end && !list_item(node, struct gear_conn_node, node)->is_conn) {
        node = node->next;
    }
    return node == end ? NULL : list_item(node, struct gear_conn, in_conns.node);
}

// Begins the line of the connection `subject`, if it has not begun yet.
static void gear_list_begin_line(struct gear_listing *listing, const struct gear_conn *subject)
{
    struct output *out = &listing->text;
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

static void gear_list_end_line(struct gear_listing *listing)
{
    if (listing->begun) {
        output_write(&listing->text, SLICE("\n"));
    }
    listing->begun = false;
    listing->number = 0;
    subscription_walk_end(&listing->functions);
}

// Writes the next functions of a line that the administrator may see, newest first. False: the step
// ends before the line.
static bool gear_list_functions(struct gear_conn *conn, struct gear_listing *listing,
                                const struct gear_conn *subject)
{
    struct output *out = &listing->text;

    while (!gear_listing_is_full(listing)) {
        const struct queue *queue = subscription_walk_next(&listing->functions);

        if (!queue) {
            return true;
        }
        listing->items_left--;
        if (session_may(conn->session, MAY_OBSERVE, queue)) {
            gear_list_begin_line(listing, subject);
            output_write(out, SLICE(" "));
            gear_escape_write(out, queue_name(queue), GEAR_ESCAPE_WORD);
        }
    }
    if (!subscription_walk_keep(&listing->functions)) {
        output_fail(out);
    }
    return false;
}

static enum gear_list_progress gear_list_next_worker(struct gear_conn *conn,
                                                     struct gear_listing *listing)
{
    struct gear_conn *subject = gear_list_conn(conn, listing);

    if (listing->number != 0 && (!subject || subject->wire->number != listing->number)) {
        // The connection was closed after its line began.
        gear_list_end_line(listing);
        return LIST_CONTINUES;
    }
    if (!subject) {
        return LIST_ENDS;
    }
    if (listing->number == 0) {
        listing->number = subject->wire->number;
        subscription_walk_begin(&listing->functions, subject->session);
        // Otherwise the line begins with the first function that the administrator may see.
        if (session_may_everywhere(conn->session, MAY_OBSERVE)) {
            gear_list_begin_line(listing, subject);
        }
    }
    if (gear_list_functions(conn, listing, subject)) {
        gear_list_end_line(listing);
        list_remove(&listing->in_conns.node);
        list_insert_before(subject->in_conns.node.next, &listing->in_conns.node);
    }
    return LIST_CONTINUES;
}

//
// Jobs
//

// As broker_job_next(). STATUS_MORE also means that the connection may not see the job.
static enum status gear_list_job(struct gear_conn *conn, struct gear_listing *listing,
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

static enum gear_list_progress gear_list_next_job(struct gear_conn *conn,
                                                  struct gear_listing *listing)
{
    struct job_info info;
    char handle[HANDLE_MAX];
    enum status status = gear_list_job(conn, listing, &info);

    if (status != STATUS_OK) {
        return status == STATUS_MORE ? LIST_CONTINUES : LIST_ENDS;
    }
    const char *end = handle_write(&conn->shared->handles, info.id, handle);
    // The second number is 1 in gearmand if the job will be dropped.
    const uint64_t numbers[] = {info.attempts, 0, info.durable};

    output_write(&listing->text, slice_of(handle, (size_t)(end - handle)));
    gear_list_numbers(listing, numbers, sizeof numbers / sizeof *numbers);
    return LIST_CONTINUES;
}

static enum gear_list_progress gear_list_next_unique(struct gear_conn *conn,
                                                     struct gear_listing *listing)
{
    struct job_info info;
    enum status status = gear_list_job(conn, listing, &info);

    if (status != STATUS_OK) {
        return status == STATUS_MORE ? LIST_CONTINUES : LIST_ENDS;
    }
    if (info.key_kind == KEY_CONTENT) {
        output_write(&listing->text, SLICE("-")); // as the client sent it
    } else if (slice_equal(info.key, SLICE("."))) {
        output_write(&listing->text, SLICE("%2E")); // a dot alone ends the list
    } else {
        gear_escape_write(&listing->text, info.key, GEAR_ESCAPE_FIELD);
    }
    output_write(&listing->text, SLICE("\n"));
    return LIST_CONTINUES;
}

//
// Steps
//

static const gear_list_next_fn gear_list_nexts[GEAR_LISTS] = {
    [GEAR_LIST_STATUS] = gear_list_next_status,
    [GEAR_LIST_PRIORITY_STATUS] = gear_list_next_priority,
    [GEAR_LIST_WORKERS] = gear_list_next_worker,
    [GEAR_LIST_JOBS] = gear_list_next_job,
    [GEAR_LIST_UNIQUES] = gear_list_next_unique,
};

void gear_listing_begin(struct gear_conn *conn, enum gear_list list)
{
    struct gear_listing *listing = calloc(1, sizeof *listing);

    if (!listing) {
        output_write(&conn->wire->out, SLICE("ERR OUT_OF_MEMORY\r\n"));
        return;
    }
    listing->next = gear_list_nexts[list];
    list_init(&listing->in_conns.node);
    list_init(&listing->functions.in_session);
    output_init(&listing->text, conn->wire->out.pool);
    output_init(&listing->behind, conn->wire->out.pool);
    if (list == GEAR_LIST_WORKERS) {
        list_insert_before(conn->shared->conns.next, &listing->in_conns.node);
    }
    conn->doing.listing = listing;
    conn->state = GEAR_LISTING;
}

enum step gear_listing_step(struct gear_conn *conn, struct feed_turn *turn)
{
    struct gear_listing *listing = conn->doing.listing;

    (void)turn;
    listing->full_at = output_pending(&listing->text) + STEP_BYTES;
    listing->items_left = STEP_ITEMS;
    while (!gear_listing_is_full(listing)) {
        if (listing->next(conn, listing) == LIST_ENDS) {
            output_write(&listing->text, SLICE(".\n"));
            output_append(&conn->wire->out, &listing->text);
            output_append(&conn->wire->out, &listing->behind);
            gear_listing_discard(conn);
            conn->state = GEAR_MESSAGE;
            // The next list of a pipeline begins in the next turn.
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
    list_remove(&conn->doing.listing->in_conns.node);
    subscription_walk_end(&conn->doing.listing->functions);
    output_clear(&conn->doing.listing->text);
    output_clear(&conn->doing.listing->behind);
    free(conn->doing.listing);
    conn->doing.listing = NULL;
}

//
// Escapes
//

static bool gear_is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

// Whether the first byte of the text needs no escape.
static bool gear_is_plain(struct slice text, enum gear_escape kind)
{
    unsigned char c = (unsigned char)*text.ptr;

    if (c == ' ') {
        return kind != GEAR_ESCAPE_WORD;
    }
    if (c == '%') {
        return kind == GEAR_ESCAPE_ECHO || text.len < 3 || !gear_is_hex_digit(text.ptr[1]) ||
               !gear_is_hex_digit(text.ptr[2]);
    }
    return c > ' ' && c != 0x7f;
}

void gear_escape_write(struct output *out, struct slice text, enum gear_escape kind)
{
    static const char hex[] = "0123456789ABCDEF";

    while (text.len > 0) {
        size_t run = 0;

        while (run < text.len && gear_is_plain(slice_from(text, run), kind)) {
            run++;
        }
        output_write(out, slice_of(text.ptr, run));
        text = slice_from(text, run);
        if (text.len > 0) {
            unsigned char byte = (unsigned char)*text.ptr;
            const char escape[] = {'%', hex[byte >> 4], hex[byte & 15]};

            output_write(out, slice_of(escape, sizeof escape));
            text = slice_from(text, 1);
        }
    }
}
