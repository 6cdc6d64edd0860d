/* SPDX-License-Identifier: MIT */
#include "tests/push/push_bed.h"

#include "tests/support/broker_check.h"
#include "tests/support/policies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Two readings of the clock are less than this apart, unless the machine stops the test.
#define LONGEST_STEP (10 * NSEC_PER_MSEC)

static bool store_has_space(void *store, const struct record *record)
{
    const struct push_bed *bed = store;

    return !(bed->refused & 1u << record->kind);
}

static uint64_t store_append(void *store, const struct record *record)
{
    struct push_bed *bed = store;

    (void)record;
    return ++bed->appended;
}

static uint64_t store_position(const void *store, const struct job *job)
{
    const struct push_bed *bed = store;

    return job_is_durable(job) && bed->reached < bed->appended ? bed->appended : 0;
}

static void store_info(const void *store, struct store_info *info)
{
    (void)store;
    *info = (struct store_info){0};
}

static const struct recorder recorder = {.has_space = store_has_space,
                                         .append = store_append,
                                         .position = store_position,
                                         .info = store_info};

static nsec_t clock_read(clockid_t clock)
{
    struct timespec now;

    assert_int_equal(clock_gettime(clock, &now), 0);
    return (nsec_t)now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

struct instant bed_now(struct push_bed *bed)
{
    nsec_t now_at = clock_read(CLOCK_MONOTONIC);
    nsec_t passed_for = now_at - bed->read_at;

    if (bed->read_at != 0 && passed_for > LONGEST_STEP && !bed->counts_stalls) {
        bed->stalled_for += passed_for - LONGEST_STEP;
    }
    bed->read_at = now_at;
    return (struct instant){
        .mono = now_at + bed->skew - bed->stalled_for,
        .wall = clock_read(CLOCK_REALTIME) + bed->skew - bed->stalled_for,
    };
}

static void host_tick(void *context)
{
    struct push_bed *bed = context;

    broker_tick(bed->broker, bed_now(bed));
}

static bool host_may_send(void *context)
{
    const struct push_bed *bed = context;

    return !bed->fenced;
}

static uint64_t host_reached(void *context)
{
    return ((const struct push_bed *)context)->reached;
}

static void on_event(void *owner, struct watch *watch, const struct job_event *event)
{
    static const char *const words[] = {
        [JOB_EVENT_PROGRESS] = "progress",   [JOB_EVENT_DATA] = "data",
        [JOB_EVENT_WARNING] = "warning",     [JOB_EVENT_RETRIED] = "retried",
        [JOB_EVENT_COMPLETE] = "complete",   [JOB_EVENT_FAILED] = "failed",
        [JOB_EVENT_EXCEPTION] = "exception", [JOB_EVENT_CANCELLED] = "cancelled"};
    struct push_bed *bed = owner;
    size_t len = strlen(bed->told);

    (void)watch;
    (void)snprintf(bed->told + len, sizeof bed->told - len, "%s%s %u%s%.*s", len > 0 ? "; " : "",
                   words[event->kind], (unsigned)event->job_id, event->data ? " " : "",
                   event->data ? (int)event->data->len : 0, event->data ? event->data->bytes : "");
}

static const struct session_ops watcher_ops = {.job_event = on_event};

int bed_setup(void **state)
{
    struct push_bed *bed = calloc(1, sizeof *bed);
    struct broker_options options = {.recorder = &recorder, .store = bed, .secret = 7};
    struct error_text why = {{0}};

    assert_non_null(bed);
    bed->base = event_base_new();
    bed->broker = broker_new(&options, bed_now(bed));
    bed->reached = UINT64_MAX;
    assert_true(handles_set_prefix(&bed->handles, "H:host.example", ""));
    fake_open(&bed->fake, bed->base);
    (void)snprintf(bed->url, sizeof bed->url, "http://127.0.0.1:%d/hook?key=hidden",
                   bed->fake.port);
    bed->settings = (struct push_settings){
        .name = "q",
        .url = bed->url,
        .secret = "",
        .secret_file = "",
        .ca_file = "",
        .timeout_for = SECONDS(5),
        .max_answer = 1000,
        .connections = 4,
        .may_be_private = true,
    };
    bed->push = push_new(&(struct push_host){.context = bed,
                                             .tick = host_tick,
                                             .reached = host_reached,
                                             .may_send = host_may_send,
                                             .handles = &bed->handles},
                         bed->broker, bed->base, &why);
    assert_non_null(bed->push);
    assert_int_equal(
        broker_session_open(bed->broker, &watcher_ops, bed, CHOICE_OLDEST, &bed->watcher),
        STATUS_OK);
    *state = bed;
    return 0;
}

int bed_teardown(void **state)
{
    struct push_bed *bed = *state;

    push_free(bed->push);
    broker_check(bed->broker);
    broker_session_close(bed->watcher);
    broker_free(bed->broker);
    fake_close(&bed->fake);
    event_base_free(bed->base);
    free(bed);
    return 0;
}

void bed_push_all(struct push_bed *bed, const struct push_settings *settings, size_t count)
{
    struct policy_rule *rules = calloc(count + 1, sizeof *rules);
    struct error_text why = {{0}};
    struct push_plan *plan = push_plan_new(bed->push, settings, count, &why);

    assert_non_null(plan);
    for (size_t i = 0; i < count; i++) {
        rules[i] = (struct policy_rule){.glob = slice_str(settings[i].name), .tell = true};
    }
    assert_int_equal(set_policies(bed->broker, rules, count), STATUS_OK);
    push_adopt(bed->push, plan);
    free(rules);
}

void bed_push(struct push_bed *bed)
{
    bed_push_all(bed, &bed->settings, 1);
}

uint64_t bed_put_job(struct push_bed *bed, struct bed_job job)
{
    const char *queue = job.queue ? job.queue : "q";
    const char *body = job.body ? job.body : "body";
    char *zeros = malloc(job.zeros + 1);
    struct submission submission;
    struct job_spec spec = {
        .pri = PRI_NORMAL,
        .ttr_for = job.ttr_for,
        .durable = !job.fragile,
        .on_fail = job.fragile ? ON_FAIL_DROP : ON_FAIL_BURY,
        .watched = job.watched,
        .body = slice_str(body),
    };

    assert_non_null(zeros);
    if (job.zeros > 0) {
        memset(zeros, '0', job.zeros);
        spec.body = slice_of(zeros, job.zeros);
    }
    broker_tick(bed->broker, bed_now(bed));
    assert_int_equal(
        broker_submit_to(bed->broker, slice_str(queue), &spec, bed->watcher, &submission),
        STATUS_OK);
    free(zeros);
    return submission.id;
}

// As in the loop of the server.
void bed_turn(struct push_bed *bed)
{
    struct timeval soon = {.tv_usec = 2000};
    nsec_t now_at = broker_now(bed->broker).mono;
    bool busy =
        (!bed->fenced && push_due(bed->push) <= now_at) || broker_next_due(bed->broker) <= now_at;

    if (!busy) {
        (void)event_base_loopexit(bed->base, &soon);
    }
    (void)event_base_loop(bed->base, busy ? EVLOOP_NONBLOCK : EVLOOP_ONCE);
    broker_tick(bed->broker, bed_now(bed));
    if (!bed->fenced && push_due(bed->push) <= broker_now(bed->broker).mono) {
        push_work(bed->push);
    }
    (void)broker_settle(bed->broker);
}

void bed_rest(struct push_bed *bed)
{
    nsec_t until = bed_now(bed).mono + 30 * NSEC_PER_MSEC;

    // Time alone does not suffice on a busy machine.
    for (unsigned turns = 0; turns < 30 || bed_now(bed).mono < until; turns++) {
        bed_turn(bed);
    }
}

void bed_advance(struct push_bed *bed, nsec_t by_for)
{
    bed->skew += by_for;
    bed_rest(bed);
}

enum job_state bed_state(const struct push_bed *bed, uint64_t id)
{
    const struct job *job = broker_find(bed->broker, id);
    struct job_info info;

    if (!job) {
        return JOB_GONE;
    }
    broker_job_info(bed->broker, job, &info);
    return info.state;
}

unsigned bed_attempts(const struct push_bed *bed, uint64_t id)
{
    const struct job *job = broker_find(bed->broker, id);
    struct job_info info;

    assert_non_null(job);
    broker_job_info(bed->broker, job, &info);
    return info.attempts;
}

struct introspect_push bed_shown(const struct push_bed *bed, size_t place)
{
    struct introspect_push shown;

    assert_true(push_endpoint_info(bed->push, place, &shown));
    return shown;
}
