/* SPDX-License-Identifier: MIT */
#include "ctl/migrate.h"

#include "core/base/glob.h"
#include "ctl/api/field.h"
#include "ctl/api/token.h"
#include "ctl/migrate/migration.h"
#include "ctl/print/need.h"

#include <string.h>

#define TTR_DEFAULT 60

// What stands before the port of an address at which every address of the machine is meant.
static bool is_any(struct slice host)
{
    return slice_equal(host, SLICE("0.0.0.0")) || slice_equal(host, SLICE("[::]")) ||
           slice_equal(host, SLICE("*"));
}

// The host of the API's address; the loopback where that is a Unix socket.
static void add_host(struct text *to, const char *api)
{
    const char *from = strstr(api, "://");
    size_t len;

    from = from ? from + 3 : api;
    len = *from == '[' ? strcspn(from, "]") + 1 : strcspn(from, ":/");
    if (strncmp(api, "unix:", 5) == 0) {
        text_put(to, "127.0.0.1");
    } else {
        text_add(to, slice_of(from, len));
    }
}

// Whether it is an address of plain TCP; `port` begins with its colon.
static bool is_plain(struct slice address, size_t *port)
{
    size_t at = address.len;

    while (at > 0 && address.ptr[at - 1] != ':') {
        at--;
    }
    *port = at > 0 ? at - 1 : 0;
    return at > 1 && memchr(address.ptr, '/', address.len) == NULL &&
           !(address.len > 4 && memcmp(address.ptr, "tls:", 4) == 0);
}

// Where the broker that is asked over the API speaks beanstalk.
static bool find_here(const struct context *context, const json_t *process, struct text *to)
{
    const json_t *protocols = field_get(process, "protocols");
    const json_t *protocol;
    const json_t *address;
    size_t i;
    size_t j;

    json_array_foreach(protocols, i, protocol)
    {
        if (!slice_equal(field_text(protocol, "name"), SLICE("beanstalk"))) {
            continue;
        }
        json_array_foreach(field_get(protocol, "listening"), j, address)
        {
            struct slice text = slice_of(json_string_value(address), json_string_length(address));
            size_t port;

            if (json_is_string(address) && is_plain(text, &port)) {
                if (is_any(slice_of(text.ptr, port))) {
                    add_host(to, client_address(context->client));
                    text = slice_from(text, port);
                }
                text_add(to, text);
                return true;
            }
        }
    }
    return false;
}

static enum outcome read_here(struct context *context, struct place *place)
{
    struct reply reply = {0};
    struct text address = {0};
    enum outcome outcome = ask(context, "GET", "/api/v1/process", NULL, &reply);

    if (outcome == OUTCOME_DONE && !find_here(context, reply.json, &address)) {
        outcome =
            problem_set(context->problem, OUTCOME_FAILED,
                        "%s listens at no plain TCP address for beanstalk: name both servers, "
                        "or set beanstalk.listen",
                        client_address(context->client));
    }
    if (outcome == OUTCOME_DONE &&
        !place_read_host(place, text_string(&address), context->problem)) {
        outcome = OUTCOME_FAILED;
    }
    text_free(&address);
    reply_free(&reply);
    return outcome;
}

// One side: the server that is named, or the broker of the API.
static enum outcome read_side(struct context *context, const char *named, struct place *place)
{
    if (named) {
        return place_read(place, named, context->problem) ? OUTCOME_DONE : OUTCOME_USAGE;
    }
    return read_here(context, place);
}

static enum outcome check(struct context *context)
{
    const struct options *options = context->options;

    if (context->count == 0 && !options->to) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "from where? tandemctl migrate beanstalk://HOST:PORT moves jobs here; "
                           "with --to they go there");
    }
    if (options->tubes && !glob_valid(slice_of(options->tubes, strlen(options->tubes)))) {
        return problem_set(context->problem, OUTCOME_USAGE, "--tubes: \"%s\" is no glob",
                           options->tubes);
    }
    if (options->ttr != NO_COUNT && (options->ttr == 0 || options->ttr > UINT32_MAX)) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "--ttr: beanstalk knows 1 to 4294967295 seconds");
    }
    return OUTCOME_DONE;
}

enum outcome run_migrate(struct context *context)
{
    const struct options *options = context->options;
    const char *source = context->count ? context->words[0] : NULL;
    struct place from = {0};
    struct place to = {0};
    struct text token = {0};
    struct migration_settings settings = {
        .from = &from,
        .to = &to,
        .tubes = options->tubes,
        .state = options->state_file,
        .timeout = options->timeout,
        .ttr = options->ttr == NO_COUNT ? TTR_DEFAULT : options->ttr,
        .wait = options->wait,
        .follow = options->follow,
    };
    enum outcome outcome = check(context);

    if (outcome == OUTCOME_DONE && !token_find(&token, options->token_file, context->problem)) {
        outcome = OUTCOME_USAGE;
    }
    if (outcome == OUTCOME_DONE) {
        outcome = read_side(context, source, &from);
    }
    if (outcome == OUTCOME_DONE) {
        outcome = read_side(context, options->to, &to);
    }
    if (outcome == OUTCOME_DONE) {
        settings.from_token = !source && token.len ? text_string(&token) : NULL;
        settings.to_token = !options->to && token.len ? text_string(&token) : NULL;
        outcome = migration_run(&settings, context->problem);
    }
    place_free(&from);
    place_free(&to);
    text_free(&token);
    return outcome;
}
