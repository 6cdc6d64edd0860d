/* SPDX-License-Identifier: MIT */
#include "core/watch.h"

#include "core/broker_private.h"

#include <stdlib.h>

// So often an event is told before those of other jobs have their turn.
#define TELLINGS_AT_ONCE (BROKER_SLICE / 8)

static void news_init(struct interest *interest, struct news *event)
{
    event->interest = interest;
    list_init(&event->in_interest);
    list_init(&event->in_broker);
}

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
    news_init(interest, &interest->greeting);
    news_init(interest, &interest->retried);
    news_init(interest, &interest->final);
    extra->interest = interest;
    return interest;
}

static struct news *first_event(const struct interest *interest)
{
    struct list_node *node = list_first(&interest->events);

    return node ? list_item(node, struct news, in_interest) : NULL;
}

static void set_aside(struct interest *interest, bool aside)
{
    uint64_t *untold = interest->broker->untold;

    untold[interest->aside] -= interest->untold;
    untold[aside] += interest->untold;
    interest->aside = aside;
}

// The first event of an interest that was set aside has its turn behind those of others.
static void queue_aside(struct interest *interest)
{
    struct news *first = first_event(interest);

    set_aside(interest, first != NULL);
    if (first) {
        list_remove(&first->in_broker);
        list_append(&interest->broker->long_news, &first->in_broker);
    }
}

static void add_event(struct news *event)
{
    struct interest *interest = event->interest;
    struct broker *broker = interest->broker;
    bool first = first_event(interest) == event;

    event->number = ++broker->last_event;
    event->what.job_id = interest->job->id;
    if (first) {
        // If it was being told, it will be told anew from the first watch on.
        interest->next = NULL;
    }
    if (!list_linked(&event->in_interest)) {
        interest->untold++;
        broker->untold[interest->aside]++;
    }
    list_remove(&event->in_interest);
    list_append(&interest->events, &event->in_interest);
    list_remove(&event->in_broker);
    if (!interest->aside) {
        list_append(&broker->news, &event->in_broker);
    } else if (first) {
        queue_aside(interest);
    }
}

struct watch *watch_add(struct session *session, struct job *job)
{
    struct session_extra *extra = session_extra(session);
    struct interest *interest = extra ? interest_of(session->broker, job) : NULL;
    struct watch *watch = interest ? slab_calloc(&session->broker->slab, sizeof *watch) : NULL;

    if (!watch) {
        return NULL;
    }
    watch->interest = interest;
    watch->session = session;
    watch->since = session->broker->last_event;
    list_init(&watch->in_interest);
    list_init(&watch->in_session);
    list_append(&interest->watches, &watch->in_interest);
    list_append(&extra->watches, &watch->in_session);
    interest->count++;
    if (interest->has_progress) {
        watch->greet = true;
        add_event(&interest->greeting);
    }
    return watch;
}

void watch_forget(struct watch *watch)
{
    struct interest *interest = watch->interest;

    if (interest->next == &watch->in_interest) {
        interest->next = watch->in_interest.next;
    }
    list_remove(&watch->in_interest);
    list_remove(&watch->in_session);
    interest->count--;
    slab_free(&interest->broker->slab, watch, sizeof *watch);
}

void watch_drop(struct watch *watch)
{
    struct interest *interest = watch->interest;
    struct job *job = interest->job;

    watch_forget(watch);
    if (interest->count > 0 || !job || job->durable) {
        return;
    }
    if (job->state == JOB_RESERVED) {
        job->abandoned = true;
    } else {
        outcome_ended(interest->broker, job, JOB_EVENT_CANCELLED, NULL);
    }
}

void broker_unwatch(struct watch *watch)
{
    ENSURE(!watch->interest->broker->settling);
    watch_drop(watch);
}

void watch_set_owner(struct watch *watch, void *owner)
{
    watch->owner = owner;
}

void *watch_owner(const struct watch *watch)
{
    return watch->owner;
}

static bool is_embedded(const struct news *event)
{
    const struct interest *interest = event->interest;

    return event == &interest->greeting || event == &interest->retried || event == &interest->final;
}

// The event has been told to all.
static void event_done(struct news *event)
{
    struct interest *interest = event->interest;

    interest->untold--;
    interest->broker->untold[interest->aside]--;
    list_remove(&event->in_interest);
    list_remove(&event->in_broker);
    blob_unref(event->what.data);
    event->what.data = NULL;
    if (!is_embedded(event)) {
        free(event);
    }
}

void interest_free(struct interest *interest)
{
    while (!list_empty(&interest->watches)) {
        watch_forget(list_item(list_first(&interest->watches), struct watch, in_interest));
    }
    while (!list_empty(&interest->events)) {
        event_done(list_item(list_first(&interest->events), struct news, in_interest));
    }
    blob_unref(interest->spelling);
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
    if (interest->count > 0) {
        interest->retried.what.kind = JOB_EVENT_RETRIED;
        add_event(&interest->retried);
    }
}

void interest_end(struct interest *interest, enum job_event_kind kind, struct blob *data,
                  uint64_t position)
{
    if (!interest) {
        return;
    }
    if (interest->count > 0) {
        interest->final.what = (struct job_event){.kind = kind, .data = data, .position = position};
        if (data) {
            blob_ref(data);
        }
        add_event(&interest->final);
    }
    interest->job->extra->interest = NULL;
    interest->job = NULL;
    if (interest->count == 0) {
        interest_free(interest);
    }
}

