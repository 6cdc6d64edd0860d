/* SPDX-License-Identifier: MIT */
#include "ctl/policies.h"

#include "core/base/digits.h"
#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/listing.h"
#include "ctl/print/text.h"
#include "ctl/print/need.h"

#include <string.h>

#define POLICIES "/api/v1/policies"
// The member of a policy that is not a key of its section.
#define POSITION "position"
#define POSITION_MOST 1000000000

//
// The list
//

static const struct grid_column columns[] = {
    {"GLOB", false, true}, {"POSITION", true, false}, {"ORIGIN", false, false},
    {"SAYS", false, true}, {NULL, false, false},
};

static void add_value(struct text *to, const json_t *value)
{
    if (json_is_boolean(value)) {
        text_put(to, json_is_true(value) ? "true" : "false");
    } else if (json_is_integer(value)) {
        text_format(to, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else {
        text_add(to, slice_of(json_string_value(value), json_string_length(value)));
    }
}

// Adds the settings, as "max_jobs = 5, rate = 5/m", or why the policy does not apply.
static void add_words(struct text *to, const json_t *policy)
{
    json_t *settings = json_object_get(policy, "settings");
    const char *between = "";
    const char *key;
    json_t *value;

    if (field_is_set(policy, "why_not")) {
        text_put(to, "does not hold: ");
        text_add(to, field_text(policy, "why_not"));
        return;
    }
    json_object_foreach(settings, key, value)
    {
        text_format(to, "%s%s = ", between, key);
        add_value(to, value);
        between = ", ";
    }
}

static void add_row(struct grid *grid, const json_t *policy)
{
    bool holds = !field_is_set(policy, "why_not");
    struct text words = {0};

    add_words(&words, policy);
    grid_cell(grid, STYLE_PLAIN, field_text(policy, "glob"));
    if (field_is_set(policy, POSITION)) {
        grid_format(grid, STYLE_PLAIN, "%llu", (unsigned long long)field_count(policy, POSITION));
    } else {
        grid_string(grid, STYLE_FAINT, "-");
    }
    grid_cell(grid, STYLE_PLAIN, field_text(policy, "origin"));
    grid_cell(grid, holds ? STYLE_PLAIN : STYLE_BAD, text_slice(&words));
    text_free(&words);
}

static enum outcome print_policies(struct context *context, const json_t *policies)
{
    struct grid *grid;

    if (json_array_size(policies) == 0) {
        text_put(&context->out, "No queue has a policy.\n");
        return print(context);
    }
    grid = grid_new(columns, context->screen.width, context->screen.colour);
    for (size_t i = 0; i < json_array_size(policies); i++) {
        add_row(grid, json_array_get(policies, i));
    }
    grid_write(grid, &context->out);
    grid_free(grid);
    return print(context);
}

enum outcome run_policies(struct context *context)
{
    struct reply reply = {0};
    enum outcome outcome = ask(context, "GET", POLICIES, NULL, &reply);

    if (outcome == OUTCOME_DONE) {
        outcome = context->options->json
                      ? print_json(context, &reply)
                      : print_policies(context, field_get(reply.json, "policies"));
    }
    reply_free(&reply);
    return outcome;
}

void policy_facts(struct context *context, const json_t *policy)
{
    struct text words = {0};

    if (!json_is_object(policy)) {
        return;
    }
    text_put(&words, "[queue ");
    text_add(&words, field_text(policy, "glob"));
    text_put(&words, "] of ");
    text_add(&words, field_text(policy, "origin"));
    fact_text(context, "policy", text_slice(&words));
    text_free(&words);
    add_words(&words, policy);
    if (text_slice(&words).len > 0) {
        fact_text(context, "", text_slice(&words));
    }
    text_free(&words);
}

//
// One policy
//

// Adds a setting KEY=VALUE of a policy to the object.
static enum outcome read_word(struct context *context, const char *word, json_t *into)
{
    const char *sign = strchr(word, '=');
    size_t len = sign ? (size_t)(sign - word) : 0;
    struct text key = {0};
    uint64_t number;
    json_t *value = NULL;

    if (len == 0) {
        return problem_set(context->problem, OUTCOME_USAGE, "\"%s\" is not KEY=VALUE", word);
    }
    text_add(&key, slice_of(word, len));
    if (strcmp(text_string(&key), POSITION) != 0) {
        value = json_of(context, "value", sign + 1);
    } else if (digits_read(slice_str(sign + 1), &number) && number <= POSITION_MOST) {
        value = need(json_integer((json_int_t)number));
    } else {
        (void)problem_set(context->problem, OUTCOME_USAGE,
                          "position is a number from 0 to %d, not \"%s\"", POSITION_MOST, sign + 1);
    }
    if (value && json_object_set_new(into, text_string(&key), value) != 0) {
        (void)problem_set(context->problem, OUTCOME_USAGE, "a key is no UTF-8");
        value = NULL;
    }
    text_free(&key);
    return value ? OUTCOME_DONE : context->problem->outcome;
}

// Sends the request and prints the new state of the policy. Takes ownership of `body`.
static enum outcome act(struct context *context, const char *method, json_t *body,
                        const char *words)
{
    const char *glob = context->words[1];
    struct reply reply = {0};
    struct text path = {0};
    enum outcome outcome;

    text_put(&path, POLICIES);
    path_add_name(&path, glob);
    outcome = ask(context, method, text_string(&path), body, &reply);
    if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE && words) {
        text_add_escaped(&context->out, slice_str(glob), false);
        text_format(&context->out, " %s.\n", words);
        outcome = print(context);
    } else if (outcome == OUTCOME_DONE) {
        policy_facts(context, reply.json);
        outcome = print(context);
    }
    reply_free(&reply);
    text_free(&path);
    return outcome;
}

static enum outcome set(struct context *context)
{
    json_t *body = need(json_object());
    enum outcome outcome = OUTCOME_DONE;

    for (size_t i = 2; outcome == OUTCOME_DONE && i < context->count; i++) {
        outcome = read_word(context, context->words[i], body);
    }
    if (outcome != OUTCOME_DONE) {
        json_decref(body);
        return outcome;
    }
    return act(context, "PUT", body, "has this policy now");
}

enum outcome run_policy(struct context *context)
{
    const char *what = context->words[0];
    bool sets = strcmp(what, "set") == 0;

    if (!sets && context->count > 2) {
        return problem_set(context->problem, OUTCOME_USAGE, "%s takes a glob and nothing else",
                           what);
    }
    if (sets) {
        return set(context);
    }
    if (strcmp(what, "show") == 0) {
        return act(context, "GET", NULL, NULL);
    }
    if (strcmp(what, "delete") == 0) {
        return act(context, "DELETE", NULL, "has no policy of the run time any more");
    }
    return problem_set(context->problem, OUTCOME_USAGE,
                       "policy is followed by show, set or delete, not by \"%s\"", what);
}
