/* SPDX-License-Identifier: MIT */
#include "admin/shown_queue.h"

#include "admin/shown.h"
#include "admin/shown_counts.h"
#include "admin/shown_push.h"
#include "admin/shown_section.h"

static json_t *shown_limits(const uint32_t limits[BAND_COUNT])
{
    return json_pack("{s:I, s:I, s:I}", "high", shown_number(limits[BAND_HIGH]), "normal",
                     shown_number(limits[BAND_NORMAL]), "low", shown_number(limits[BAND_LOW]));
}

static json_t *shown_closed(unsigned closed)
{
    json_t *reasons = json_array();

    for (unsigned i = 0; reasons && i < CLOSED_REASONS; i++) {
        if ((closed >> i & 1) &&
            json_array_append_new(reasons, json_string(closed_reason_text(i))) != 0) {
            json_decref(reasons);
            reasons = NULL;
        }
    }
    return reasons;
}

static json_t *shown_oldest(const struct broker *broker, const struct queue *queue)
{
    nsec_t age_for;

    return queue_oldest_ready(broker, queue, &age_for) ? shown_seconds(age_for) : json_null();
}

json_t *shown_queue(const struct broker *broker, const struct queue *queue)
{
    struct queue_info info;
    struct counts counts;

    queue_counts(queue, &counts);
    broker_queue_info(broker, queue, &info);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:o, s:o, s:o, s:I, s:b, s:o}",
                     "name", shown_text(queue_name(queue)), "path", shown_path(queue_name(queue)),
                     "jobs", shown_jobs(info.jobs), "bands", shown_bands(info.ready), "totals",
                     shown_totals(&counts), "oldest_ready_seconds", shown_oldest(broker, queue),
                     "workers", shown_number(info.subscriptions), "waiting",
                     shown_number(info.waiting), "paused", info.pause_remaining_for > 0,
                     "pause_left_seconds", shown_seconds(info.pause_remaining_for), "closed",
                     shown_closed(info.closed), "rate_left_seconds",
                     shown_seconds(info.rate_remaining_for), "bytes", shown_number(info.bytes),
                     "kept", (int)info.kept, "limits", shown_limits(info.limits));
}

static json_t *shown_bucket(const struct histogram *spans, size_t bucket)
{
    return json_pack("{s:o, s:I}", "le_seconds",
                     bucket < HISTOGRAM_BOUNDS ? shown_seconds(histogram_bound(bucket))
                                               : json_null(),
                     "count", shown_number(spans->in[bucket]));
}

static json_t *shown_spans(const struct histogram *spans)
{
    json_t *buckets = json_array();
    uint64_t count = 0;

    for (size_t i = 0; buckets && i <= HISTOGRAM_BOUNDS; i++) {
        count += spans->in[i];
        if (spans->in[i] > 0 && json_array_append_new(buckets, shown_bucket(spans, i)) != 0) {
            json_decref(buckets);
            buckets = NULL;
        }
    }
    return json_pack("{s:I, s:o, s:o}", "count", shown_number(count), "sum_seconds",
                     json_real((double)spans->sum_us / 1e6), "buckets", buckets);
}

json_t *shown_queue_detail(const struct broker *broker, const struct sight *sight,
                           const struct queue *queue)
{
    const struct queue_times *times = queue_times(queue);
    json_t *shown = shown_queue(broker, queue);

    if (!shown ||
        json_object_set_new(shown, "wait", times ? shown_spans(&times->wait) : json_null()) != 0 ||
        json_object_set_new(shown, "run", times ? shown_spans(&times->run) : json_null()) != 0 ||
        json_object_set_new(shown, "push", shown_endpoint_of(sight, queue)) != 0 ||
        json_object_set_new(shown, "policy", shown_policy_of(sight, queue_policy(queue))) != 0) {
        json_decref(shown);
        return NULL;
    }
    return shown;
}
