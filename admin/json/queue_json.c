/* SPDX-License-Identifier: MIT */
#include "admin/json/queue_json.h"

#include "admin/json/json_values.h"
#include "admin/json/process_json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

//
// Policies and sections
//

typedef bool next_key(void *host, size_t index, size_t key, struct introspect_key *shown);

// Numbers and booleans have their JSON types; other values are text as in the file.
static json_t *setting_value_json(const struct introspect_key *key)
{
    switch (key->option->kind) {
    case OPTION_NUMBER:
    case OPTION_COUNT:
        return json_integer(strtoll(key->value, NULL, 10));
    case OPTION_BOOL:
        return json_boolean(strcmp(key->value, "true") == 0);
    case OPTION_SIZE:
    case OPTION_TEXT:
    case OPTION_CHOICE:
    case OPTION_DURATION:
    case OPTION_RATE:
    case OPTION_SHARE:
        break;
    }
    return text_json(slice_str(key->value));
}

// The keys that differ from their default. Keys of push are left out, because their addresses may
// contain secrets; endpoints have a document of their own.
static json_t *settings_json(const struct introspect *introspect, next_key *next, size_t index)
{
    json_t *object = json_object();
    struct introspect_key key;

    for (size_t i = 0; object && next(introspect->host, index, i, &key); i++) {
        if (!key.is_default && !key.option->file_only) {
            json_member_add(&object, key.option->name, setting_value_json(&key));
        }
    }
    return object;
}

json_t *section_json(const struct introspect *introspect, size_t index,
                     const struct introspect_section *section)
{
    return json_pack("{s:s, s:o, s:o, s:o}", "kind", section->kind, "name",
                     text_json(slice_str(section->name)), "origin",
                     text_json(slice_str(section->origin)), "settings",
                     settings_json(introspect, introspect->policies->section_key, index));
}

json_t *policy_json(const struct introspect *introspect, size_t index,
                    const struct introspect_policy *policy)
{
    const struct slice glob = slice_str(policy->glob);

    return json_pack(
        "{s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "glob", text_json(glob), "path", path_json(glob),
        "origin", text_json(slice_str(policy->origin)), "run_time", (int)policy->is_run_time,
        "position", policy->is_run_time ? json_integer(json_int_of(policy->position)) : json_null(),
        "why_not", policy->why_not ? text_json(slice_str(policy->why_not)) : json_null(),
        "settings", settings_json(introspect, introspect->policies->key, index));
}

static json_t *queue_policy_json(const struct introspect *introspect,
                                 const struct policy_rule *rule)
{
    struct introspect_policy policy;

    for (size_t i = 0; introspect && rule && introspect->policies->at(introspect->host, i, &policy);
         i++) {
        if (!policy.why_not && slice_equal(slice_str(policy.glob), rule->glob)) {
            return policy_json(introspect, i, &policy);
        }
    }
    return json_null();
}

//
// Queues
//

static json_t *closed_json(unsigned closed)
{
    json_t *reasons = json_array();

    for (unsigned i = 0; reasons && i < CLOSED_REASONS; i++) {
        if (closed >> i & 1) {
            json_list_add(&reasons, json_string(closed_reason_text(i)));
        }
    }
    return reasons;
}

json_t *queue_json(const struct broker *broker, const struct queue *queue)
{
    struct slice name = queue_name(queue);
    uint64_t limits[BAND_COUNT];
    struct queue_info info;
    struct counts counts;
    nsec_t age_for;
    bool has_ready = queue_oldest_ready(broker, queue, &age_for);

    queue_counts(queue, &counts);
    broker_queue_info(broker, queue, &info);
    for (size_t band = 0; band < BAND_COUNT; band++) {
        limits[band] = info.limits[band];
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:o, s:o, s:o, s:I, s:b, s:o}", "name",
        text_json(name), "path", path_json(name), "jobs", jobs_json(info.jobs), "bands",
        bands_json(info.ready), "totals", totals_json(&counts), "oldest_ready_seconds",
        has_ready ? seconds_json(age_for) : json_null(), "workers", json_int_of(info.subscriptions),
        "waiting", json_int_of(info.waiting), "paused", info.pause_remaining_for > 0,
        "pause_left_seconds", seconds_json(info.pause_remaining_for), "closed",
        closed_json(info.closed), "rate_left_seconds", seconds_json(info.rate_remaining_for),
        "bytes", json_int_of(info.bytes), "kept", (int)info.kept, "limits", bands_json(limits));
}

static json_t *spans_json(const struct histogram *spans)
{
    json_t *buckets = json_array();
    uint64_t count = 0;

    for (size_t i = 0; buckets && i <= HISTOGRAM_BOUNDS; i++) {
        count += spans->in[i];
        if (spans->in[i] > 0) {
            json_list_add(
                &buckets,
                json_pack("{s:o, s:I}", "le_seconds",
                          i < HISTOGRAM_BOUNDS ? seconds_json(histogram_bound(i)) : json_null(),
                          "count", json_int_of(spans->in[i])));
        }
    }
    return json_pack("{s:I, s:o, s:o}", "count", json_int_of(count), "sum_seconds",
                     json_real((double)spans->sum_us / 1e6), "buckets", buckets);
}

json_t *queue_detail_json(const struct broker *broker, const struct introspect *introspect,
                          const struct queue *queue)
{
    const struct queue_times *times = queue_times(queue);

    return json_merge(queue_json(broker, queue),
                      json_pack("{s:o, s:o, s:o, s:o}", "wait",
                                times ? spans_json(&times->wait) : json_null(), "run",
                                times ? spans_json(&times->run) : json_null(), "push",
                                queue_endpoint_json(introspect, queue), "policy",
                                queue_policy_json(introspect, queue_policy(queue))));
}
