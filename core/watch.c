/* SPDX-License-Identifier: MIT */
#include "core/watch.h"

#include "core/broker_private.h"
#include "core/job_private.h"
#include "core/session_private.h"

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

static struct watch *add(struct session *session, struct job *job, bool follows)
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

struct watch *watch_add(struct session *session, struct job *job)
{
    return add(session, job, false);
}

struct watch *watch_follow(struct session *session, struct job *job)
{
    return add(session, job, true);
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

static void set_progress(struct interest *interest, const struct job_event *event)
{
    interest->has_progress = true;
    interest->numerator = event->numerator;
    interest->denominator = event->denominator;
    blob_unref(interest->progress_text);
    interest->progress_text = event->data ? blob_ref(event->data) : NULL;
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
        set_progress(interest, event);
    }
    return STATUS_OK;
}

void watch_set_owner(struct watch *watch, void *owner)
{
    watch->owner = owner;
}

void *watch_owner(const struct watch *watch)
{
    return watch->owner;
}
