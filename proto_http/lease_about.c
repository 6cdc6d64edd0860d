/* SPDX-License-Identifier: MIT */
#include "proto_http/lease_about.h"

#include "proto_common/field_name.h"
#include "core/base/digits.h"

#include <stdio.h>
#include <string.h>

struct about {
    struct job_info info;
    uint64_t attempt;
    int64_t deadline_ms; // Unix time
    size_t handle_len;
    char handle[HANDLE_MAX];
    char token[LEASE_TOKEN_TEXT];
};

static int64_t deadline_of(const struct broker *broker, const struct job_info *info)
{
    return nsec_add(broker_now(broker).wall, info->remaining_for) / NSEC_PER_MSEC;
}

static void look(const struct web_shared *shared, const struct web_lease *lease,
                 struct about *about)
{
    const struct broker *broker = shared->http1.broker;

    broker_job_info(broker, broker_find(broker, lease->job_id), &about->info);
    about->attempt = (uint64_t)about->info.attempts + 1;
    about->deadline_ms = deadline_of(broker, &about->info);
    about->handle_len =
        (size_t)(handle_write(&shared->handles, lease->job_id, about->handle) - about->handle);
    lease_token_write(&lease->token, about->token);
}

static char *put(char *to, struct slice text)
{
    memcpy(to, text.ptr, text.len);
    return to + text.len;
}

static char *put_name(char *to, struct slice header, struct slice name)
{
    return put(field_name_write(name, put(to, header)), SLICE("\r\n"));
}

static char *put_number(char *to, struct slice header, uint64_t number)
{
    return put(digits_write(put(to, header), number), SLICE("\r\n"));
}

size_t lease_headers_write(const struct web_shared *shared, const struct web_lease *lease, char *to)
{
    struct about about;
    char *at = to;

    look(shared, lease, &about);
    at = put(at, SLICE("X-Gearman-Job-Handle: "));
    at = put(put(at, slice_of(about.handle, about.handle_len)), SLICE("\r\n"));
    if (about.info.key_kind == KEY_NAME) {
        at = put_name(at, SLICE("X-Gearman-Unique: "), about.info.key);
    }
    at = put_name(at, SLICE("X-Tandem-Queue: "), queue_name(about.info.queue));
    at = put_number(at, SLICE("X-Tandem-Attempt: "), about.attempt);
    at = put_number(at, SLICE("X-Tandem-Deadline: "), (uint64_t)about.deadline_ms);
    at = put(at, SLICE("X-Tandem-Lease: "));
    at = put(put(at, slice_of(about.token, sizeof about.token)), SLICE("\r\n"));
    return (size_t)(at - to);
}

void lease_deadline_write(const struct web_shared *shared, const struct web_lease *lease, char *to)
{
    const struct broker *broker = shared->http1.broker;
    struct job_info info;

    broker_job_info(broker, broker_find(broker, lease->job_id), &info);
    (void)snprintf(to, LEASE_DEADLINE_ROOM, "X-Tandem-Deadline: %lld\r\n",
                   (long long)deadline_of(broker, &info));
}

json_t *lease_describe(const struct web_shared *shared, const struct web_lease *lease)
{
    struct about about;
    json_t *object;

    look(shared, lease, &about);
    object = json_pack("{s:s%, s:s%, s:o, s:I, s:I}", "lease", about.token, sizeof about.token,
                       "handle", about.handle, about.handle_len, "queue",
                       web_name_json(queue_name(about.info.queue)), "attempt",
                       (json_int_t)about.attempt, "deadline", (json_int_t)about.deadline_ms);
    if (object && about.info.key_kind == KEY_NAME &&
        json_object_set_new(object, "unique", web_name_json(about.info.key)) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}
