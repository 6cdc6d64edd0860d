/* SPDX-License-Identifier: MIT */
// Random verbs by sessions that take from thousands of queues and by others beside them, while
// their links are made and undone and their grants change in slices. Each session gets only jobs
// that it may have, and when no work remains, no session waits for a ready job. To repeat a run
// that failed, set TEST_SEED to the seed that it printed.
#include "tests/core/stage.h"
#include "tests/support/rights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// The links that are made, undone or checked at once.
enum { AT_ONCE = 16 * BROKER_SLICE };
enum { QUEUES = 2 * AT_ONCE + 300, PLAYERS = 6, WIDE = 3, RUNS = 4, STEPS = 3000, GRANTS = 4 };

enum { HELD_MAX = 64 };

struct game;

struct player {
    struct game *game;
    struct session *session;
    bool wide;
    bool in_turn;
    bool judged; // all subscriptions were checked against the last grants
    int grants;  // which
    bool waits;  // for a job, and was not told the end of the wait
    bool awaits; // a nudge
    uint64_t held[HELD_MAX];
    unsigned holds;
};

struct game {
    struct stage *s;
    uint64_t random;
    struct player players[PLAYERS];
    struct grants *grants[GRANTS];
    unsigned leases; // with which waits have ended
};

static uint32_t below(struct game *g, uint32_t bound)
{
    g->random ^= g->random << 13;
    g->random ^= g->random >> 7;
    g->random ^= g->random << 17;
    return (uint32_t)(g->random >> 32) % bound;
}

static struct slice queue_of(unsigned number)
{
    static char name[16];

    return slice_of(name, (size_t)snprintf(name, sizeof name, "q%u", number));
}

// Chooses the queues that a session subscribes to first or last more often than others.
static unsigned some_queue(struct game *g)
{
    uint32_t near = below(g, 5);

    if (near < 2) {
        return below(g, 6);
    }
    return near == 2 ? QUEUES - 1 - below(g, 6) : below(g, QUEUES);
}

static bool may_work(const struct player *p, struct slice name)
{
    struct grants *grants = p->game->grants[p->grants];

    return !grants || (rights_on(grants, name) & MAY_WORK);
}

//
// Events of players
//

static void player_holds(struct player *p, const struct job *job)
{
    assert_true(may_work(p, queue_name(job_queue(p->game->s->broker, job))));
    assert_true(p->holds < HELD_MAX);
    p->held[p->holds++] = job_id(job);
}

static void on_leased(void *owner, const struct job *job)
{
    struct player *p = owner;

    assert_true(p->waits);
    p->waits = false;
    p->game->leases++;
    player_holds(p, job);
}

static void on_wait_over(void *owner, enum wait_end why)
{
    struct player *p = owner;

    (void)why;
    assert_true(p->waits);
    p->waits = false;
}

static void on_nudged(void *owner)
{
    struct player *p = owner;

    assert_true(p->awaits);
    p->awaits = false;
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    fail();
}

static const struct session_ops player_ops = {
    .leased = on_leased,
    .wait_over = on_wait_over,
    .nudged = on_nudged,
    .job_event = on_job_event,
};

//
// Moves
//

static void subscribe(struct player *p, unsigned queue)
{
    const struct subscription_terms terms = {.limit_for = 0};

    if (!p->waits) {
        enum status status = broker_subscribe(p->session, queue_of(queue), &terms);

        assert_true(status == STATUS_OK || status == STATUS_FORBIDDEN);
    }
}

static void join(struct player *p)
{
    enum status status =
        broker_session_open(p->game->s->broker, &player_ops, p,
                            p->in_turn ? CHOICE_IN_TURN : CHOICE_OLDEST, &p->session);

    assert_status(STATUS_OK, status);
    p->judged = true;
    p->grants = 0;
    p->waits = false;
    p->awaits = false;
    p->holds = 0;
    for (unsigned i = 0; i < (p->wide ? QUEUES : 8); i++) {
        subscribe(p, p->wide ? i : some_queue(p->game));
    }
}

