/* SPDX-License-Identifier: MIT */

#include "core/watch.h"

#include "core/base/blob.h"
#include "core/base/memory.h"
#include "core/broker_private.h"
#include "core/charge.h"
#include "core/job_private.h"
#include "core/session_private.h"

#include <stdint.h>

//
// Pending events
//

static void queued_event_init(struct interest *interest, struct queued_event *event)
{
    event->interest = interest;
    list_init(&event->in_interest);
}

static struct queued_event *interest_first_event(const struct interest *interest)
{
    struct list_node *node = list_first(&interest->events);

    return node ? list_item(node, struct queued_event, in_interest) : NULL;
}

// The event has happened now. If it is pending already, it is told once, as the last one.
static void queued_event_add(struct queued_event *event)
{
    struct interest *interest = event->interest;
    struct broker *broker = interest->broker;

    event->number = ++broker->telling.last_event;
    event->what.job_id = interest->job->id;
    if (interest_first_event(interest) == event) {
        // If it is being told, it is told again, from the first watch on.
        interest->next = NULL;
    }
    if (!list_linked(&event->in_interest)) {
        interest->untold++;
        broker->telling.untold++;
    }
    list_remove(&event->in_interest);
    list_append(&interest->events, &event->in_interest);
    if (!list_linked(&interest->in_broker)) {
        list_append(&broker->telling.interests, &interest->in_broker);
    }
}

// All watches have been told, or none remains.
static void queued_event_done(struct queued_event *event)
{
    struct interest *interest = event->interest;

    interest->untold--;
    interest->broker->telling.untold--;
    list_remove(&event->in_interest);
    if (interest->untold == 0) {
        list_remove(&interest->in_broker);
    }
    blob_unref(event->what.data);
    event->what.data = NULL;
    if (event != &interest->catch_up && event != &interest->retried && event != &interest->final) {
        slab_free(&interest->broker->slab, event, sizeof *event);
    }
}

// The report of a worker, with a reference to its data; NULL without memory.
static struct queued_event *queued_event_new(struct interest *interest,
                                             const struct job_event *what)
{
    struct queued_event *event = slab_calloc(&interest->broker->slab, sizeof *event);

    if (event) {
        queued_event_init(interest, event);
        event->what = *what;
        event->what.position = 0;
        if (what->data) {
            blob_ref(what->data);
        }
    }
    return event;
}

//
// Partial results
//

#define PARTIAL_RESULT_MIN ((size_t)256)

static size_t partial_result_size(const struct partial_result *partial_result)
{
    return partial_result ? sizeof *partial_result + partial_result->room : 0;
}

static bool partial_result_resize(struct interest *interest, size_t room)
{
    struct partial_result *old = interest->partial_result;
    struct partial_result *partial_result = memory_resize_of(
        MEMORY_MEMOS, old, partial_result_size(old), sizeof *partial_result + room);

    if (!partial_result) {
        return false;
    }
    if (!old) {
        *partial_result = (struct partial_result){.len = 0};
    }
    partial_result->room = room;
    interest->partial_result = partial_result;
    return true;
}

static bool partial_result_make_room(struct interest *interest, size_t len)
{
    size_t room = interest->partial_result ? interest->partial_result->room : PARTIAL_RESULT_MIN;

    while (room < len) {
        room *= 2;
    }
    return (interest->partial_result && room == interest->partial_result->room) ||
           (!memory_is_short() && partial_result_resize(interest, room));
}

// The parts so far are of no use without the rest.
static bool partial_result_abandon(struct interest *interest, enum result_data why)
{
    if (!interest->partial_result && !partial_result_resize(interest, 0)) {
        return false;
    }
    interest->partial_result->data_state = why;
    interest->partial_result->len = 0;
    return true;
}

bool partial_result_add(struct interest *interest, const struct blob *part)
{
    struct partial_result *partial_result = interest->partial_result;
    size_t len = partial_result ? partial_result->len : 0;

    if (!part || part->len == 0 || (partial_result && partial_result->data_state != RESULT_WHOLE)) {
        return true;
    }
    if (part->len > RESULT_MAX - len) {
        return partial_result_abandon(interest, RESULT_TOO_LARGE);
    }
    if (!partial_result_make_room(interest, len + part->len)) {
        return partial_result_abandon(interest, RESULT_LOST);
    }
    partial_result = interest->partial_result;
    memcpy(partial_result->bytes + partial_result->len, part->bytes, part->len);
    partial_result->len += part->len;
    return true;
}

