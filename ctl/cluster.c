/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "ctl/fact_lines.h"
#include "ctl/print/grid.h"
#include "ctl/print/units.h"

#include <poll.h>
#include <time.h>

// The interval between requests for the owner, and the time to wait for another owner.
#define OWNER_POLL_MSEC 50
#define HANDOVER_MOST_SECONDS 60

#define COUNT(path) units_count(field_count(cluster, path)).text
#define SECONDS(path) units_seconds(field_number(cluster, path)).text

static const struct grid_column member_columns[] = {
    {"NODE", false, false},  {"ROLE", false, false}, {"EPOCH", true, false},
    {"BEHIND", true, false}, {"SEEN", true, false},  {"ADDRESS", false, true},
    {NULL, false, false},
};

static bool has_role(const json_t *cluster, struct slice role)
{
    return slice_equal(field_text(cluster, "role"), role);
}

static void add_cluster_owner(struct context *context, const json_t *cluster)
{
    if (!field_is_set(cluster, "owner")) {
        fact_styled(context, "owner", STYLE_BAD, "none");
    } else {
        fact_text(context, "owner", field_text(cluster, "owner"));
    }
    fact(context, "epoch", "%s", COUNT("epoch"));
    if (field_is_set(cluster, "since")) {
        fact(context, "since", "%s", units_moment(field_number(cluster, "since")).text);
    }
    fact(context, "lease", "%s left", SECONDS("lease_left_seconds"));
    fact(context, "rows", "%s, %s of them not received yet", COUNT("rows"), COUNT("behind"));
    fact(context, "takeovers", "%s by this broker", COUNT("takeovers"));
    fact(context, "proxied", "%s connections, %s so far", COUNT("proxied.connections"),
         COUNT("proxied.total"));
}

static void add_database(struct context *context, const json_t *cluster)
{
    bool durable = field_true(cluster, "database.durable");
    bool replicated = field_true(cluster, "database.replicated");

    if (field_true(cluster, "database.connected")) {
        fact(context, "database", "connected");
    } else {
        fact_styled(context, "database", STYLE_BAD, "cannot be reached");
        fact_text(context, "", field_text(cluster, "database.why"));
    }
    fact_styled(context, "commits",
                (durable && replicated) || field_true(cluster, "database.trusted") ? STYLE_PLAIN
                                                                                   : STYLE_BAD,
                "wait for %s",
                !durable     ? "no disk"
                : replicated ? "a disk and a second server"
                             : "a disk of one server only");
    fact_text(context, "", field_text(cluster, "database.settings"));
    fact_syncs(context, field_get(cluster, "database.syncs"));
}

static void add_members(struct context *context, const json_t *cluster)
{
    const json_t *members = field_get(cluster, "members");
    struct grid *grid = grid_new(member_columns, context->screen.width, context->screen.colour);

    for (size_t i = 0; i < json_array_size(members); i++) {
        const json_t *member = json_array_get(members, i);
        bool self = field_true(member, "self");
        bool owner = field_true(member, "owner");

        grid_cell(grid, self ? STYLE_STRONG : STYLE_PLAIN, field_text(member, "node"));
        if (self) {
            grid_cell(grid, STYLE_STRONG, field_text(cluster, "role"));
        } else {
            grid_string(grid, STYLE_PLAIN,
                        owner                              ? "owner"
                        : field_true(member, "takes_over") ? "standby"
                                                           : "standby only");
        }
        grid_count(grid, STYLE_PLAIN, field_count(member, "epoch"));
        grid_count(grid, STYLE_PLAIN, field_count(member, "behind"));
        grid_seconds(grid, field_number(member, "seen_seconds"));
        grid_cell(grid, STYLE_PLAIN, field_text(member, "address"));
    }
    text_put_char(&context->out, '\n');
    grid_write(grid, &context->out);
    grid_free(grid);
}

static void add_cluster(struct context *context, const json_t *cluster)
{
    bool well = has_role(cluster, SLICE("owner")) || has_role(cluster, SLICE("standby"));
    struct text role = {0};

    if (has_role(cluster, SLICE("alone"))) {
        text_put(&context->out, "This broker does not share its journal.\n");
        return;
    }
    text_add_escaped(&role, field_text(cluster, "role"), false);
    text_put(&role, " of ");
    text_add_escaped(&role, field_text(cluster, "shard"), false);
    fact_text(context, "node", field_text(cluster, "node"));
    fact_styled(context, "role", well ? STYLE_STRONG : STYLE_BAD, "%s", text_string(&role));
    text_free(&role);
    add_cluster_owner(context, cluster);
    add_database(context, cluster);
    add_members(context, cluster);
}

enum outcome run_cluster(struct context *context)
{
    return command_show(context, "GET", "/api/v1/cluster", NULL, add_cluster);
}

//
// Handover
//

static double monotonic_seconds(void)
{
    struct timespec moment;

    (void)clock_gettime(CLOCK_MONOTONIC, &moment);
    return (double)moment.tv_sec + (double)moment.tv_nsec / 1e9;
}

// Waits until the handover has ended. A broker that hands over closes its connections, so that
// requests may fail for a moment.
static enum outcome wait_for_owner(struct context *context, uint64_t epoch, double began,
                                   struct reply *reply)
{
    while (monotonic_seconds() - began < HANDOVER_MOST_SECONDS) {
        enum outcome outcome = command_ask(context, "GET", "/api/v1/cluster", NULL, reply);

        // An owner of a later epoch: another broker, or this one again.
        if (outcome == OUTCOME_DONE && field_count(reply->json, "epoch") > epoch &&
            field_is_set(reply->json, "owner")) {
            return OUTCOME_DONE;
        }
        if (outcome == OUTCOME_FORBIDDEN || outcome == OUTCOME_INTERRUPTED) {
            return outcome;
        }
        (void)poll(NULL, 0, OWNER_POLL_MSEC);
    }
    return problem_set(context->problem, OUTCOME_NOT_NOW,
                       "no broker has taken over within %d s: see tandemctl cluster",
                       HANDOVER_MOST_SECONDS);
}

static enum outcome print_new_owner(struct context *context, const struct reply *reply, double took)
{
    struct text owner = {0};

    context->problem->why.text[0] = '\0';
    if (slice_equal(field_text(reply->json, "role"), SLICE("owner"))) {
        return problem_set(context->problem, OUTCOME_FAILED,
                           "no other broker has taken over: this broker owns the journal again");
    }
    if (context->options->json) {
        return command_print_json(context, reply);
    }
    text_add_escaped(&owner, field_text(reply->json, "owner"), false);
    text_format(&context->out, "%s owns the journal now (epoch %llu), after %.2f s.\n",
                text_string(&owner), (unsigned long long)field_count(reply->json, "epoch"), took);
    text_free(&owner);
    return command_print(context);
}

enum outcome run_handover(struct context *context)
{
    struct reply reply = {0};
    double began = monotonic_seconds();
    enum outcome outcome = command_ask(context, "POST", "/api/v1/cluster/handover", NULL, &reply);

    if (outcome == OUTCOME_DONE) {
        outcome = wait_for_owner(context, field_count(reply.json, "epoch"), began, &reply);
    }
    if (outcome == OUTCOME_DONE) {
        outcome = print_new_owner(context, &reply, monotonic_seconds() - began);
    }
    reply_free(&reply);
    return outcome;
}
