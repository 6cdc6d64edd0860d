/* SPDX-License-Identifier: MIT */
#include "core/base/log.h"
#include "journal/pg/journal_rows.h"
#include "journal/pg/pg.h"
#include "journal/pg/schema.h"
#include "proto_common/introspect.h"
#include "server/store/journal_store.h"
#include "server/process/clock.h"
#include "server/process/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The patience for an answer of the database is this share of the lease's duration.
enum { PATIENCE_SHARE = 1 };

struct postgres_store {
    struct journal_store journal;
    struct storage *storage;   // the journal's
    struct journal_rows *rows; // the storage's; NULL before it is opened
    char node[ROWS_NAME_MAX];
    char addresses[ROWS_ADDRESS_MAX];
    struct ownership_snapshot shown;                    // as it was read last
    struct introspect_member members[ROWS_MEMBERS_MAX]; // of that
};

static struct postgres_store *postgres_of(const struct store *store)
{
    return container_of(journal_store_of(store), struct postgres_store, journal);
}

static nsec_t postgres_ttl(const struct store_settings *settings)
{
    return nsec_from_seconds((uint64_t)settings->lease_ttl);
}

//
// Opening and closing
//

static void postgres_advertise(struct store *store, const char *addresses)
{
    struct postgres_store *ps = postgres_of(store);

    (void)snprintf(ps->addresses, sizeof ps->addresses, "%s", addresses);
}

static bool postgres_prepare(struct journal_store *store, struct error_text *why)
{
    struct postgres_store *ps = postgres_of(&store->store);
    const struct store_settings *settings = store->settings;
    const struct rows_settings theirs = {.conninfo = settings->postgres,
                                         .shard = settings->shard,
                                         .holder = ps->node,
                                         .address = ps->addresses,
                                         .ttl_for = postgres_ttl(settings),
                                         .patience_for = postgres_ttl(settings) / PATIENCE_SHARE};

    ps->rows = journal_rows_libpq_new(&theirs);
    if (!ps->rows) {
        return error_set(why, "out of memory or descriptors");
    }
    journal_pg_use(ps->storage, ps->rows);
    return true;
}

static void postgres_stop_opening(struct journal_store *store)
{
    struct journal_rows *rows = postgres_of(&store->store)->rows;

    rows->ops->stop(rows);
}

static const struct fence *postgres_fence(const struct store *store)
{
    return journal_pg_fence(postgres_of(store)->storage);
}

// If another process owns the journal, or may, closing does not wait for the database.
static void postgres_closing(struct journal_store *store)
{
    struct postgres_store *ps = postgres_of(&store->store);

    if (ps->rows && (journal_is_lost(store->journal) ||
                     !fence_is_open(postgres_fence(&store->store), clock_boot()))) {
        ps->rows->ops->stop(ps->rows);
    }
}

static const char *postgres_shard(const struct journal_store *store)
{
    return store->settings->shard;
}

static void postgres_show(const struct journal_store *store, struct introspect_journal *journal)
{
    (void)store;
    journal->disk_free = UINT64_MAX;
}

static void postgres_free(struct journal_store *store)
{
    free(container_of(store, struct postgres_store, journal));
}

//
// How it stands
//

static const struct ownership_snapshot *postgres_ownership(const struct store *store)
{
    struct postgres_store *ps = postgres_of(store);

    journal_pg_ownership(ps->storage, &ps->shown);
    return &ps->shown;
}

static enum store_standing postgres_standing(const struct store *store)
{
    if (journal_is_lost(journal_store_of(store)->journal)) {
        return STORE_LOST;
    }
    if (!journal_store_of(store)->ready) {
        return STORE_FOLLOWS;
    }
    return fence_is_open(postgres_fence(store), clock_boot()) ? STORE_OWNS : STORE_UNSURE;
}

static void postgres_hand_over(struct store *store)
{
    log_info("handing_over", log_string("shard", postgres_shard(journal_store_of(store))));
}

static nsec_t postgres_lease_left(const struct ownership_snapshot *shown)
{
    nsec_t left_for = shown->lease.left_for - (clock_boot() - shown->lease_at);

    return shown->lease_at == 0 || shown->lease.released || left_for < 0 ? 0 : left_for;
}

// Whether a process owns the journal, as far as is known: reading may take longer than a lease
// lasts, and the lease is not read meanwhile.
static bool postgres_is_owned(const struct ownership_snapshot *shown)
{
    bool was_owned = shown->lease_at != 0 && !shown->lease.released && shown->lease.left_for > 0;

    return postgres_lease_left(shown) > 0 || (was_owned && shown->role == OWNERSHIP_READING);
}

static void postgres_owner(const struct store *store, struct store_owner *owner)
{
    const struct ownership_snapshot *shown = postgres_ownership(store);

    *owner = (struct store_owner){.epoch = shown->lease.epoch};
    if (postgres_is_owned(shown)) {
        (void)snprintf(owner->name, sizeof owner->name, "%s", shown->lease.holder);
        (void)snprintf(owner->address, sizeof owner->address, "%s", shown->lease.address);
    }
}

static enum cluster_role postgres_role(const struct store *store,
                                       const struct ownership_snapshot *shown)
{
    switch (postgres_standing(store)) {
    case STORE_OWNS:
        return CLUSTER_OWNER;
    case STORE_UNSURE:
    case STORE_LOST:
        return CLUSTER_UNSURE;
    case STORE_ALONE:
    case STORE_FOLLOWS:
        break;
    }
    return shown->role == OWNERSHIP_STANDBY && shown->connected ? CLUSTER_STANDBY : CLUSTER_OPENING;
}

