/* SPDX-License-Identifier: MIT */
#include "core/tell.h"

#include "core/charge.h"
#include "core/watch.h"
#include "core/session_private.h"

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

// Tells of the first event, and of the next ones until others have older ones, as far as the budget
// goes. False where the interest, which has told of the end, is gone.
static bool tell_events(struct interest *interest, unsigned *budget)
{
    do {
        struct queued_event *event =
            list_item(list_first(&interest->events), struct queued_event, in_interest);

        // Everybody may have left who was there when it happened.
        *budget -= interest_listeners(interest) == 0;
        if (!tell_watches(event, budget)) {
            return true;
        }
        if (event == &interest->final) {
            interest_free(interest);
            return false;
        }
        queued_event_done(event);
    } while (*budget > 0 && interest->untold > 0 && queued_event_is_next(interest));
    return true;
}

// What bytes cost beyond the interest's turn is taken off what is left for all.
static void tell_in_turn(struct broker *broker, struct interest *interest, unsigned *budget)
{
    unsigned turn = *budget < TELLINGS_AT_ONCE ? *budget : TELLINGS_AT_ONCE;
    unsigned left = turn;

    if (tell_events(interest, &left)) {
        queued_event_pass_on(interest, left == 0);
    }
    *budget -= turn - left;
    charge_pay_bytes(broker, budget);
}

void interest_tell_all(struct broker *broker, unsigned *budget)
{
    broker->charge.bytes = 0;
    while (*budget > 0 && !list_empty(&broker->telling.interests)) {
        tell_in_turn(broker,
                     list_item(list_first(&broker->telling.interests), struct interest, in_broker),
                     budget);
    }
}
