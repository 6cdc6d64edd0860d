/* SPDX-License-Identifier: MIT */
#include "admin/process.h"

#include "core/broker.h"

#include "admin/context.h"
#include "admin/input.h"
#include "admin/list_maker.h"
#include "admin/reply.h"
#include "admin/shown.h"
#include "admin/shown_process.h"
#include "admin/shown_push.h"
#include "admin/shown_section.h"

#include <stdlib.h>
#include <string.h>

// Whether nothing is asked for beside the path; otherwise it is answered.
static bool is_plain(struct http1_conn *conn, enum http1_next *next)
{
    static const char *const none[] = {NULL};
    struct input input;

    input_begin_query(&input, conn);
    input_parameters(&input, none);
    if (!input_good(&input)) {
        *next = input_refuse(&input);
        return false;
    }
    return true;
}

// The same, of a caller who may observe every queue.
static bool is_plain_and_for_all(struct http1_conn *conn, enum http1_next *next)
{
    if (!is_plain(conn, next)) {
        return false;
    }
    if (!session_may_everywhere(conn->session, MAY_OBSERVE)) {
        *next = admin_refuse_status(conn, STATUS_FORBIDDEN);
        return false;
    }
    return true;
}

static enum http1_next answer_process(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    enum http1_next next;

    (void)body;
    (void)blob;
    return is_plain(conn, &next) ? admin_reply_json(conn, 200, shown_process(conn)) : next;
}

static enum http1_next answer_journal(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    enum http1_next next;

    (void)body;
    (void)blob;
    return is_plain(conn, &next) ? admin_reply_json(conn, 200, shown_journal(conn)) : next;
}

static json_t *text(const char *words)
{
    return shown_text(slice_str(words));
}

static json_t *shown_setting(const struct sight_setting *setting)
{
    return json_pack("{s:s, s:s, s:o, s:o, s:b, s:s}", "section", setting->section, "key",
                     setting->key, "value", text(setting->value), "default", text(setting->preset),
                     "live", (int)setting->live, "effect", setting->effect ? setting->effect : "");
}

static json_t *shown_settings(const struct sight *sight)
{
    json_t *list = json_array();
    struct sight_setting setting;

    for (size_t i = 0; list && sight && sight->setting(sight->host, i, &setting); i++) {
        if (json_array_append_new(list, shown_setting(&setting)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static bool next_section(const struct http1_conn *conn, size_t index, json_t **shown)
{
    const struct sight *sight = admin_shared(conn)->sight;
    struct sight_section section;

    if (!sight || !sight->policies->section(sight->host, index, &section)) {
        return false;
    }
    *shown = shown_section(sight, index, &section);
    return true;
}

// The document, which is given up, with one more member: the sections, of which there may be many.
static enum http1_next answer_sections(struct http1_conn *conn, json_t *document)
{
    static const char member[] = ",\"sections\":[";
    char *text = admin_dump(document);
    size_t len = text ? strlen(text) : 0;
    char *before = text ? realloc(text, len + sizeof member) : NULL;
    enum http1_next next;

    json_decref(document);
    if (!before) {
        free(text);
        return admin_refuse_status(conn, STATUS_NO_MEMORY);
    }
    // In the place of the bracket that ends it.
    memcpy(before + len - 1, member, sizeof member);
    next = list_maker_answer(conn, before, next_section, "]}");
    free(before);
    return next;
}

static enum http1_next answer_config(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    const struct sight *sight = admin_shared(conn)->sight;
    const char *file = sight ? sight->config_file(sight->host) : NULL;
    enum http1_next next;

    (void)body;
    (void)blob;
    if (!is_plain_and_for_all(conn, &next)) {
        return next;
    }
    return answer_sections(conn, json_pack("{s:o, s:o}", "file", file ? text(file) : json_null(),
                                           "settings", shown_settings(sight)));
}

static enum http1_next answer_push(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    enum http1_next next;

    (void)body;
    (void)blob;
    if (!is_plain_and_for_all(conn, &next)) {
        return next;
    }
    return admin_reply_json(
        conn, 200, json_pack("{s:o}", "endpoints", shown_endpoints(admin_shared(conn)->sight)));
}

const struct admin_route process_routes[] = {
    {.path = "/api/v1/push", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_push},
    {.path = "/api/v1/process",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_process},
    {.path = "/api/v1/journal",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .answer = answer_journal},
    {.path = "/api/v1/config", .method = HTTP1_GET, .right = MAY_OBSERVE, .answer = answer_config},
    {.path = NULL},
};
