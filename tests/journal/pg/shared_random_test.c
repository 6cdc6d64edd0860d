/* SPDX-License-Identifier: MIT */
// Two processes share a journal. Jobs are submitted and end, commits fail or are in doubt, owners
// are killed, sleep for too long or leave, and the other process, which has followed, takes over,
// all at random. Acknowledged jobs are there, and jobs whose end was acknowledged are not. To
// repeat a failed run, set TEST_JOURNAL_SEED to the seed that it printed.
#include "core/base/hash.h"
#include "tests/journal/pg/shared_bed.h"

#include <stdlib.h>
#include <string.h>

enum { SEEDS = 20, TAKEOVERS = 8, ENTRIES = 4096 };

enum state_of {
    IS_UNSURE, // it may be there, or not
    IS_KEPT,
    IS_ENDED
};

struct entry {
    uint64_t id;
    enum state_of now;
    enum state_of then; // the position of the last record
    uint64_t position;  // that says so
};

struct game {
    struct shared_bed *bed;
    uint64_t dice;
    struct member *owner;
    uint64_t elsewhere; // positions up to this one may be with another server of the database
    unsigned ends_at;   // the owner ends when the other has waited so often
    struct entry entries[ENTRIES];
    size_t count;
};

static struct game game;
static enum state_of in_db[ENTRIES]; // the state of an entry that the database has in any case
static bool ends[ENTRIES];           // whether it may have the record of the job's end

static uint64_t roll(uint64_t bound)
{
    game.dice ^= game.dice << 13;
    game.dice ^= game.dice >> 7;
    game.dice ^= game.dice << 17;
    return (game.dice >> 32) % bound;
}

// All that the owner has acknowledged so far is true.
static void note_acknowledged(void)
{
    if (!member_acknowledged(game.owner)) {
        return;
    }
    for (size_t i = 0; i < game.count; i++) {
        game.entries[i].now = game.entries[i].then;
    }
}

// If the database fails over back and forth, an owner may not know the ids that another owner gave
// out on another server.
static bool may_be_given_again(size_t i)
{
    if (game.bed->names) {
        game.entries[i] = (struct entry){.id = 0};
    }
    return game.bed->names;
}

static void put(void)
{
    static const size_t lens[] = {10, 100, 3000, 20000};
    uint64_t id = game.count < ENTRIES ? member_put(game.owner, "q", lens[roll(4)]) : 0;

    if (id > 0) {
        for (size_t i = 0; i < game.count; i++) {
            assert_true(game.entries[i].id != id || may_be_given_again(i));
        }
        game.entries[game.count++] = (struct entry){
            .id = id, .now = IS_UNSURE, .then = IS_KEPT, .position = game.owner->last};
    }
}

static void end(void)
{
    struct entry *entry = game.count ? &game.entries[roll(game.count)] : NULL;

    if (entry && entry->id > 0 && member_has(game.owner, entry->id)) {
        member_end(game.owner, entry->id);
        entry->now = entry->now == IS_KEPT ? IS_UNSURE : entry->now;
        entry->then = IS_ENDED;
        entry->position = game.owner->last;
        ends[entry - game.entries] = true;
    }
}

static void go_wrong(struct member *member)
{
    static const enum fake_fate fates[] = {FATE_AWAY, FATE_DONE, FATE_UNDONE};

    if (roll(4) == 0) {
        fake_rows_set_fate(member->rows, fates[roll(3)], 1 + (unsigned)roll(4));
    }
    member->rows->cut = roll(30) == 0;
    member->rows->unremovable = roll(2) == 0;
}

static void work(void)
{
    for (uint64_t i = roll(8); i > 0; i--) {
        if (roll(5) < 3) {
            put();
        } else {
            end();
        }
    }
    go_wrong(game.owner);
    member_turns(game.owner);
    note_acknowledged();
}

// It leaves, is killed, or sleeps until another has taken over.
static void end_owner(void)
{
    switch (roll(3)) {
    case 0:
        member_close(game.owner);
        return;
    case 1:
        member_kill(game.owner);
        return;
    default:
        return;
    }
}

