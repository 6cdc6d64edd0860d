/* SPDX-License-Identifier: MIT */
#include "ctl/api/call.h"

#include "core/base/base64.h"
#include "ctl/print/need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//
// Paths
//

static void path_add_encoded(struct text *path, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    for (; *name; name++) {
        // Dots are plain, but a name of dots alone would be a relative step of the path.
        if (memchr(plain, *name, sizeof plain - 1)) {
            text_put_char(path, *name);
        } else {
            text_format(path, "%%%02X", (unsigned)(unsigned char)*name);
        }
    }
}

void path_add_name(struct text *path, const char *name)
{
    text_put_char(path, '/');
    path_add_encoded(path, name);
}

void path_add_text(struct text *path, const char *key, const char *value)
{
    if (value) {
        text_put_char(path, memchr(text_string(path), '?', path->len) ? '&' : '?');
        text_format(path, "%s=", key);
        path_add_encoded(path, value);
    }
}

void path_add_number(struct text *path, const char *key, uint64_t number)
{
    char digits[24];

    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    path_add_text(path, key, digits);
}

//
// Base64
//

void base64_add(struct text *to, struct slice bytes)
{
    size_t at = to->len;

    text_fill(to, '=', base64_encoded_len(bytes.len));
    base64_encode(bytes, to->data + at);
}

bool base64_read(struct text *to, struct slice from)
{
    size_t at = to->len;
    size_t len;
    bool good;

    text_fill(to, '\0', base64_decoded_room(from.len));
    good = base64_decode(from, to->data + at, &len);
    text_cut(to, at + len);
    return good;
}

//
// Fields
//

// Paths are constants of this program, and short.
#define KEY_MAX 64

const json_t *field_get(const json_t *from, const char *path)
{
    char key[KEY_MAX];

    while (from && *path) {
        size_t len = strcspn(path, ".");

        if (len >= sizeof key) {
            return NULL;
        }
        memcpy(key, path, len);
        key[len] = '\0';
        from = json_object_get(from, key);
        path += len + (path[len] == '.');
    }
    return from;
}

uint64_t field_count(const json_t *from, const char *path)
{
    const json_t *value = field_get(from, path);

    if (json_is_real(value)) {
        double number = json_real_value(value);

        return number > 0 && number < 0x1p64 ? (uint64_t)number : 0;
    }
    return json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

double field_number(const json_t *from, const char *path)
{
    return json_number_value(field_get(from, path));
}

bool field_true(const json_t *from, const char *path)
{
    return json_is_true(field_get(from, path));
}

bool field_is_set(const json_t *from, const char *path)
{
    const json_t *value = field_get(from, path);

    return value && !json_is_null(value);
}

struct slice field_text(const json_t *from, const char *path)
{
    const json_t *value = field_get(from, path);

    return slice_of(json_string_value(value), json_string_length(value));
}

//
// Calls
//

static enum outcome status_outcome(long status)
{
    switch (status) {
    case 401:
    case 403:
        return OUTCOME_FORBIDDEN;
    case 404:
        return OUTCOME_NOT_FOUND;
    case 429:
    case 503:
        return OUTCOME_NOT_NOW;
    default:
        return OUTCOME_FAILED;
    }
}

static const char *status_advice(long status)
{
    switch (status) {
    case 401:
        return " (give a token with --token-file FILE or TANDEM_TOKEN)";
    case 403:
        return " (the broker's server.access_file sets who may do what)";
    case 413:
        return " (server.max_job_size)";
    case 429:
        return " (too many wrong tokens: wait a moment)";
    default:
        return "";
    }
}

enum outcome call_refused(const struct client *client, const struct answer *answer,
                          struct problem *problem)
{
    json_t *json = json_loadb(text_string(&answer->body), answer->body.len, 0, NULL);
    const char *error = json_string_value(json_object_get(json, "error"));
    enum outcome outcome;

    if (error) {
        outcome = problem_set(problem, status_outcome(answer->status), "%s%s", error,
                              status_advice(answer->status));
    } else if (answer->status == 503) {
        outcome = problem_set(problem, OUTCOME_NOT_NOW,
                              "the broker at %s is not ready: it is still reading its journal",
                              client_address(client));
    } else {
        outcome =
            problem_set(problem, status_outcome(answer->status),
                        "%s answered with HTTP status %ld and no message: is it a Tandem broker?",
                        client_address(client), answer->status);
    }
    json_decref(json);
    return outcome;
}

static enum outcome read_reply_json(const struct client *client, struct reply *reply,
                                    struct problem *problem)
{
    const struct text *body = &reply->answer.body;
    json_error_t error;

    if (reply->answer.status == 204 || body->len == 0) {
        return OUTCOME_DONE;
    }
    reply->json = json_loadb(body->data, body->len, JSON_ALLOW_NUL, &error);
    if (reply->json) {
        return OUTCOME_DONE;
    }
    return problem_set(problem, OUTCOME_FAILED,
                       "the answer of %s is not JSON (%s): is it a Tandem broker?",
                       client_address(client), error.text);
}

enum outcome call(struct client *client, const char *method, const char *path, json_t *body,
                  struct reply *reply, struct problem *problem)
{
    char *sent = body ? need(json_dumps(body, JSON_COMPACT)) : NULL;
    struct request request = {.method = method, .path = path, .body = sent};
    enum outcome outcome;

    reply_free(reply);
    json_decref(body);
    outcome = client_send(client, &request, &reply->answer, problem);
    free(sent);
    if (outcome == OUTCOME_DONE && reply->answer.status >= 200 && reply->answer.status < 300) {
        outcome = read_reply_json(client, reply, problem);
    } else if (outcome == OUTCOME_DONE) {
        outcome = call_refused(client, &reply->answer, problem);
    }
    if (outcome != OUTCOME_DONE) {
        reply_free(reply);
    }
    return outcome;
}

void reply_free(struct reply *reply)
{
    json_decref(reply->json);
    reply->json = NULL;
    answer_free(&reply->answer);
}