static uint64_t postgres_behind(uint64_t all, uint64_t seq)
{
    return all > seq ? all - seq : 0;
}

static void postgres_show_members(struct postgres_store *ps, struct introspect_cluster *cluster)
{
    for (size_t i = 0; i < ps->shown.count; i++) {
        const struct rows_member *member = &ps->shown.members[i];

        ps->members[i] =
            (struct introspect_member){.node = member->node,
                                       .address = member->address,
                                       .owner = member->owner,
                                       .takes_over = member->takes,
                                       .self = strcmp(member->node, ps->node) == 0,
                                       .epoch = member->epoch,
                                       .behind = postgres_behind(cluster->seq, member->seq),
                                       .seen_for = member->seen_for};
    }
    cluster->members = ps->members;
    cluster->count = ps->shown.count;
}

static void postgres_cluster(const struct store *store, struct introspect_cluster *cluster)
{
    struct postgres_store *ps = postgres_of(store);
    const struct ownership_snapshot *shown = postgres_ownership(store);
    bool owned = postgres_is_owned(shown);

    *cluster = (struct introspect_cluster){
        .role = postgres_role(store, shown),
        .shard = postgres_shard(&ps->journal),
        .node = ps->node,
        .owner = owned ? shown->lease.holder : "",
        .owner_address = owned ? shown->lease.address : "",
        .epoch = shown->lease.epoch,
        .since_ms = shown->lease.since_ms,
        .seq = shown->lease.seq > shown->seq ? shown->lease.seq : shown->seq,
        .lease_left_for = postgres_lease_left(shown),
        .connected = shown->connected,
        .durable = rows_commits_are_durable(&shown->durability),
        .replicated = shown->durability.standbys_wait,
        .durability = shown->durability.text,
        .why = shown->why,
    };
    cluster->behind = postgres_behind(cluster->seq, shown->seq);
    postgres_show_members(ps, cluster);
}

//
// The table
//

static const struct journal_place postgres_place = {.key = "shard",
                                                    .medium = "a database",
                                                    .commits = true,
                                                    .name = postgres_shard,
                                                    .prepare = postgres_prepare,
                                                    .stop_opening = postgres_stop_opening,
                                                    .closing = postgres_closing,
                                                    .show = postgres_show,
                                                    .free = postgres_free};

static const struct store_shared_ops postgres_shared_ops = {
    .advertise = postgres_advertise,
    .standing = postgres_standing,
    .fence = postgres_fence,
    .hand_over = postgres_hand_over,
    .owner = postgres_owner,
    .cluster = postgres_cluster,
};

static enum pg_demand postgres_demand(const struct store_settings *settings)
{
    switch ((enum store_quorum)settings->quorum) {
    case QUORUM_NO:
        return PG_DEMAND_NOTHING;
    case QUORUM_WARN:
        return PG_DEMAND_WARN;
    case QUORUM_YES:
        return PG_DEMAND_QUORUM;
    }
    UNREACHABLE();
}

// A name that no other process has, not even the successor of this one.
static void postgres_name_node(struct postgres_store *store, const char *host)
{
    (void)snprintf(store->node, sizeof store->node, "%.64s-%ld-%016" PRIx64, host, (long)getpid(),
                   facts_secret());
}

struct store *store_postgres_make(const struct store_settings *settings,
                                  const struct store_options *options, const char *host,
                                  struct error_text *why)
{
    struct postgres_store *store = calloc(1, sizeof *store);
    struct pg_settings theirs = {.shard = settings->shard,
                                 .ttl_for = postgres_ttl(settings),
                                 .takes = settings->role == STORE_ROLE_AUTO,
                                 .yields = options->yields,
                                 .again = options->again,
                                 .demand = postgres_demand(settings),
                                 .boot = clock_boot,
                                 .clock = clock_now};
    struct task_runner runner;

    if (!store) {
        error_set(why, "out of memory");
        return NULL;
    }
    postgres_name_node(store, host);
    theirs.node = store->node;
    theirs.address = store->addresses;
    store->journal = (struct journal_store){.store.shared = &postgres_shared_ops,
                                            .place = &postgres_place,
                                            .settings = settings,
                                            .options = *options};
    store->storage = journal_pg_new(&theirs);
    runner = journal_pg_runner(store->storage);
    return journal_store_make(&store->journal, store->storage, &runner, host, why)
               ? &store->journal.store
               : NULL;
}

enum exit_reason store_init(const struct store_settings *settings, FILE *output,
                            struct error_text *why)
{
    char said[SCHEMA_TEXT_SIZE];

    if (settings->store != STORE_POSTGRES) {
        error_set(why, "--init-store: needs `store = postgres` in [journal]");
        return EXIT_REASON_USAGE;
    }
    if (!journal_pg_init_store(settings->postgres, settings->shard, said, sizeof said)) {
        error_set(why, "--init-store: %s", said);
        return EXIT_REASON_JOURNAL;
    }
    (void)fprintf(output, "-- The database keeps a journal for the shard %s.\n%s", settings->shard,
                  said);
    return EXIT_REASON_NONE;
}