static void while_it_follows(struct member *self)
{
    go_wrong(self);
    self->rows->cut |= roll(10) == 0;
    if (self->step < game.ends_at) {
        work();
    } else if (game.owner->journal && self->step == game.ends_at) {
        end_owner();
    } else if (roll(3) == 0) {
        self->rows->cut = false;
    }
}

// Between its look at the lease and its reading.
static void while_it_reads(void *context, uint64_t unit)
{
    const struct member *self = context;

    (void)unit;
    for (uint64_t i = roll(6); i > 0 && game.owner->journal && self->step < game.ends_at; i--) {
        work();
    }
}

static void have_others_work_while_it_reads(struct member *self)
{
    self->rows->reads = while_it_reads;
}

static void compare(void)
{
    uint64_t there = 0;

    for (size_t i = 0; i < game.count; i++) {
        struct entry *entry = &game.entries[i];
        bool has = member_has(game.owner, entry->id);

        assert_true(has || entry->now != IS_KEPT);
        assert_true(!has || entry->now != IS_ENDED);
        entry->now = has ? IS_KEPT : IS_ENDED;
        entry->then = entry->now;
        there += has;
    }
    assert_int_equal(member_count(game.owner), there);
}

static void take_over(void)
{
    struct member *next = game.owner == &game.bed->a ? &game.bed->b : &game.bed->a;

    game.ends_at = 1 + (unsigned)roll(60);
    next->made = have_others_work_while_it_reads;
    next->script = while_it_follows;
    if (!member_open(next)) {
        fail_msg("not opened: %s", next->why.text);
    }
    next->script = NULL;
    next->rows->cut = false;
    if (game.owner->journal) {
        bool was = member_acknowledged(game.owner);

        put();
        member_turns(game.owner);
        assert_false(member_may_answer(game.owner));
        assert_true(was || !member_acknowledged(game.owner));
        member_kill(game.owner);
    }
    game.owner = next;
    compare();
}

static void play(unsigned long seed)
{
    game = (struct game){.bed = shared_bed_new(), .dice = hash_mix(seed) | 1};
    game.owner = &game.bed->a;
    assert_true(member_open(game.owner));
    for (int i = 0; i < TAKEOVERS; i++) {
        take_over();
    }
    assert_in_range(game.bed->db->most_units, 1, ROWS_UNITS_MAX);
    shared_bed_free(game.bed);
}

static unsigned long first_seed(void);
static unsigned long seeds(unsigned long count);

static void nothing_acknowledged_is_lost_and_nothing_ended_comes_back(void **state)
{
    unsigned long first = first_seed();

    (void)state;
    for (unsigned long seed = first; seed < first + seeds(SEEDS); seed++) {
        print_message("seed %lu\n", seed);
        play(seed);
    }
}

//
// Failovers of the database
//

// Other servers of the database, copies of it at some moment, take over at any later moment, back
// and forth. Their content is never destroyed: the process that opens the journal afterwards has
// each job that was acknowledged before the copy was made and has not ended since. And the jobs of
// an owner are durable once it has had the time to rewrite them, or has ended in good order.

enum { COPIES = 4, FAILOVER_SEEDS = 40 };

struct copy {
    struct fake_db *db;
    enum state_of in_db[ENTRIES];
    bool ends[ENTRIES];
};

static struct copy copies[COPIES];
// Whether any database since the present opening began may have that record. A process that has
// followed that database, and is ahead of the next one, goes on with the rows that it has read: so
// a job may end there that another owner has served meanwhile.
static bool ends_met[ENTRIES];

