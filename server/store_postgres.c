/* SPDX-License-Identifier: MIT */
#include "server/store_postgres.h"

#include "core/base/log.h"
#include "journal/pg/journal_rows.h"
#include "journal/pg/pg.h"
#include "proto_common/sight_cluster.h"
#include "server/journal_store.h"
#include "server/process/clock.h"
#include "server/process/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// How long the database may take for an answer, in shares of the lease's time.
enum { PATIENCE_SHARE = 1 };

struct postgres_store {
    struct journal_store journal;
    struct storage *storage;   // the journal's
    struct journal_rows *rows; // the storage's; NULL before it is opened
    char node[ROWS_NAME_MAX];
    char addresses[ROWS_ADDRESS_MAX];
    struct ownership_snapshot shown;               // as it was looked at last
    struct sight_member members[ROWS_MEMBERS_MAX]; // of that
};

static struct postgres_store *postgres_of(const struct store *store)
{
    return container_of(journal_store_of(store), struct postgres_store, journal);
}

static nsec_t ttl_for(const struct store_settings *settings)
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

static bool postgres_open_begin(struct store *store, struct event_base *base, struct broker *broker,
                                struct error_text *why)
{
    struct postgres_store *ps = postgres_of(store);
    const struct store_settings *settings = ps->journal.settings;
    const struct rows_settings theirs = {.conninfo = settings->postgres,
                                         .shard = settings->shard,
                                         .holder = ps->node,
                                         .address = ps->addresses,
                                         .ttl_for = ttl_for(settings),
                                         .patience_for = ttl_for(settings) / PATIENCE_SHARE};

    ps->rows = journal_rows_libpq_new(&theirs);
    if (!ps->rows) {
        return error_set(why, "out of memory or descriptors");
    }
    journal_pg_use(ps->storage, ps->rows);
    return journal_store_open_begin(store, base, broker, why);
}

static void postgres_stop_opening(struct store *store)
{
    journal_store_stop_opening(store);
    postgres_of(store)->rows->ops->stop(postgres_of(store)->rows);
}

static const struct fence *postgres_fence(const struct store *store)
{
    return journal_pg_fence(postgres_of(store)->storage);
}

// What another has now, or may have, is not waited for.
static bool postgres_close(struct store *store)
{
    struct postgres_store *ps = postgres_of(store);

    if (ps->rows && (journal_is_lost(ps->journal.journal) ||
                     !fence_is_open(postgres_fence(store), clock_boot()))) {
        ps->rows->ops->stop(ps->rows);
    }
    return journal_store_close(store);
}

static bool open_nothing(struct journal_store *store, struct error_text *why)
{
    (void)store;
    (void)why;
    return true;
}

static const char *shard_name(const struct journal_store *store)
{
    return store->settings->shard;
}

static void show_nothing(const struct journal_store *store, struct sight_journal *journal)
{
    (void)store;
    journal->disk_free = UINT64_MAX;
}

static void free_store(struct journal_store *store)
{
    free(container_of(store, struct postgres_store, journal));
}

//
// How it stands
//

static const struct ownership_snapshot *look(const struct store *store)
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
    log_info("handing_over", log_string("shard", shard_name(journal_store_of(store))));
}

static nsec_t left_for(const struct ownership_snapshot *shown)
{
    nsec_t left_for = shown->lease.left_for - (clock_boot() - shown->lease_at);

    return shown->lease_at == 0 || shown->lease.released || left_for < 0 ? 0 : left_for;
}

// Whether somebody owns it, as far as is known: who reads for longer than a lease lasts has not
// looked meanwhile.
static bool is_owned(const struct ownership_snapshot *shown)
{
    bool was_owned = shown->lease_at != 0 && !shown->lease.released && shown->lease.left_for > 0;

    return left_for(shown) > 0 || (was_owned && shown->role == OWNERSHIP_READING);
}

static void postgres_owner(const struct store *store, struct store_owner *owner)
{
    const struct ownership_snapshot *shown = look(store);

    *owner = (struct store_owner){.epoch = shown->lease.epoch};
    if (is_owned(shown)) {
        (void)snprintf(owner->name, sizeof owner->name, "%s", shown->lease.holder);
        (void)snprintf(owner->address, sizeof owner->address, "%s", shown->lease.address);
    }
}

