/* SPDX-License-Identifier: MIT */
#include "ctl/cluster.h"

#include "ctl/api/call.h"
#include "ctl/facts.h"
#include "ctl/print/grid.h"
#include "ctl/print/text.h"
#include "ctl/print/units.h"

#define COUNT(path) units_count(field_count(cluster, path)).text
#define SECONDS(path) units_seconds(field_number(cluster, path)).text

static const struct grid_column columns[] = {
    {"NODE", false, false},  {"ROLE", false, false}, {"EPOCH", true, false},
    {"BEHIND", true, false}, {"SEEN", true, false},  {"ADDRESS", false, true},
    {NULL, false, false},
};

static bool is_role(const json_t *cluster, struct slice role)
{
    return slice_equal(field_text(cluster, "role"), role);
}

static void add_role(struct context *context, const json_t *cluster)
{
    struct text words = {0};
    bool well = is_role(cluster, SLICE("owner")) || is_role(cluster, SLICE("standby"));

    text_add_escaped(&words, field_text(cluster, "role"), false);
    text_put(&words, " of ");
    text_add_escaped(&words, field_text(cluster, "shard"), false);
    fact_text(context, "this one", field_text(cluster, "node"));
    fact_styled(context, "is", well ? STYLE_STRONG : STYLE_BAD, "%s", text_string(&words));
    text_free(&words);
}

static void add_owner(struct context *context, const json_t *cluster)
{
    if (!field_is_set(cluster, "owner")) {
        fact_styled(context, "owner", STYLE_BAD, "nobody");
    } else {
        fact_text(context, "owner", field_text(cluster, "owner"));
    }
    fact(context, "epoch", "%s", COUNT("epoch"));
    if (field_is_set(cluster, "since")) {
        fact(context, "since", "%s", moment_of(field_number(cluster, "since")).text);
    }
    fact(context, "lease", "%s left", SECONDS("lease_left_seconds"));
    fact(context, "rows", "%s, %s of them not here yet", COUNT("rows"), COUNT("behind"));
    fact(context, "takeovers", "%s by this one", COUNT("takeovers"));
    fact(context, "proxied", "%s connections, %s so far", COUNT("proxied.connections"),
         COUNT("proxied.total"));
}

static void add_syncs(struct context *context, const json_t *cluster)
{
    uint64_t count = field_count(cluster, "database.syncs.count");

    if (count > 0) {
        double sum = field_number(cluster, "database.syncs.sum_seconds");

        fact(context, "syncs", "%s, %s on average", units_count(count).text,
             units_seconds(sum / (double)count).text);
    }
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
    fact_styled(context, "a commit",
                (durable && replicated) || field_true(cluster, "database.trusted") ? STYLE_PLAIN
                                                                                   : STYLE_BAD,
                "waits for %s",
                !durable     ? "no disk"
                : replicated ? "a disk and a second server"
                             : "a disk of one server only");
    fact_text(context, "", field_text(cluster, "database.settings"));
    add_syncs(context, cluster);
}

static void add_member(struct grid *grid, const json_t *cluster, const json_t *member)
{
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

static void add_members(struct context *context, const json_t *cluster)
{
    const json_t *members = field_get(cluster, "members");
    struct grid *grid = grid_new(columns, context->screen.width, context->screen.colour);

    for (size_t i = 0; i < json_array_size(members); i++) {
        add_member(grid, cluster, json_array_get(members, i));
    }
    text_put_char(&context->out, '\n');
    grid_write(grid, &context->out);
    grid_free(grid);
}

static void add_cluster(struct context *context, const json_t *cluster)
{
    if (is_role(cluster, SLICE("alone"))) {
        text_put(&context->out, "This broker shares its journal with nobody.\n");
        return;
    }
    add_role(context, cluster);
    add_owner(context, cluster);
    add_database(context, cluster);
    add_members(context, cluster);
}

enum outcome run_cluster(struct context *context)
{
    struct reply reply = {0};
    enum outcome outcome = ask(context, "GET", "/api/v1/cluster", NULL, &reply);

    if (outcome == OUTCOME_DONE && context->options->json) {
        outcome = print_json(context, &reply);
    } else if (outcome == OUTCOME_DONE) {
        add_cluster(context, reply.json);
        outcome = print(context);
    }
    reply_free(&reply);
    return outcome;
}
