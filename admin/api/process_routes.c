/* SPDX-License-Identifier: MIT */
#include "core/base/digits.h"
#include "core/broker.h"
#include "proto_common/introspect_queues.h"
#include "proto_common/wire.h"

#include "admin/api/api_input.h"
#include "admin/api/api_routes.h"
#include "admin/api/list_reply.h"
#include "admin/json/json_values.h"
#include "admin/json/process_json.h"
#include "admin/json/queue_json.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <stdlib.h>
#include <string.h>

//
// Reading
//

static enum http1_next answer_process(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct input input;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    return input_good(&input) ? admin_reply_json(conn, 200, process_json(conn))
                              : input_refuse(&input);
}

static enum http1_next answer_journal(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct input input;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    return input_good(&input) ? admin_reply_json(conn, 200, journal_json(conn))
                              : input_refuse(&input);
}

static enum http1_next answer_cluster(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct input input;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    return input_good(&input) ? admin_reply_json(conn, 200, cluster_json(conn))
                              : input_refuse(&input);
}

// Begins a request without parameters that requires the right to observe every queue.
static void begin_process_query(struct input *input, struct http1_conn *conn)
{
    input_begin_plain(input, conn);
    if (!session_may_everywhere(conn->session, MAY_OBSERVE)) {
        input_blame_forbidden(input);
    }
}

static enum http1_next answer_push(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct input input;

    (void)body;
    (void)blob;
    begin_process_query(&input, conn);
    return input_good(&input)
               ? admin_reply_json(conn, 200,
                                  json_pack("{s:o}", "endpoints",
                                            endpoints_json(admin_shared(conn)->introspect)))
               : input_refuse(&input);
}

static json_t *process_settings_json(const struct introspect *introspect)
{
    json_t *list = json_array();
    struct introspect_setting setting;

    for (size_t i = 0; list && introspect && introspect->setting(introspect->host, i, &setting);
         i++) {
        json_list_add(&list,
                      json_pack("{s:s, s:s, s:o, s:o, s:b, s:s}", "section", setting.section, "key",
                                setting.key, "value", text_json(slice_str(setting.value)),
                                "default", text_json(slice_str(setting.default_value)), "live",
                                (int)setting.live, "effect", setting.effect ? setting.effect : ""));
    }
    return list;
}

static bool section_list_item(const struct http1_conn *conn, size_t index, json_t **item)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct introspect_section section;

    if (!introspect || !introspect->policies->section(introspect->host, index, &section)) {
        return false;
    }
    *item = section_json(introspect, index, &section);
    return true;
}

// The sections, of which there may be many, are the last member of the document, which is made in
// slices.
static enum http1_next answer_config(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char member[] = ",\"sections\":[";
    const struct introspect *introspect = admin_shared(conn)->introspect;
    const char *file = introspect ? introspect->config_file(introspect->host) : NULL;
    struct input input;
    enum http1_next next;
    json_t *document;
    char *text, *before;
    size_t len;

    (void)body;
    (void)blob;
    begin_process_query(&input, conn);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    document = json_pack("{s:o, s:o}", "file", file ? text_json(slice_str(file)) : json_null(),
                         "settings", process_settings_json(introspect));
    text = admin_dump(document);
    json_decref(document);
    len = text ? strlen(text) : 0;
    before = text ? realloc(text, len + sizeof member) : NULL;
    if (!before) {
        free(text);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    // Replaces the closing brace.
    memcpy(before + len - 1, member, sizeof member);
    next = list_reply(conn, before, section_list_item, "]}");
    free(before);
    return next;
}

//
// Changing. Each change requires the right to administer all queues, unless it says otherwise.
//

// Checks the right, and that the process can be changed.
static void check_administrator(struct input *input)
{
    if (!session_may_everywhere(input->conn->session, MAY_ADMINISTER)) {
        input_blame_forbidden(input);
    } else if (!admin_shared(input->conn)->introspect) {
        input_blame(input, 503, "this process cannot be changed by the API");
    }
}

static enum http1_next answer_drain(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const char *const members[] = {"draining", NULL};
    const struct introspect *introspect = admin_shared(conn)->introspect;
    enum http1_next next;
    struct input input;
    bool draining = false;

    (void)blob;
    input_begin(&input, conn, body, false);
    check_administrator(&input);
    input_members(&input, members);
    if (!input_flag(&input, "draining", &draining)) {
        input_blame(&input, 400, "draining is missing");
    }
    if (input_good(&input)) {
        introspect->drain(introspect->host, draining);
        next = admin_reply_json(conn, 200, json_pack("{s:b}", "draining", (int)draining));
    } else {
        next = input_refuse(&input);
    }
    input_end(&input);
    return next;
}

static enum http1_next answer_reload(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct input input;
    struct error_text why = {""};

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    check_administrator(&input);
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    if (introspect->reload(introspect->host, &why)) {
        return admin_reply_json(conn, 200, json_pack("{s:b}", "reloaded", 1));
    }
    return admin_reply_json(
        conn, 200, json_pack("{s:b,s:o}", "reloaded", 0, "why", text_json(slice_str(why.text))));
}

// Whether the text may be an address as in the log, perhaps with a scope, which is a name.
static bool may_be_address(struct slice text)
{
    bool divided = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        divided = divided || c == '.' || c == ':';
        if (c <= ' ' || c > '~') {
            return false;
        }
    }
    return divided;
}