// Acknowledged jobs are in the database, and if nothing is left to be rewritten, all jobs are.
static void note_durable(void)
{
    bool sound = member_is_sound(game.owner);
    bool there = member_has_same_database(game.owner);

    if (!member_acknowledged(game.owner)) {
        return;
    }
    for (size_t i = 0; i < game.count; i++) {
        struct entry *entry = &game.entries[i];

        if (sound || (there && entry->now != entry->then && entry->position > game.elsewhere)) {
            in_db[i] = entry->then;
        } else if (entry->now != entry->then) {
            in_db[i] = IS_UNSURE;
        }
        entry->now = entry->then;
    }
}

// Unacknowledged jobs may be in the database.
static void copy_what_is_there(enum state_of to[ENTRIES])
{
    for (size_t i = 0; i < ENTRIES; i++) {
        bool settled = i < game.count && game.entries[i].now == game.entries[i].then;

        to[i] = settled ? in_db[i] : IS_UNSURE;
    }
}

static void meet(const bool more[ENTRIES])
{
    for (size_t i = 0; i < ENTRIES; i++) {
        ends_met[i] |= more[i];
    }
}

static void make_copy(void)
{
    struct copy *copy = &copies[roll(COPIES)];

    if (copy->db) {
        fake_db_free(copy->db);
    }
    copy->db = fake_db_copy(game.bed->db);
    copy_what_is_there(copy->in_db);
    memcpy(copy->ends, ends, sizeof ends);
}

static void fail_over(void)
{
    static struct copy was;
    struct copy *copy = &copies[roll(COPIES)];

    if (!copy->db) {
        return;
    }
    if (game.owner->journal) {
        game.elsewhere = journal_reached(game.owner->journal) + 1;
    }
    // The other one may take over again.
    was.db = fake_db_copy(game.bed->db);
    copy_what_is_there(was.in_db);
    memcpy(was.ends, ends, sizeof ends);
    meet(ends);
    fake_db_restore(game.bed->db, copy->db);
    memcpy(in_db, copy->in_db, sizeof in_db);
    memcpy(ends, copy->ends, sizeof ends);
    fake_db_free(copy->db);
    *copy = was;
    // The owner learns of this one, too.
    for (size_t i = 0; i < game.count && game.owner->journal; i++) {
        ends[i] |= game.entries[i].then == IS_ENDED;
    }
    meet(ends);
}

static void owner_works(void)
{
    for (uint64_t i = roll(8); i > 0; i--) {
        if (roll(5) < 3) {
            put();
        } else {
            end();
        }
    }
    go_wrong(game.owner);
    member_turns(game.owner);
    note_durable();
    if (journal_is_lost(game.owner->journal)) {
        member_kill(game.owner);
    }
}

static void owner_rests(void)
{
    game.owner->rows->cut = false;
    game.owner->rows->unremovable = false;
    fake_rows_set_fate(game.owner->rows, FATE_NORMAL, 1);
    for (int i = 0; i < 300 && game.owner->journal; i++) {
        member_pass(game.owner, MSEC(50));
        note_durable();
        if (journal_is_lost(game.owner->journal)) {
            member_kill(game.owner);
        } else if (member_is_sound(game.owner)) {
            return;
        }
    }
    assert_null(game.owner->journal);
}

static void owner_ends(void)
{
    switch (roll(4)) {
    case 0:
        game.owner->rows->cut = false;
        member_close(game.owner);
        for (size_t i = 0;
             game.owner->closed_well && game.bed->db->lease.released && i < game.count; i++) {
            game.entries[i].now = game.entries[i].then;
            in_db[i] = game.entries[i].then;
        }
        return;
    case 1:
    case 2:
        member_kill(game.owner);
        return;
    default:
        return;
    }
}

static void database_lives(void)
{
    if (roll(6) == 0) {
        make_copy();
    }
    if (roll(12) == 0) {
        fail_over();
    }
}

static void while_the_database_fails_over(struct member *self)
{
    go_wrong(self);
    self->rows->cut |= roll(10) == 0;
    if (game.owner->journal && self->step < game.ends_at) {
        database_lives();
        owner_works();
    } else if (game.owner->journal && self->step == game.ends_at) {
        owner_ends();
    } else if (roll(3) == 0) {
        self->rows->cut = false;
        if (roll(20) == 0) {
            fail_over();
        }
    }
}