static struct news *event_new(struct interest *interest, const struct job_event *what)
{
    struct news *event = calloc(1, sizeof *event);

    if (event) {
        news_init(interest, event);
        event->what = *what;
        event->what.position = 0;
        if (what->data) {
            blob_ref(what->data);
        }
    }
    return event;
}

static void set_progress(struct interest *interest, const struct job_event *event)
{
    interest->has_progress = true;
    interest->numerator = event->numerator;
    interest->denominator = event->denominator;
    blob_unref(interest->spelling);
    interest->spelling = event->data ? blob_ref(event->data) : NULL;
}

enum status interest_report(struct broker *broker, struct job *job, const struct job_event *event)
{
    bool progress = event->kind == JOB_EVENT_PROGRESS;
    struct interest *interest = progress ? interest_of(broker, job) : job_interest(job);
    struct news *news;

    if (!interest) {
        return progress ? STATUS_NO_MEMORY : STATUS_OK;
    }
    if (interest->count > 0) {
        news = event_new(interest, event);
        if (!news) {
            return STATUS_NO_MEMORY;
        }
        add_event(news);
    }
    if (progress) {
        set_progress(interest, event);
    }
    return STATUS_OK;
}

// Does this event concern that watch? A greeting is for those who joined after progress was made;
// it tells what is known now.
static bool concerns(struct news *event, struct watch *watch)
{
    struct interest *interest = event->interest;
    bool greeting = event == &interest->greeting;

    if (greeting ? !watch->greet || !interest->has_progress : watch->since >= event->number) {
        return false;
    }
    if (greeting) {
        watch->greet = false;
        event->what.kind = JOB_EVENT_PROGRESS;
        event->what.numerator = interest->numerator;
        event->what.denominator = interest->denominator;
    }
    return true;
}

void broker_encoded(struct broker *broker, size_t len)
{
    broker->encoded += len;
}

// Takes what tellings have cost off the budget. What is more than that, or less than a unit, is
// still owed.
static void pay(struct broker *broker, unsigned *budget)
{
    size_t cost = broker->encoded / ENCODED_AT_ONCE;

    if (cost > 0) {
        cost = cost < *budget ? cost : *budget;
        broker->encoded -= cost * ENCODED_AT_ONCE;
        *budget -= (unsigned)cost;
    }
}

static void tell(struct news *event, struct watch *watch)
{
    struct interest *interest = event->interest;
    struct session *session = watch->session;
    struct job_event what = event->what;

    if (event == &interest->greeting) {
        what.data = interest->spelling;
    }
    if (!session->closed) {
        session->ops->job_event(session->owner, watch, &what);
    }
    if (event == &interest->final) {
        watch_forget(watch);
    }
}

// False where the budget ran out before everybody knew.
static bool tell_watches(struct news *event, unsigned *budget)
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
        if (concerns(event, watch)) {
            tell(event, watch);
            pay(interest->broker, budget);
        }
    }
    interest->next = NULL;
    return true;
}

// The event, which is its interest's first, has been told to all; if that took a whole turn, the
// next one waits for another.
static void told_to_all(struct news *event, bool took_turn)
{
    struct interest *interest = event->interest;

    if (event == &interest->final) {
        interest_free(interest);
        return;
    }
    event_done(event);
    if (interest->aside || took_turn) {
        queue_aside(interest);
    }
}

// Tells of the event as far as its turn and the budget go. True: its turn is over.
static bool tell_in_turn(struct news *event, unsigned *budget)
{
    struct interest *interest = event->interest;
    unsigned turn = *budget < TELLINGS_AT_ONCE ? *budget : TELLINGS_AT_ONCE;
    unsigned left = turn;
    bool done;

    // Everybody may have left who was there when it happened.
    left -= interest->count == 0;
    done = tell_watches(event, &left);
    *budget -= turn - left;
    pay(interest->broker, budget);
    if (done) {
        told_to_all(event, turn == TELLINGS_AT_ONCE && left == 0);
    } else if (turn == TELLINGS_AT_ONCE) {
        queue_aside(interest);
    }
    return done || turn == TELLINGS_AT_ONCE;
}

static void tell_news(struct broker *broker, unsigned *budget)
{
    while (*budget > 0 && !list_empty(&broker->news)) {
        struct news *event = list_item(list_first(&broker->news), struct news, in_broker);

        if (event->interest->aside) {
            // It comes behind those of its job.
            list_remove(&event->in_broker);
            --*budget;
        } else if (!tell_in_turn(event, budget)) {
            return;
        }
    }
}

static void tell_long_news(struct broker *broker, unsigned *budget)
{
    while (*budget > 0 && !list_empty(&broker->long_news)) {
        (void)tell_in_turn(list_item(list_first(&broker->long_news), struct news, in_broker),
                           budget);
    }
}

static APART void tell_both(struct broker *broker, unsigned *budget)
{
    unsigned half = *budget / 2;
    unsigned other_half = *budget - half;

    // What one of them leaves is the other's.
    tell_news(broker, &half);
    other_half += half;
    pay(broker, &other_half);
    tell_long_news(broker, &other_half);
    tell_news(broker, &other_half);
    *budget = other_half;
}

void interest_tell_all(struct broker *broker, unsigned *budget)
{
    broker->encoded = 0;
    if (list_empty(&broker->long_news)) {
        tell_news(broker, budget);
    }
    if (!list_empty(&broker->long_news)) {
        tell_both(broker, budget);
    }
}