static enum sight_role role_of(const struct store *store, const struct ownership_snapshot *shown)
{
    switch (postgres_standing(store)) {
    case STORE_OWNS:
        return SIGHT_OWNER;
    case STORE_UNSURE:
    case STORE_LOST:
        return SIGHT_UNSURE;
    case STORE_ALONE:
    case STORE_FOLLOWS:
        break;
    }
    return shown->role == OWNERSHIP_STANDBY && shown->connected ? SIGHT_STANDBY : SIGHT_OPENING;
}

static uint64_t behind(uint64_t all, uint64_t seq)
{
    return all > seq ? all - seq : 0;
}

static void show_members(struct postgres_store *ps, struct sight_cluster *cluster)
{
    for (size_t i = 0; i < ps->shown.count; i++) {
        const struct rows_member *member = &ps->shown.members[i];

        ps->members[i] = (struct sight_member){.node = member->node,
                                               .address = member->address,
                                               .owner = member->owner,
                                               .takes_over = member->takes,
                                               .self = strcmp(member->node, ps->node) == 0,
                                               .epoch = member->epoch,
                                               .behind = behind(cluster->seq, member->seq),
                                               .seen_for = member->seen_for};
    }
    cluster->members = ps->members;
    cluster->count = ps->shown.count;
}

static void postgres_cluster(const struct store *store, struct sight_cluster *cluster)
{
    struct postgres_store *ps = postgres_of(store);
    const struct ownership_snapshot *shown = look(store);
    bool owned = is_owned(shown);

    *cluster = (struct sight_cluster){
        .role = role_of(store, shown),
        .shard = shard_name(&ps->journal),
        .node = ps->node,
        .owner = owned ? shown->lease.holder : "",
        .owner_address = owned ? shown->lease.address : "",
        .epoch = shown->lease.epoch,
        .since_ms = shown->lease.since_ms,
        .seq = shown->lease.seq > shown->seq ? shown->lease.seq : shown->seq,
        .lease_left_for = left_for(shown),
        .connected = shown->connected,
        .durable = rows_commits_are_durable(&shown->durability),
        .replicated = shown->durability.standbys_wait,
        .care = shown->durability.text,
        .why = shown->why,
    };
    cluster->behind = behind(cluster->seq, shown->seq);
    show_members(ps, cluster);
}

//
// The table
//

static const struct journal_place place = {.key = "shard",
                                           .medium = "a database",
                                           .name = shard_name,
                                           .open = open_nothing,
                                           .show = show_nothing,
                                           .free = free_store,
                                           .commits = true};

static const struct store_ops ops = {
    .record = journal_store_record,
    .open_begin = postgres_open_begin,
    .is_opening = journal_store_is_opening,
    .progress = journal_store_progress,
    .log_progress = journal_store_log_progress,
    .stop_opening = postgres_stop_opening,
    .open_end = journal_store_open_end,
    .host = journal_store_host,
    .turn = journal_store_turn,
    .reached = journal_store_reached,
    .next_due = journal_store_next_due,
    .pressure = journal_store_pressure,
    .gave_up = journal_store_gave_up,
    .resumed = journal_store_resumed,
    .show = journal_store_show,
    .advertise = postgres_advertise,
    .standing = postgres_standing,
    .fence = postgres_fence,
    .hand_over = postgres_hand_over,
    .owner = postgres_owner,
    .cluster = postgres_cluster,
    .close = postgres_close,
};

static enum pg_demand demand_of(const struct store_settings *settings)
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

// A name that no other process has, nor this one's successor.
static void name_node(struct postgres_store *store, const char *host)
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
                                 .ttl_for = ttl_for(settings),
                                 .takes = settings->role == STORE_ROLE_AUTO,
                                 .yields = options->yields,
                                 .again = options->again,
                                 .demand = demand_of(settings),
                                 .boot = clock_boot,
                                 .clock = clock_now};
    struct task_runner runner;

    if (!store) {
        error_set(why, "out of memory");
        return NULL;
    }
    name_node(store, host);
    theirs.node = store->node;
    theirs.address = store->addresses;
    store->journal = (struct journal_store){
        .store.ops = &ops, .place = &place, .settings = settings, .options = *options};
    store->storage = journal_pg_new(&theirs);
    runner = journal_pg_runner(store->storage);
    if (journal_store_make(&store->journal, store->storage, &runner, host, why)) {
        return &store->journal.store;
    }
    (void)journal_store_close(&store->journal.store);
    return NULL;
}
