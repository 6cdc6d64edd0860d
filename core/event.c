/* SPDX-License-Identifier: MIT */
#include "core/event.h"

#include "core/broker_private.h"
#include "core/job.h"

#include <stdlib.h>

void news_init(struct interest *interest, struct news *event)
{
    event->interest = interest;
    list_init(&event->in_interest);
    list_init(&event->in_broker);
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
void event_queue_aside(struct interest *interest)
{
    struct news *first = first_event(interest);

    set_aside(interest, first != NULL);
    if (first) {
        list_remove(&first->in_broker);
        list_append(&interest->broker->long_news, &first->in_broker);
    }
}

void queued_event_add(struct news *event)
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
        event_queue_aside(interest);
    }
}

static bool is_embedded(const struct news *event)
{
    const struct interest *interest = event->interest;

    return event == &interest->greeting || event == &interest->retried || event == &interest->final;
}

// The event has been told to all.
void queued_event_done(struct news *event)
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

struct news *queued_event_new(struct interest *interest, const struct job_event *what)
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
