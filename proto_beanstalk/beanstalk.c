/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/beanstalk.h"

#include "proto_beanstalk/conn.h"
#include "proto_beanstalk/listing.h"
#include "proto_beanstalk/put.h"
#include "proto_beanstalk/reserve.h"

#include <stddef.h>

static const struct option options[] = {
    {.name = "max_job_size",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct bean_options, max_job_size),
     .preset = "65535",
     .min = 0,
     .max = INT64_C(1) << 30,
     .live = true,
     .effect = "A put of a larger body is answered JOB_TOO_BIG."},
    {.name = "quote_names",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct bean_options, quote_names),
     .preset = "yes",
     .choices = "yes|no",
     .live = true,
     .effect =
         "Whether names in statistics are in quotes, as in beanstalkd 1.13, or not, as in 1.12."},
    {.name = NULL},
};

static enum status start(void *state, struct broker *broker, const void *settings,
                         const struct process_facts *facts)
{
    struct bean_shared *shared = state;

    shared->broker = broker;
    shared->options = settings;
    shared->facts = facts;
    return STATUS_OK;
}

static void stop(void *state)
{
    (void)state;
}

// A connection uses and watches the tube `default`, which from then on is there for good.
static enum status enter_default(struct bean_conn *conn)
{
    const struct terms terms = {.limit_for = 0, .on_limit = ON_LIMIT_RETRY};
    struct broker *broker = conn->shared->broker;
    enum status status = broker_queue_hold(broker, SLICE("default"), &conn->used);

    if (status != STATUS_OK) {
        return status;
    }
    status = broker_subscribe(conn->session, SLICE("default"), &terms);
    if (status != STATUS_OK) {
        broker_queue_drop(broker, conn->used);
        return status;
    }
    broker_queue_keep(broker, conn->used, true);
    return STATUS_OK;
}

static enum status conn_open(void *state, void *shared, struct wire *wire)
{
    struct bean_conn *conn = state;
    enum status status;

    conn->shared = shared;
    conn->wire = wire;
    status = broker_session_open(conn->shared->broker, &bean_session_ops, conn, CHOICE_OLDEST,
                                 &conn->session);
    if (status != STATUS_OK) {
        return status;
    }
    status = enter_default(conn);
    if (status != STATUS_OK) {
        broker_session_close(conn->session);
        return status;
    }
    conn->shared->connections++;
    conn->shared->total_connections++;
    return STATUS_OK;
}

static bool conn_eof(void *state)
{
    struct bean_conn *conn = state;

    conn->half_closed = true;
    bean_reserve_half_closed(conn);
    return true;
}

static void discard_work(struct bean_conn *conn)
{
    if (conn->state == BEAN_BODY) {
        bean_put_discard(conn);
    } else if (conn->state == BEAN_LISTING) {
        bean_listing_discard(conn);
    }
}

static void conn_close(void *state)
{
    struct bean_conn *conn = state;
    struct bean_shared *shared = conn->shared;

    shared->connections--;
    shared->producers -= conn->producer;
    shared->workers -= conn->worker;
    discard_work(conn);
    broker_session_close(conn->session);
    broker_queue_drop(shared->broker, conn->used);
}

const struct frontend beanstalk_frontend = {
    .name = "beanstalk",
    .listen = "127.0.0.1:11300",
    .options = options,
    .options_size = sizeof(struct bean_options),
    .shared_size = sizeof(struct bean_shared),
    .conn_size = sizeof(struct bean_conn),
    .start = start,
    .stop = stop,
    .open = conn_open,
    .feed = bean_feed,
    .filled = bean_filled,
    .eof = conn_eof,
    .close = conn_close,
};