// The attempt has ended: frees the partial result, if there is one.
static void partial_result_drop(struct interest *interest)
{
    memory_free_of(MEMORY_MEMOS, interest->partial_result,
                   partial_result_size(interest->partial_result));
    interest->partial_result = NULL;
}

//
// Interests and watches
//

struct interest *interest_of(struct broker *broker, struct job *job)
{
    struct job_extra *extra = job_extra(broker, job);
    struct interest *interest;

    if (!extra || extra->interest) {
        return extra ? extra->interest : NULL;
    }
    interest = slab_calloc(&broker->slab, sizeof *interest);
    if (!interest) {
        return NULL;
    }
    interest->broker = broker;
    interest->job = job;
    list_init(&interest->watches);
    list_init(&interest->events);
    list_init(&interest->in_broker);
    queued_event_init(interest, &interest->catch_up);
    queued_event_init(interest, &interest->retried);
    queued_event_init(interest, &interest->final);
    extra->interest = interest;
    return interest;
}

struct watch *watch_add(struct session *session, struct job *job, bool follows)
{
    struct session_extra *extra = session_extra(session);
    struct interest *interest = extra ? interest_of(session->broker, job) : NULL;
    struct watch *watch = interest ? slab_calloc(&session->broker->slab, sizeof *watch) : NULL;

    if (!watch) {
        return NULL;
    }
    watch->interest = interest;
    watch->session = session;
    watch->since = session->broker->telling.last_event;
    list_init(&watch->in_interest);
    list_init(&watch->in_session);
    list_append(&interest->watches, &watch->in_interest);
    list_append(&extra->watches, &watch->in_session);
    extra->watch_count++;
    watch->follows = follows;
    *(follows ? &interest->followers : &interest->count) += 1;
    if (interest->has_progress) {
        watch->wants_catch_up = true;
        queued_event_add(&interest->catch_up);
    }
    return watch;
}

void watch_remove(struct watch *watch)
{
    struct interest *interest = watch->interest;

    if (interest->next == &watch->in_interest) {
        interest->next = watch->in_interest.next;
    }
    list_remove(&watch->in_interest);
    list_remove(&watch->in_session);
    watch->session->extra->watch_count--;
    *(watch->follows ? &interest->followers : &interest->count) -= 1;
    slab_free(&interest->broker->slab, watch, sizeof *watch);
}

void interest_free(struct interest *interest)
{
    while (!list_empty(&interest->watches)) {
        watch_remove(list_item(list_first(&interest->watches), struct watch, in_interest));
    }
    while (!list_empty(&interest->events)) {
        queued_event_done(
            list_item(list_first(&interest->events), struct queued_event, in_interest));
    }
    blob_unref(interest->progress_text);
    partial_result_drop(interest);
    slab_free(&interest->broker->slab, interest, sizeof *interest);
}

void interest_expired(struct interest *interest)
{
    interest->has_progress = false;
    interest->numerator = 0;
    interest->denominator = 0;
}

void interest_retried(struct interest *interest)
{
    interest_expired(interest);
    partial_result_drop(interest);
    if (interest_listeners(interest) > 0) {
        interest->retried.what.kind = JOB_EVENT_RETRIED;
        queued_event_add(&interest->retried);
    }
}

void interest_end(struct interest *interest, enum job_event_kind kind, struct blob *data,
                  uint64_t position)
{
    if (!interest) {
        return;
    }
    if (interest_listeners(interest) > 0) {
        interest->final.what = (struct job_event){.kind = kind, .data = data, .position = position};
        if (data) {
            blob_ref(data);
        }
        queued_event_add(&interest->final);
    }
    interest->job->extra->interest = NULL;
    interest->job = NULL;
    if (interest_listeners(interest) == 0) {
        interest_free(interest);
    }
}

enum status interest_report(struct broker *broker, struct job *job, const struct job_event *event)
{
    bool progress = event->kind == JOB_EVENT_PROGRESS;
    struct interest *interest = progress ? interest_of(broker, job) : job_interest(job);
    struct queued_event *queued;

    if (!interest) {
        return progress ? STATUS_NO_MEMORY : STATUS_OK;
    }
    if (interest_listeners(interest) > 0) {
        queued = queued_event_new(interest, event);
        if (!queued) {
            return STATUS_NO_MEMORY;
        }
        queued_event_add(queued);
    }
    if (progress) {
        interest->has_progress = true;
        interest->numerator = event->numerator;
        interest->denominator = event->denominator;
        blob_unref(interest->progress_text);
        interest->progress_text = event->data ? blob_ref(event->data) : NULL;
    }
    return STATUS_OK;
}