static void move_leave(struct player *p)
{
    if (below(p->game, 8) == 0) {
        broker_session_close(p->session);
        join(p);
    }
}

static void move_take(struct player *p)
{
    const struct job *job;

    if (!p->waits && p->holds < HELD_MAX / 2 && broker_take(p->session, &job) == STATUS_OK) {
        player_holds(p, job);
    }
}

// A worker takes all ready jobs before it waits.
static void move_wait(struct player *p)
{
    nsec_t until = below(p->game, 3) ? NSEC_NEVER : p->game->s->now.mono + SEC(1);
    const struct job *job;

    if (p->waits || p->holds >= HELD_MAX / 2) {
        return;
    }
    while (broker_take(p->session, &job) == STATUS_OK) {
        assert_true(may_work(p, queue_name(job_queue(p->game->s->broker, job))));
        assert_status(STATUS_OK, broker_complete(p->session, job_id(job), NULL));
    }
    p->waits = broker_wait(p->session, until, -1) == STATUS_OK;
    p->awaits = p->awaits && !p->waits;
}

static void move_await_nudge(struct player *p)
{
    if (!p->waits) {
        p->awaits = true;
        (void)broker_await_nudge(p->session);
    }
}

static void move_unwait(struct player *p)
{
    // A job that was assigned is still told.
    if (broker_unwait(p->session)) {
        p->waits = false;
    }
    p->awaits = false;
}

static void move_end(struct player *p)
{
    struct game *g = p->game;
    uint64_t id;

    if (p->holds == 0) {
        return;
    }
    id = p->held[--p->holds];
    if (below(g, 3)) {
        assert_status(STATUS_OK, broker_complete(p->session, id, NULL));
    } else {
        assert_status(STATUS_OK, broker_release(p->session, id, below(g, 3), 0));
    }
}

static void move_subscribe(struct player *p)
{
    subscribe(p, some_queue(p->game));
}

static void move_unsubscribe(struct player *p)
{
    (void)broker_unsubscribe(p->session, queue_of(some_queue(p->game)), false);
}

// Down to about a slice, or a little less.
static void move_shrink(struct player *p)
{
    struct game *g = p->game;

    if (!p->wide || below(g, 16)) {
        return;
    }
    for (unsigned i = 0; i < QUEUES && session_subscriptions(p->session) > AT_ONCE - 3; i++) {
        (void)broker_unsubscribe(p->session, queue_of(i), false);
        if (session_subscriptions(p->session) == AT_ONCE + 2 && below(g, 2)) {
            return;
        }
    }
}

static void move_grow(struct player *p)
{
    for (unsigned i = 0; p->wide && below(p->game, 8) == 0 && i < QUEUES; i++) {
        subscribe(p, i);
    }
}

static void note_granted(struct player *p, enum grant_progress progress)
{
    p->judged = progress != GRANT_MORE;
}

static void move_grant(struct player *p)
{
    p->grants = (int)below(p->game, GRANTS);
    note_granted(p, broker_session_grant(p->session, p->game->grants[p->grants]));
}

static void move_put(struct game *g)
{
    for (uint32_t count = below(g, 3); count > 0; count--) {
        struct job_spec spec = {.pri = below(g, 3), .ttr_for = 0, .durable = true};
        struct submission submission;

        assert_status(STATUS_OK, broker_submit_to(g->s->broker, queue_of(some_queue(g)), &spec,
                                                  NULL, &submission));
    }
}

static void move_player(struct game *g)
{
    static void (*const moves[])(struct player *) = {
        move_leave,     move_take,        move_wait,   move_wait, move_await_nudge,
        move_unwait,    move_end,         move_end,    move_end,  move_end,
        move_subscribe, move_unsubscribe, move_shrink, move_grow, move_grant,
    };
    struct player *p = &g->players[below(g, PLAYERS)];

    // A session whose grants are being checked calls no other verb.
    if (p->judged) {
        moves[below(g, sizeof moves / sizeof *moves)](p);
    } else if (below(g, 4) == 0) {
        move_grant(p);
    } else if (below(g, 64) == 0) {
        broker_session_close(p->session);
        join(p);
    } else {
        note_granted(p, broker_session_grant(p->session, g->grants[p->grants]));
    }
}

