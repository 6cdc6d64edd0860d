/* SPDX-License-Identifier: MIT */
#include "admin/policy_acts.h"

#include "core/broker.h"

#include "admin/change.h"
#include "admin/context.h"
#include "admin/input.h"
#include "admin/reply.h"
#include "admin/shown_section.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// More keys than a section has.
#define KEYS_MOST 100
// The longest number, as it would stand in the file.
#define NUMBER_ROOM 32
#define POSITION "position"
#define POSITION_MOST 1000000000

// A policy that a request names, and what it is to say.
struct wanted {
    struct input input;
    char glob[QUEUE_NAME_MAX + 1];
    struct sight_new_policy policy;
    struct sight_said said[KEYS_MOST];
    char numbers[KEYS_MOST][NUMBER_ROOM];
};

// Notes where the caller may not, or where there is no process that has policies.
static void check(struct input *input)
{
    if (!session_may_everywhere(input->conn->session, MAY_ADMINISTER)) {
        input_blame(input, 403, "%s", status_text(STATUS_FORBIDDEN));
    } else if (!admin_shared(input->conn)->sight) {
        input_blame(input, 503, "this process cannot do that");
    }
}

static void read_glob(struct input *input, char glob[QUEUE_NAME_MAX + 1], struct slice *into)
{
    size_t len = 0;

    check(input);
    (void)input_path_text(input, 0, glob, QUEUE_NAME_MAX + 1, &len);
    *into = slice_of(glob, len);
}

// The value as it would stand in the file; NULL, which is noted, where it cannot.
static const char *value_text(struct input *input, const char *key, const json_t *value,
                              char room[NUMBER_ROOM])
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        if (strlen(json_string_value(value)) == json_string_length(value)) {
            return json_string_value(value);
        }
        break;
    case JSON_INTEGER:
        (void)snprintf(room, NUMBER_ROOM, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return room;
    case JSON_REAL:
        (void)snprintf(room, NUMBER_ROOM, "%.15g", json_real_value(value));
        return room;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
    case JSON_OBJECT:
    case JSON_ARRAY:
        break;
    }
    input_blame(input, 400, "%.60s is not a string, a number, true or false", key);
    return NULL;
}

static void read_keys(struct wanted *wanted)
{
    struct sight_new_policy *policy = &wanted->policy;
    const char *key;
    json_t *value;

    policy->has_position = input_number(&wanted->input, POSITION, POSITION_MOST, &policy->position);
    policy->said = wanted->said;
    json_object_foreach(wanted->input.body, key, value)
    {
        struct sight_said *said = &wanted->said[policy->count];

        if (!input_good(&wanted->input) || strcmp(key, POSITION) == 0) {
            continue;
        }
        if (policy->count == KEYS_MOST) {
            input_blame(&wanted->input, 400, "%.60s is not a known key", key);
            return;
        }
        said->key = key;
        said->value = value_text(&wanted->input, key, value, wanted->numbers[policy->count]);
        policy->count++;
    }
}

// What was made of it.
static enum http1_next show(struct http1_conn *conn, const struct sight *sight, struct slice glob)
{
    struct sight_policy policy;

    change_hold(conn);
    for (size_t i = 0; sight->policies->at(sight->host, i, &policy) && policy.is_run_time; i++) {
        if (slice_equal(slice_str(policy.glob), glob)) {
            return admin_reply_json(conn, 200, shown_policy(sight, i, &policy));
        }
    }
    return admin_reply_nothing(conn);
}

static enum http1_next set(struct http1_conn *conn, const struct wanted *wanted)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct error_text why = {""};
    enum status status = sight->policies->set(sight->host, &wanted->policy, &why);

    if (status == STATUS_OK) {
        return show(conn, sight, wanted->policy.glob);
    }
    if (status == STATUS_BAD_NAME || status == STATUS_TOO_LARGE) {
        return admin_refuse_shown(conn, status == STATUS_BAD_NAME ? 400 : 409, why.text);
    }
    return admin_refuse_status(conn, status);
}

static enum http1_next answer_put(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct wanted wanted;
    enum http1_next next;

    (void)blob;
    memset(&wanted, 0, sizeof wanted);
    input_begin(&wanted.input, conn, body, false);
    read_glob(&wanted.input, wanted.glob, &wanted.policy.glob);
    read_keys(&wanted);
    next = input_good(&wanted.input) ? set(conn, &wanted) : input_refuse(&wanted.input);
    input_end(&wanted.input);
    return next;
}

static enum http1_next answer_delete(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const none[] = {NULL};
    const struct sight *sight = admin_shared(conn)->sight;
    char text[QUEUE_NAME_MAX + 1];
    struct slice glob;
    struct input input;
    enum status status;

    (void)body;
    (void)blob;
    input_begin_query(&input, conn);
    input_parameters(&input, none);
    read_glob(&input, text, &glob);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    status = sight->policies->drop(sight->host, glob);
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    change_hold(conn);
    return admin_reply_nothing(conn);
}

const struct admin_route policy_act_routes[] = {
    {.path = "/api/v1/policies/{glob}",
     .method = HTTP1_PUT,
     .right = MAY_ADMINISTER,
     .takes_body = true,
     .answer = answer_put},
    {.path = "/api/v1/policies/{glob}",
     .method = HTTP1_DELETE,
     .right = MAY_ADMINISTER,
     .answer = answer_delete},
    {.path = NULL},
};
