/* SPDX-License-Identifier: MIT */
#include "core/broker.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/api/list_reply.h"
#include "admin/json/queue_json.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

//
// Reading. A policy is not of one queue, so it requires the right to observe every queue.
//

static void begin_policy_query(struct input *input, struct http1_conn *conn)
{
    input_begin_plain(input, conn);
    if (!session_may_everywhere(conn->session, MAY_OBSERVE)) {
        input_blame_forbidden(input);
    }
}

static bool policy_list_item(const struct http1_conn *conn, size_t index, json_t **item)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct introspect_policy policy;

    if (!introspect || !introspect->policies->at(introspect->host, index, &policy)) {
        return false;
    }
    *item = policy_json(introspect, index, &policy);
    return true;
}

static enum http1_next answer_policy_list(struct http1_conn *conn, struct slice body,
                                          struct blob *blob)
{
    struct input input;

    (void)body;
    (void)blob;
    begin_policy_query(&input, conn);
    return input_good(&input) ? list_reply(conn, "{\"policies\":[", policy_list_item, "]}")
                              : input_refuse(&input);
}

static enum http1_next answer_policy(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    char glob[QUEUE_NAME_MAX + 1];
    struct introspect_policy policy;
    struct input input;
    size_t len = 0;

    (void)body;
    (void)blob;
    begin_policy_query(&input, conn);
    (void)input_path_text(&input, 0, glob, sizeof glob, &len);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    for (size_t i = 0; introspect && introspect->policies->at(introspect->host, i, &policy); i++) {
        if (slice_equal(slice_str(policy.glob), slice_of(glob, len))) {
            return admin_reply_json(conn, 200, policy_json(introspect, i, &policy));
        }
    }
    return admin_refuse_status(conn, STATUS_NOT_FOUND);
}

//
// Changing
//

// More keys than a section has.
#define KEYS_MOST 100
// Room for a number as in the configuration file.
#define NUMBER_ROOM 32
#define POSITION_KEY "position"
#define POSITION_MOST 1000000000

// A policy from a request.
struct policy_request {
    struct input input;
    char glob[QUEUE_NAME_MAX + 1];
    struct introspect_new_policy policy;
    struct introspect_assignment assignments[KEYS_MOST];
    char numbers[KEYS_MOST][NUMBER_ROOM];
};

// Checks that the caller may change policies and that the process can, and reads the glob.
static void read_policy_glob(struct input *input, char glob[QUEUE_NAME_MAX + 1], struct slice *into)
{
    size_t len = 0;

    if (!session_may_everywhere(input->conn->session, MAY_ADMINISTER)) {
        input_blame_forbidden(input);
    } else if (!admin_shared(input->conn)->introspect) {
        input_blame(input, 503, "this process cannot be changed by the API");
    }
    (void)input_path_text(input, 0, glob, QUEUE_NAME_MAX + 1, &len);
    *into = slice_of(glob, len);
}

// The value as in the configuration file; NULL, which is noted, if it has another type.
static const char *policy_setting_text(struct input *input, const char *key, const json_t *value,
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

static void read_policy_keys(struct policy_request *request)
{
    struct introspect_new_policy *policy = &request->policy;
    const char *key;
    json_t *value;

    policy->has_position =
        input_number(&request->input, POSITION_KEY, POSITION_MOST, &policy->position);
    policy->assignments = request->assignments;
    json_object_foreach(request->input.json.object, key, value)
    {
        struct introspect_assignment *assignment = &request->assignments[policy->count];

        if (!input_good(&request->input) || strcmp(key, POSITION_KEY) == 0) {
            continue;
        }
        if (policy->count == KEYS_MOST) {
            input_blame(&request->input, 400, "%.60s is not a known key", key);
            return;
        }
        assignment->key = key;
        assignment->value =
            policy_setting_text(&request->input, key, value, request->numbers[policy->count]);
        policy->count++;
    }
}

// Answers a change with the policy, which is among the first ones, those made at run time.
static enum http1_next reply_changed_policy(struct http1_conn *conn, struct slice glob)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct introspect_policy policy;

    admin_hold_change(conn);
    for (size_t i = 0; introspect->policies->at(introspect->host, i, &policy) && policy.is_run_time;
         i++) {
        if (slice_equal(slice_str(policy.glob), glob)) {
            return admin_reply_json(conn, 200, policy_json(introspect, i, &policy));
        }
    }
    return admin_reply_nothing(conn);
}

// Makes the policy, or changes it.
static enum http1_next set_policy(struct http1_conn *conn,
                                  const struct introspect_new_policy *policy)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct error_text why = {""};
    enum status status = introspect->policies->set(introspect->host, policy, &why);

    if (status == STATUS_OK) {
        return reply_changed_policy(conn, policy->glob);
    }
    if (status == STATUS_BAD_NAME || status == STATUS_TOO_LARGE) {
        return admin_refuse_text(conn, status == STATUS_BAD_NAME ? 400 : 409, why.text);
    }
    return admin_refuse_status(conn, status);
}

static enum http1_next answer_policy_put(struct http1_conn *conn, struct slice body,
                                         struct blob *blob)
{
    struct policy_request request;
    enum http1_next next;

    (void)blob;
    memset(&request, 0, sizeof request);
    input_begin(&request.input, conn, body, false);
    read_policy_glob(&request.input, request.glob, &request.policy.glob);
    read_policy_keys(&request);
    next = input_good(&request.input) ? set_policy(conn, &request.policy)
                                      : input_refuse(&request.input);
    input_end(&request.input);
    return next;
}

static enum http1_next answer_policy_delete(struct http1_conn *conn, struct slice body,
                                            struct blob *blob)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    char text[QUEUE_NAME_MAX + 1];
    struct slice glob;
    struct input input;
    enum status status;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    read_policy_glob(&input, text, &glob);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    status = introspect->policies->drop(introspect->host, glob);
    if (status != STATUS_OK) {
        return admin_refuse_status(conn, status);
    }
    admin_hold_change(conn);
    return admin_reply_nothing(conn);
}

const struct admin_route policy_routes[] = {
    {.path = "/api/v1/policies",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_policy_list},
    {.path = "/api/v1/policies/{glob}",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_policy},
    {.path = "/api/v1/policies/{glob}",
     .method = HTTP1_PUT,
     .right = MAY_ADMINISTER,
     .takes_body = true,
     .answer = answer_policy_put},
    {.path = "/api/v1/policies/{glob}",
     .method = HTTP1_DELETE,
     .right = MAY_ADMINISTER,
     .answer = answer_policy_delete},
    {.path = NULL},
};
