/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/listing.h"

#include "proto_beanstalk/yaml.h"

#include <stdlib.h>

// So many names use up as much of a turn's budget as a command does.
#define NAMES_PER_COMMAND 8
// A list that is no longer is gathered and answered as a whole.
#define GATHERED_MAX ((size_t)64 * 1024)

static const struct slice head = {"---\n", 4};
static const struct slice before_name = {"- ", 2};
static const struct slice behind_name = {"\n", 1};

struct listing_kind {
    void (*begin)(struct bean_conn *conn, struct bean_listing *listing); // NULL: nothing to do
    const struct queue *(*next)(struct bean_conn *conn, struct bean_listing *listing);
    void (*rewind)(struct bean_listing *listing);
    void (*end)(struct bean_conn *conn, struct bean_listing *listing); // NULL: nothing to do
};

// So many globs may a step compare names with, where a caller has very many.
#define GLOBS_PER_STEP 1024

struct bean_listing {
    const struct listing_kind *kind;
    struct grants *grants; // as they were when it began, of which a reference is held
    union {
        struct queue_roll roll; // list-tubes
        // list-tubes-watched: the last one listed of the session's subscriptions, which stay as
        // they are while the connection is in this state.
        const struct subscription *place;
    };
    bool gathers;     // what it is so far is in `yaml`
    bool sends;       // how long it is is known, and has been sent
    uint64_t len;     // what it is so far, or of what is still to be sent
    struct yaml yaml; // while it gathers
};

static void roll_begin(struct bean_conn *conn, struct bean_listing *listing)
{
    broker_roll_begin(conn->shared->broker, &listing->roll);
}

static const struct queue *roll_next(struct bean_conn *conn, struct bean_listing *listing)
{
    return broker_roll_next(conn->shared->broker, &listing->roll);
}

static void roll_rewind(struct bean_listing *listing)
{
    broker_roll_rewind(&listing->roll);
}

static void roll_end(struct bean_conn *conn, struct bean_listing *listing)
{
    broker_roll_end(conn->shared->broker, &listing->roll);
}

static const struct queue *watched_next(struct bean_conn *conn, struct bean_listing *listing)
{
    return session_queue_next(conn->session, &listing->place);
}

static void watched_rewind(struct bean_listing *listing)
{
    listing->place = NULL;
}

static const struct listing_kind all_tubes = {roll_begin, roll_next, roll_rewind, roll_end};
static const struct listing_kind watched_tubes = {NULL, watched_next, watched_rewind, NULL};

// What the connection watches it knows already. The answer must be the same each time that the
// names are looked at, whatever becomes of the caller's rights meanwhile.
static bool is_shown(const struct bean_listing *listing, struct slice name, size_t *looked)
{
    size_t globs = 0;
    bool shown = bean_name_valid(name) && (listing->kind == &watched_tubes || !listing->grants ||
                                           grants_have(listing->grants, MAY_OBSERVE, name, &globs));

    *looked += globs;
    return shown;
}

static void begin(struct bean_conn *conn, const struct listing_kind *kind)
{
    struct bean_listing *listing = calloc(1, sizeof *listing);

    if (!listing) {
        bean_refuse(conn->wire, BEAN_OUT_OF_MEMORY);
        return;
    }
    listing->kind = kind;
    listing->grants = grants_ref(broker_session_grants(conn->session));
    listing->gathers = true;
    listing->len = head.len;
    yaml_begin(&listing->yaml);
    if (kind->begin) {
        kind->begin(conn, listing);
    }
    conn->doing.listing = listing;
    conn->state = BEAN_LISTING;
}

void bean_list_tubes(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    begin(conn, &all_tubes);
}

void bean_list_tubes_watched(struct bean_conn *conn, const struct bean_command *command)
{
    (void)command;
    begin(conn, &watched_tubes);
}

size_t bean_listing_holds(const struct bean_conn *conn)
{
    return sizeof *conn->doing.listing + blob_builder_holds(&conn->doing.listing->yaml.text);
}

void bean_listing_discard(struct bean_conn *conn)
{
    struct bean_listing *listing = conn->doing.listing;

    if (listing->kind->end) {
        listing->kind->end(conn, listing);
    }
    yaml_discard(&listing->yaml);
    grants_unref(listing->grants);
    free(listing);
    conn->doing.listing = NULL;
}

static void end(struct bean_conn *conn)
{
    bean_listing_discard(conn);
    conn->state = BEAN_LINE;
}

// The list is as long as any other answer.
static void answer_gathered(struct bean_conn *conn)
{
    struct blob *body = yaml_finish(&conn->doing.listing->yaml);

    if (body) {
        bean_reply_body(&conn->wire->out, body);
        blob_unref(body);
    } else {
        bean_refuse(conn->wire, BEAN_OUT_OF_MEMORY);
    }
    end(conn);
}

// The names have been looked at once, and it is known how long the list is: they are sent at a
// second look.
static void begin_sending(struct bean_conn *conn)
{
    struct bean_listing *listing = conn->doing.listing;

    bean_reply_number(&conn->wire->out, SLICE("OK "), listing->len);
    output_write(&conn->wire->out, head);
    listing->len -= head.len;
    listing->sends = true;
    listing->kind->rewind(listing);
}

static void end_sending(struct bean_conn *conn)
{
    ENSURE(conn->doing.listing->len == 0);
    output_write(&conn->wire->out, SLICE("\r\n"));
    end(conn);
}

static void count_name(struct bean_listing *listing, struct slice name)
{
    listing->len += before_name.len + name.len + behind_name.len;
    if (!listing->gathers) {
        return;
    }
    if (listing->len <= GATHERED_MAX) {
        yaml_item(&listing->yaml, name);
    } else {
        yaml_discard(&listing->yaml);
        listing->gathers = false;
    }
}

static void send_name(struct bean_conn *conn, struct slice name)
{
    struct output *out = &conn->wire->out;
    size_t len = before_name.len + name.len + behind_name.len;

    ENSURE(conn->doing.listing->len >= len);
    conn->doing.listing->len -= len;
    output_write(out, before_name);
    output_write(out, name);
    output_write(out, behind_name);
}

// All names have been looked at. False: it begins anew.
static bool at_end(struct bean_conn *conn)
{
    const struct bean_listing *listing = conn->doing.listing;

    if (listing->sends) {
        end_sending(conn);
    } else if (listing->gathers) {
        answer_gathered(conn);
    } else {
        begin_sending(conn);
        return false;
    }
    return true;
}

static void charge_for_names(struct feed_turn *turn, unsigned names)
{
    unsigned cost = names / NAMES_PER_COMMAND;

    turn->budget -= cost < turn->budget ? cost : turn->budget;
}

enum step bean_listing_step(struct bean_conn *conn, struct feed_turn *turn)
{
    struct bean_listing *listing = conn->doing.listing;
    size_t looked = 0;

    for (unsigned i = 0; i < BROKER_SLICE && looked < GLOBS_PER_STEP; i++) {
        const struct queue *queue = listing->kind->next(conn, listing);
        struct slice name;

        if (!queue && listing->kind == &all_tubes && !listing->roll.ended) {
            break;
        }
        if (!queue) {
            charge_for_names(turn, i);
            return at_end(conn) ? STEP_ON : STEP_AGAIN;
        }
        name = queue_name(queue);
        if (!is_shown(listing, name, &looked)) {
            continue;
        }
        if (listing->sends) {
            send_name(conn, name);
        } else {
            count_name(listing, name);
        }
    }
    broker_charge_links(conn->shared->broker, looked);
    return STEP_AGAIN;
}
