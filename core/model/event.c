/* SPDX-License-Identifier: MIT */
#include "core/model/event.h"

#include "core/model/broker_private.h"
#include "core/model/job.h"

#include <stdlib.h>

void queued_event_init(struct interest *interest, struct queued_event *event)
{
    event->interest = interest;
    list_init(&event->in_interest);
    list_init(&event->in_broker);
}

static struct queued_event *first_event(const struct interest *interest)
{
    struct list_node *node = list_first(&interest->events);

    return node ? list_item(node, struct queued_event, in_interest) : NULL;
}

static void set_slow(struct interest *interest, bool slow)
{
    uint64_t *untold = interest->broker->telling.untold;

    untold[interest->slow] -= interest->untold;
    untold[slow] += interest->untold;
    interest->slow = slow;
}

void queued_event_requeue_slow(struct interest *interest)
{
    struct queued_event *first = first_event(interest);

    set_slow(interest, first != NULL);
    if (first) {
        list_remove(&first->in_broker);
        list_append(&interest->broker->telling.slow_events, &first->in_broker);
    }
}

void queued_event_add(struct queued_event *event)
{
    struct interest *interest = event->interest;
    struct broker *broker = interest->broker;
    bool first = first_event(interest) == event;

    event->number = ++broker->telling.last_event;
    event->what.job_id = interest->job->id;
    if (first) {
        // If it was being told, it will be told anew from the first watch on.
        interest->next = NULL;
    }
    if (!list_linked(&event->in_interest)) {
        interest->untold++;
        broker->telling.untold[interest->slow]++;
    }
    list_remove(&event->in_interest);
    list_append(&interest->events, &event->in_interest);
    list_remove(&event->in_broker);
    if (!interest->slow) {
        list_append(&broker->telling.events, &event->in_broker);
    } else if (first) {
        queued_event_requeue_slow(interest);
    }
}

static bool is_embedded(const struct queued_event *event)
{
    const struct interest *interest = event->interest;

    return event == &interest->catch_up || event == &interest->retried || event == &interest->final;
}

// The event has been told to all.
void queued_event_done(struct queued_event *event)
{
    struct interest *interest = event->interest;

    interest->untold--;
    interest->broker->telling.untold[interest->slow]--;
    list_remove(&event->in_interest);
    list_remove(&event->in_broker);
    blob_unref(event->what.data);
    event->what.data = NULL;
    if (!is_embedded(event)) {
        free(event);
    }
}

struct queued_event *queued_event_new(struct interest *interest, const struct job_event *what)
{
    struct queued_event *event = calloc(1, sizeof *event);

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