//
// The game
//

static void settle(struct game *g)
{
    while (broker_settle(g->s->broker)) {
    }
}

static void tick(struct game *g)
{
    if (below(g, 16) == 0) {
        g->s->now.mono += MSEC(below(g, 1500));
    }
    broker_tick(g->s->broker, g->s->now);
}

// No work remains: no waiting session may have a ready job.
static void check_waits(struct game *g)
{
    for (int i = 0; i < PLAYERS; i++) {
        struct player *p = &g->players[i];
        const struct subscription *cursor = NULL;
        struct queue *queue;

        while (p->judged && (p->waits || p->awaits) &&
               (queue = session_queue_next(p->session, &cursor))) {
            assert_true(!queue_peek_ready(queue) || !may_work(p, queue_name(queue)));
        }
    }
}

static void rest(struct game *g)
{
    for (int i = 0; i < PLAYERS; i++) {
        struct player *p = &g->players[i];

        while (below(g, 2) && !p->judged) {
            note_granted(p, broker_session_grant(p->session, g->grants[p->grants]));
        }
    }
    settle(g);
    while (broker_next_due(g->s->broker) <= g->s->now.mono) {
        broker_tick(g->s->broker, g->s->now);
        settle(g);
    }
    check_waits(g);
}

static void play(struct game *g)
{
    for (int step = 0; step < STEPS; step++) {
        switch (below(g, 16)) {
        case 0:
            move_put(g);
            break;
        case 1:
        case 2:
        case 3:
        case 4:
            tick(g);
            break;
        default:
            move_player(g);
            break;
        }
        // Jobs that were assigned under these grants are told under them.
        settle(g);
        if (below(g, 16) == 0) {
            stage_step(g->s);
        }
        if (below(g, 100) == 0) {
            rest(g);
        }
    }
    rest(g);
    stage_step(g->s);
}

static void make_grants(struct game *g)
{
    static const struct grant odd[] = {
        {MAY_WORK, {"*1", 2}}, {MAY_WORK, {"*3", 2}}, {MAY_WORK, {"*5", 2}},
        {MAY_WORK, {"*7", 2}}, {MAY_WORK, {"*9", 2}},
    };
    static const struct grant small[] = {{MAY_WORK, {"q?", 2}}, {MAY_WORK, {"q2*", 3}}};
    static const struct grant none[] = {{MAY_OBSERVE, {"*", 1}}};

    g->grants[1] = grants_new(odd, 5);
    g->grants[2] = grants_new(small, 2);
    g->grants[3] = grants_new(none, 1);
}

static void play_once(struct stage *s, uint64_t seed)
{
    struct game game = {.s = s, .random = seed};

    print_message("TEST_SEED=%" PRIu64 "\n", seed);
    make_grants(&game);
    for (int i = 0; i < PLAYERS; i++) {
        game.players[i] = (struct player){.game = &game, .wide = i < WIDE, .in_turn = i % 2};
        join(&game.players[i]);
    }
    play(&game);
    assert_true(game.leases > 20);
    for (int i = 0; i < PLAYERS; i++) {
        broker_session_close(game.players[i].session);
    }
    for (int i = 0; i < GRANTS; i++) {
        grants_unref(game.grants[i]);
    }
    stage_settle(s);
}

static void wide_sessions_get_the_jobs_that_are_theirs(void **state)
{
    const char *given = getenv("TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : UINT64_C(20261127);

    for (int run = 0; run < (given ? 1 : RUNS); run++) {
        void *stage = NULL;

        (void)stage_setup(&stage);
        play_once(stage, seed + (uint64_t)run * 1000);
        (void)stage_teardown(&stage);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_sessions_get_the_jobs_that_are_theirs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