//
// Telling
//

// The notices about one job before other jobs have their turn.
#define TELLINGS_AT_ONCE (BROKER_SLICE / 8)

// Whether the watch is to be told of the event. A catch_up event tells the present progress to
// watches that joined after progress was reported.
static bool queued_event_concerns(struct queued_event *event, struct watch *watch)
{
    struct interest *interest = event->interest;

    if (event != &interest->catch_up) {
        return watch->since < event->number;
    }
    if (!watch->wants_catch_up || !interest->has_progress) {
        return false;
    }
    watch->wants_catch_up = false;
    event->what.kind = JOB_EVENT_PROGRESS;
    event->what.numerator = interest->numerator;
    event->what.denominator = interest->denominator;
    return true;
}

// Tells one watch; the final event ends it.
static void queued_event_tell(struct queued_event *event, struct watch *watch)
{
    struct interest *interest = event->interest;
    struct session *session = watch->session;
    struct job_event what = event->what;

    if (event == &interest->catch_up) {
        what.data = interest->progress_text;
    }
    if (!session->closed) {
        session->ops->job_event(session->owner, watch, &what);
    }
    if (event == &interest->final) {
        watch_remove(watch);
    }
}

// False if the budget ran out before all watches were told.
static bool queued_event_tell_all(struct queued_event *event, unsigned *budget)
{
    struct interest *interest = event->interest;

    if (!interest->next) {
        interest->next = interest->watches.next;
    }
    while (interest->next != &interest->watches) {
        struct watch *watch = list_item(interest->next, struct watch, in_interest);

        if (*budget == 0) {
            return false;
        }
        --*budget;
        interest->next = interest->next->next;
        if (queued_event_concerns(event, watch)) {
            queued_event_tell(event, watch);
            charge_pay_bytes(interest->broker, budget);
        }
    }
    interest->next = NULL;
    return true;
}

// The number of other interests that an interest is compared with for its place by age.
#define LOOKED_BACK 8

static bool interest_is_older(const struct list_node *node, const struct interest *interest)
{
    const struct interest *other =
        list_item((struct list_node *)(uintptr_t)node, struct interest, in_broker);

    return interest_first_event(other)->number < interest_first_event(interest)->number;
}

// True if the interest whose turn comes next has no older event. This one has an event.
static bool interest_is_next(const struct interest *interest)
{
    const struct list_node *next = interest->in_broker.next;

    return next == &interest->broker->telling.interests || !interest_is_older(next, interest);
}

// Ends the interest's turn. If it has more events, it goes behind all other interests, or, if its
// turn was not `spent`, behind those with older events.
static void interest_end_turn(struct interest *interest, bool spent)
{
    struct list_node *end = &interest->broker->telling.interests;
    struct list_node *place = end;

    if (interest->untold == 0) {
        return;
    }
    list_remove(&interest->in_broker);
    for (int i = 0; !spent && i < LOOKED_BACK && place->prev != end; i++) {
        if (interest_is_older(place->prev, interest)) {
            break;
        }
        place = place->prev;
    }
    list_insert_before(place, &interest->in_broker);
}

// Tells the first event of the interest, and the next ones until another interest has an older one,
// as far as the budget goes. False: the interest has told of the end of its job and is gone.
static bool interest_tell(struct interest *interest, unsigned *budget)
{
    do {
        struct queued_event *event = interest_first_event(interest);

        // An event without watches costs one unit, too.
        *budget -= interest_listeners(interest) == 0;
        if (!queued_event_tell_all(event, budget)) {
            return true;
        }
        if (event == &interest->final) {
            interest_free(interest);
            return false;
        }
        queued_event_done(event);
    } while (*budget > 0 && interest->untold > 0 && interest_is_next(interest));
    return true;
}

void interest_tell_all(struct broker *broker, unsigned *budget)
{
    broker->charge.bytes = 0;
    while (*budget > 0 && !list_empty(&broker->telling.interests)) {
        struct interest *interest =
            list_item(list_first(&broker->telling.interests), struct interest, in_broker);
        unsigned turn = *budget < TELLINGS_AT_ONCE ? *budget : TELLINGS_AT_ONCE;
        unsigned left = turn;

        if (interest_tell(interest, &left)) {
            interest_end_turn(interest, left == 0);
        }
        *budget -= turn - left;
        // The cost of bytes beyond the turn is taken off the budget of all interests.
        charge_pay_bytes(broker, budget);
    }
}