// The text must be the number of a connection, an address, or empty.
static void check_logged_client(struct input *input, struct slice text)
{
    const struct introspect *introspect = admin_shared(input->conn)->introspect;
    struct introspect_connection connection;
    uint64_t number;

    if (!input_good(input) || text.len == 0) {
        return;
    }
    if (text.len < WIRE_PEER_MAX && digits_read(text, &number)) {
        if (!introspect->connection(introspect->host, number, &connection)) {
            input_blame(input, 404, "the connection does not exist");
        }
    } else if (text.len >= WIRE_PEER_MAX || !may_be_address(text)) {
        input_blame(input, 400, "log_commands must be an address or the number of a connection");
    }
}

static enum http1_next answer_log_commands(struct http1_conn *conn, struct slice body,
                                           struct blob *blob)
{
    static const char *const members[] = {"log_commands", NULL};
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct slice client = SLICE("");
    char text[WIRE_PEER_MAX];
    enum http1_next next;
    struct input input;

    (void)blob;
    input_begin(&input, conn, body, false);
    check_administrator(&input);
    input_members(&input, members);
    if (!input_text(&input, "log_commands", &client)) {
        input_blame(&input, 400, "log_commands is missing");
    }
    check_logged_client(&input, client);
    if (!input_good(&input)) {
        next = input_refuse(&input);
        input_end(&input);
        return next;
    }
    memcpy(text, client.ptr, client.len);
    text[client.len] = '\0';
    input_end(&input);
    return introspect->log_commands(introspect->host, text)
               ? admin_reply_json(conn, 200,
                                  json_pack("{s:o}", "log_commands", text_json(slice_str(text))))
               : admin_refuse_status(conn, STATUS_NO_MEMORY);
}

// Requires the right to operate every queue, because the section may be for any queue.
static enum http1_next answer_push_resume(struct http1_conn *conn, struct slice body,
                                          struct blob *blob)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    char section[QUEUE_NAME_MAX + 1];
    struct input input;
    size_t len = 0;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    if (!session_may_everywhere(conn->session, MAY_OPERATE)) {
        input_blame_forbidden(&input);
    }
    (void)input_path_text(&input, 0, section, sizeof section, &len);
    if (input_good(&input) &&
        (!introspect || !introspect->pushes->resume(introspect->host, slice_of(section, len)))) {
        input_blame(&input, 404, "no section of that name has an endpoint");
    }
    return input_good(&input)
               ? admin_reply_json(conn, 200,
                                  section_endpoint_json(introspect, slice_of(section, len)))
               : input_refuse(&input);
}

static enum http1_next answer_handover(struct http1_conn *conn, struct slice body,
                                       struct blob *blob)
{
    const struct introspect *introspect = admin_shared(conn)->introspect;
    struct introspect_cluster cluster;
    struct input input;

    (void)body;
    (void)blob;
    input_begin_plain(&input, conn);
    if (!session_may_everywhere(conn->session, MAY_ADMINISTER)) {
        input_blame_forbidden(&input);
    }
    if (!input_good(&input)) {
        return input_refuse(&input);
    }
    // The reply has the state before the handover, which takes at least a turn.
    cluster_info_get(introspect, &cluster);
    if (!introspect || !introspect->hand_over || !introspect->hand_over(introspect->host)) {
        return admin_refuse(conn, 409, "no standby can take over from this process");
    }
    return admin_reply_json(
        conn, 202,
        json_pack("{s:s, s:I}", "from", cluster.node, "epoch", (json_int_t)cluster.epoch));
}

const struct admin_route process_routes[] = {
    {.path = "/api/v1/process",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_process},
    {.path = "/api/v1/journal",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_journal},
    {.path = "/api/v1/config", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_config},
    {.path = "/api/v1/drain",
     .method = HTTP1_POST,
     .right = MAY_ADMINISTER,
     .takes_body = true,
     .answer = answer_drain},
    {.path = "/api/v1/reload",
     .method = HTTP1_POST,
     .right = MAY_ADMINISTER,
     .answer = answer_reload},
    {.path = "/api/v1/log-commands",
     .method = HTTP1_POST,
     .right = MAY_ADMINISTER,
     .takes_body = true,
     .answer = answer_log_commands},
    {.path = "/api/v1/push", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_push},
    {.path = "/api/v1/push/{section}/resume",
     .method = HTTP1_POST,
     .right = MAY_OPERATE,
     .answer = answer_push_resume},
    {.path = "/api/v1/cluster",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .early = true,
     .answer = answer_cluster},
    {.path = "/api/v1/cluster/handover",
     .method = HTTP1_POST,
     .right = MAY_ADMINISTER,
     .early = true,
     .answer = answer_handover},
    {.path = NULL},
};
