/* SPDX-License-Identifier: MIT */
#include "core/verbs/tell.h"

#include "core/model/charge.h"
#include "core/model/event.h"
#include "core/model/session.h"
#include "core/model/watch.h"

// Does this event concern that watch? A catch_up is for those who joined after progress was made;
// it tells what is known now.
static bool concerns(struct queued_event *event, struct watch *watch)
{
    struct interest *interest = event->interest;
    bool catch_up = event == &interest->catch_up;

    if (catch_up ? !watch->wants_catch_up || !interest->has_progress
                 : watch->since >= event->number) {
        return false;
    }
    if (catch_up) {
        watch->wants_catch_up = false;
        event->what.kind = JOB_EVENT_PROGRESS;
        event->what.numerator = interest->numerator;
        event->what.denominator = interest->denominator;
    }
    return true;
}

static void tell(struct queued_event *event, struct watch *watch)
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

// False where the budget ran out before everybody knew.
static bool tell_watches(struct queued_event *event, unsigned *budget)
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
            charge_pay_bytes(interest->broker, budget);
        }
    }
    interest->next = NULL;
    return true;
}

// The event, which is its interest's first, has been told to all; if that took a whole turn, the
// next one waits for another.
static void told_to_all(struct queued_event *event, bool took_turn)
{
    struct interest *interest = event->interest;

    if (event == &interest->final) {
        interest_free(interest);
        return;
    }
    queued_event_done(event);
    if (interest->slow || took_turn) {
        queued_event_requeue_slow(interest);
    }
}

// Tells of the event as far as its turn and the budget go. True: its turn is over.
static bool tell_in_turn(struct queued_event *event, unsigned *budget)
{
    struct interest *interest = event->interest;
    unsigned turn = *budget < TELLINGS_AT_ONCE ? *budget : TELLINGS_AT_ONCE;
    unsigned left = turn;
    bool done;

    // Everybody may have left who was there when it happened.
    left -= interest->count == 0;
    done = tell_watches(event, &left);
    *budget -= turn - left;
    charge_pay_bytes(interest->broker, budget);
    if (done) {
        told_to_all(event, turn == TELLINGS_AT_ONCE && left == 0);
    } else if (turn == TELLINGS_AT_ONCE) {
        queued_event_requeue_slow(interest);
    }
    return done || turn == TELLINGS_AT_ONCE;
}

static void tell_events(struct broker *broker, unsigned *budget)
{
    while (*budget > 0 && !list_empty(&broker->telling.events)) {
        struct queued_event *event =
            list_item(list_first(&broker->telling.events), struct queued_event, in_broker);

        if (event->interest->slow) {
            // It comes behind those of its job.
            list_remove(&event->in_broker);
            --*budget;
        } else if (!tell_in_turn(event, budget)) {
            return;
        }
    }
}

static void tell_slow_events(struct broker *broker, unsigned *budget)
{
    while (*budget > 0 && !list_empty(&broker->telling.slow_events)) {
        (void)tell_in_turn(
            list_item(list_first(&broker->telling.slow_events), struct queued_event, in_broker),
            budget);
    }
}

// APART is worth 0.6 % of a foreground job, by tests/budget.
static APART void tell_both(struct broker *broker, unsigned *budget)
{
    unsigned half = *budget / 2;
    unsigned other_half = *budget - half;

    // What one of them leaves is the other's.
    tell_events(broker, &half);
    other_half += half;
    charge_pay_bytes(broker, &other_half);
    tell_slow_events(broker, &other_half);
    tell_events(broker, &other_half);
    *budget = other_half;
}

void interest_tell_all(struct broker *broker, unsigned *budget)
{
    broker->charge.bytes = 0;
    if (list_empty(&broker->telling.slow_events)) {
        tell_events(broker, budget);
    }
    if (!list_empty(&broker->telling.slow_events)) {
        tell_both(broker, budget);
    }
}
