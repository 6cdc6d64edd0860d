/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "core/base/glob.h"
#include "ctl/beanstalk/remote.h"
#include "ctl/migrate/migration.h"

#include <string.h>

#define TTR_DEFAULT 60

// One side of the migration: a beanstalkd, or a Tandem through its API.
struct migration_side {
    struct remote_address address;
    struct client *made; // owned; NULL: `api` is borrowed, or NULL
    struct client *api;  // NULL: a beanstalkd
};

// The server `named`, or the broker of --address. A named server has its own token, so that the
// token of one broker is never sent to another server.
static enum outcome read_side(struct context *context, const char *named, const char *token_file,
                              struct migration_side *side)
{
    const struct options *options = context->options;
    const struct client_settings settings = {.address = named,
                                             .token_file = token_file,
                                             .no_token = token_file == NULL,
                                             .cacert = options->cacert,
                                             .cert = options->cert,
                                             .key = options->key,
                                             .timeout = options_timeout(options)};

    if (!named) {
        side->api = context->client;
        return OUTCOME_DONE;
    }
    if (strncmp(named, "http://", 7) != 0 && strncmp(named, "https://", 8) != 0 &&
        strncmp(named, "unix:", 5) != 0) {
        return remote_address_read(&side->address, named, context->problem) ? OUTCOME_DONE
                                                                            : OUTCOME_USAGE;
    }
    if (!client_new(&side->made, &settings, context->problem)) {
        return OUTCOME_USAGE;
    }
    side->api = side->made;
    return OUTCOME_DONE;
}

static void side_free(struct migration_side *side)
{
    remote_address_free(&side->address);
    client_free(side->made);
}

static enum outcome check_migration(struct context *context)
{
    const struct options *options = context->options;

    if (context->count == 0 && !options->to) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "give FROM, such as beanstalk://HOST:PORT to move jobs from there to "
                           "this broker, or --to TO to move them from this broker");
    }
    if (options->tubes && !glob_valid(slice_str(options->tubes))) {
        return problem_set(context->problem, OUTCOME_USAGE, "--tubes: \"%s\" is not a valid glob",
                           options->tubes);
    }
    if (options->ttr != NO_COUNT && (options->ttr == 0 || options->ttr > UINT32_MAX)) {
        return problem_set(context->problem, OUTCOME_USAGE,
                           "--ttr must be from 1 to 4294967295 seconds");
    }
    return OUTCOME_DONE;
}

enum outcome run_migrate(struct context *context)
{
    const struct options *options = context->options;
    struct migration_side from = {0};
    struct migration_side to = {0};
    struct migration_settings settings = {
        .tubes = options->tubes,
        .state = options->state_file,
        .timeout = options_timeout(options),
        .ttr = options->ttr == NO_COUNT ? TTR_DEFAULT : options->ttr,
        .wait = options->wait,
        .follow = options->follow,
    };
    enum outcome outcome = check_migration(context);

    if (outcome == OUTCOME_DONE) {
        outcome = read_side(context, context->count ? context->words[0] : NULL,
                            options->from_token_file, &from);
    }
    if (outcome == OUTCOME_DONE) {
        outcome = read_side(context, options->to, options->to_token_file, &to);
    }
    if (outcome == OUTCOME_DONE) {
        settings.from = from.api ? NULL : &from.address;
        settings.to = to.api ? NULL : &to.address;
        settings.from_api = from.api;
        settings.to_api = to.api;
        outcome = migration_run(&settings, context->problem);
    }
    side_free(&from);
    side_free(&to);
    return outcome;
}
