/* SPDX-License-Identifier: MIT */
#include "ctl/api/call.h"

#include "ctl/print/need.h"

#include <stdlib.h>
#include <string.h>

static enum outcome outcome_of(long status)
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

static const char *advice(long status)
{
    switch (status) {
    case 401:
        return " (--token-file FILE or TANDEM_TOKEN give a token)";
    case 403:
        return " (the broker's server.access_file says who may do what)";
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
        outcome =
            problem_set(problem, outcome_of(answer->status), "%s%s", error, advice(answer->status));
    } else if (answer->status == 503) {
        outcome =
            problem_set(problem, OUTCOME_NOT_NOW,
                        "the broker at %s does not serve yet: it is still reading its journal",
                        client_address(client));
    } else {
        outcome = problem_set(problem, outcome_of(answer->status),
                              "%s answers with HTTP status %ld, which is no answer of Tandem's",
                              client_address(client), answer->status);
    }
    json_decref(json);
    return outcome;
}

static enum outcome read_json(const struct client *client, struct reply *reply,
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
    return problem_set(problem, OUTCOME_FAILED, "what %s answers is no JSON (%s): is it a Tandem?",
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
        outcome = read_json(client, reply, problem);
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
