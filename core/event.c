/* SPDX-License-Identifier: MIT */
#include "core/watch.h"

#include "core/broker_private.h"
#include "core/job_private.h"

#include <stdint.h>

// For its place by age, an interest is compared with so many others.
#define LOOKED_BACK 8

void queued_event_init(struct interest *interest, struct queued_event *event)
{
    event->interest = interest;
    list_init(&event->in_interest);
}

static struct queued_event *first_event(const struct interest *interest)
{
    struct list_node *node = list_first(&interest->events);

    return node ? list_item(node, struct queued_event, in_interest) : NULL;
}

static bool tells_older(const struct list_node *node, const struct interest *interest)
{
    const struct interest *other =
        list_item((struct list_node *)(uintptr_t)node, struct interest, in_broker);

    return first_event(other)->number < first_event(interest)->number;
}

bool queued_event_is_next(const struct interest *interest)
{
    const struct list_node *next = interest->in_broker.next;

    return next == &interest->broker->telling.interests || !tells_older(next, interest);
}

void queued_event_pass_on(struct interest *interest, bool spent)
{
    struct list_node *end = &interest->broker->telling.interests;
    struct list_node *place = end;

    if (interest->untold == 0) {
        return;
    }
    list_remove(&interest->in_broker);
    for (int i = 0; !spent && i < LOOKED_BACK && place->prev != end; i++) {
        if (tells_older(place->prev, interest)) {
            break;
        }
        place = place->prev;
    }
    list_insert_before(place, &interest->in_broker);
}

void queued_event_add(struct queued_event *event)
{
    struct interest *interest = event->interest;
    struct broker *broker = interest->broker;

    event->number = ++broker->telling.last_event;
    event->what.job_id = interest->job->id;
    if (first_event(interest) == event) {
        // If it was being told, it will be told anew from the first watch on.
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
    interest->broker->telling.untold--;
    list_remove(&event->in_interest);
    if (interest->untold == 0) {
        list_remove(&interest->in_broker);
    }
    blob_unref(event->what.data);
    event->what.data = NULL;
    if (!is_embedded(event)) {
        slab_free(&interest->broker->slab, event, sizeof *event);
    }
}

struct queued_event *queued_event_new(struct interest *interest, const struct job_event *what)
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
