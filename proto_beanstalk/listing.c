/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/listing.h"

#include "proto_beanstalk/yaml.h"

#include <stdlib.h>

// So many names use up as much of a turn's budget as a command does.
#define NAMES_PER_COMMAND 8

typedef struct queue *(*next_fn)(struct bean_conn *conn, struct bean_listing *listing);

struct bean_listing {
    struct yaml yaml;
    next_fn next;
    uint32_t cursor; // list-tubes: how far it has come in the broker's queues
    // list-tubes-watched: the last one listed of the session's subscriptions, which stay as they
    // are while the connection is in this state.
    const struct subscription *place;
};

static struct queue *next_queue(struct bean_conn *conn, struct bean_listing *listing)
{
    return broker_queue_next(conn->shared->broker, &listing->cursor);
}

static struct queue *next_watched(struct bean_conn *conn, struct bean_listing *listing)
{
    return session_queue_next(conn->session, &listing->place);
}

static void begin(struct bean_conn *conn, next_fn next)
{
    struct bean_listing *listing = calloc(1, sizeof *listing);

    if (!listing) {
        bean_reply(&conn->wire->out, BEAN_OUT_OF_MEMORY);
        return;
    }
    listing->next = next;
    yaml_begin(&listing->yaml);
    conn->doing.listing = listing;
    conn->state = BEAN_LISTING;
}

void bean_list_tubes(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    begin(conn, next_queue);
}

void bean_list_tubes_watched(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    begin(conn, next_watched);
}

static void end(struct bean_conn *conn)
{
    struct blob *body = yaml_finish(&conn->doing.listing->yaml);

    if (body) {
        bean_reply_body(&conn->wire->out, body);
        blob_unref(body);
    } else {
        bean_reply(&conn->wire->out, BEAN_OUT_OF_MEMORY);
    }
    free(conn->doing.listing);
    conn->doing.listing = NULL;
    conn->state = BEAN_LINE;
}

static void charge_for_names(struct feed_turn *turn, unsigned names)
{
    unsigned cost = names / NAMES_PER_COMMAND;

    turn->budget -= cost < turn->budget ? cost : turn->budget;
}

enum step bean_listing_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct bean_listing *listing = conn->doing.listing;

    for (unsigned i = 0; i < BROKER_SLICE; i++) {
        struct queue *queue = listing->next(conn, listing);
        struct slice name;

        if (!queue) {
            end(conn);
            charge_for_names(turn, i);
            return STEP_ON;
        }
        name = queue_name(queue);
        if (bean_name_valid(name)) {
            yaml_item(&listing->yaml, name);
        }
    }
    return STEP_AGAIN;
}

void bean_listing_discard(struct bean_conn *conn)
{
    yaml_discard(&conn->doing.listing->yaml);
    free(conn->doing.listing);
    conn->doing.listing = NULL;
}