static void while_it_reads_of_failovers(void *context, uint64_t unit)
{
    const struct member *self = context;

    (void)unit;
    for (uint64_t i = roll(6); i > 0 && game.owner->journal && self->step < game.ends_at; i--) {
        database_lives();
        owner_works();
    }
}

static void fail_over_while_it_reads(struct member *self)
{
    self->rows->reads = while_it_reads_of_failovers;
}

static void compare_with_database(void)
{
    for (size_t i = 0; i < game.count; i++) {
        struct entry *entry = &game.entries[i];
        bool has = entry->id > 0 && member_has(game.owner, entry->id);

        assert_true(has || entry->now != IS_KEPT || in_db[i] != IS_KEPT || ends_met[i]);
        assert_true(!has || entry->now != IS_ENDED || in_db[i] != IS_ENDED);
        entry->now = has ? IS_KEPT : IS_ENDED;
        entry->then = entry->now;
        in_db[i] = in_db[i] == entry->now ? entry->now : IS_UNSURE;
        ends[i] = !has;
    }
}

// It may find repeatedly that the rows that it has read are lost, and begin again.
static void open_next(struct member *next)
{
    memcpy(ends_met, ends, sizeof ends);
    for (int i = 0; !member_open(next); i++) {
        if (!next->lost || i > 50) {
            fail_msg("not opened: %s", next->why.text);
        }
        memcpy(ends_met, ends, sizeof ends);
    }
}

static void take_over_from_failing(void)
{
    struct member *next = game.owner == &game.bed->a ? &game.bed->b : &game.bed->a;
    bool follows = roll(3) > 0;

    game.ends_at = 1 + (unsigned)roll(60);
    if (!follows) {
        for (unsigned i = 0; i < game.ends_at && game.owner->journal; i++) {
            database_lives();
            owner_works();
            shared_pass(game.bed, MSEC(50));
        }
        if (game.owner->journal && roll(2)) {
            owner_rests();
        }
        member_kill(game.owner);
    }
    next->made = follows ? fail_over_while_it_reads : NULL;
    next->script = follows ? while_the_database_fails_over : NULL;
    open_next(next);
    next->script = NULL;
    next->rows->reads = NULL;
    next->rows->cut = false;
    if (game.owner->journal) {
        member_kill(game.owner);
    }
    game.owner = next;
    game.elsewhere = 0;
    compare_with_database();
}

static void play_failovers(unsigned long seed)
{
    game = (struct game){.bed = shared_bed_new(), .dice = hash_mix(seed) | 1};
    game.bed->names = true;
    memset(in_db, 0, sizeof in_db);
    memset(ends, 0, sizeof ends);
    game.owner = &game.bed->a;
    assert_true(member_open(game.owner));
    for (int i = 0; i < TAKEOVERS; i++) {
        take_over_from_failing();
    }
    owner_rests();
    member_kill(&game.bed->a);
    member_kill(&game.bed->b);
    for (int i = 0; i < COPIES; i++) {
        if (copies[i].db) {
            fake_db_free(copies[i].db);
        }
        copies[i].db = NULL;
    }
    shared_bed_free(game.bed);
}

static unsigned long first_seed(void)
{
    const char *text = getenv("TEST_JOURNAL_SEED");

    return text ? strtoul(text, NULL, 10) : 1;
}

static unsigned long seeds(unsigned long count)
{
    const char *text = getenv("TEST_JOURNAL_SEEDS");

    return text ? strtoul(text, NULL, 10) : count;
}

static void rows_left_by_a_failover_are_never_destroyed(void **state)
{
    unsigned long first = first_seed();

    (void)state;
    for (unsigned long seed = first; seed < first + seeds(FAILOVER_SEEDS); seed++) {
        print_message("seed %lu\n", seed);
        play_failovers(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_and_nothing_ended_comes_back),
        cmocka_unit_test(rows_left_by_a_failover_are_never_destroyed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
