/* SPDX-License-Identifier: MIT */
#include "tests/journal/journal_work.h"

#include "tests/support/broker_check.h"
#include "tests/support/policies.h"

enum { FIRST = 6, ROUNDS = 5, IDS = 64, FEW = 12 };

// The statuses that any verb may return.
static void expect_fair(enum status status)
{
    assert_true(status == STATUS_OK || status == STATUS_NO_SPACE || status == STATUS_NO_MEMORY ||
                status == STATUS_NOT_FOUND || status == STATUS_WRONG_STATE ||
                status == STATUS_HELD);
}

// In the first two queues, a job is tried twice; then it moves to the last one. After a restart,
// attempts whose records did not fit are missing, as those of a lease are.
static void set_policy(struct bed *bed)
{
    const struct policy_rule rule = {
        .glob = SLICE("q[01]"),
        .spec = {.max_attempts = 2,
                 .on_exhausted = ON_EXHAUSTED_MOVE,
                 .dead_queue = bed_queue(BED_QUEUES - 1)},
    };

    // Without memory, there is none this time.
    (void)!set_policies(bed->broker, &rule, 1);
}

static void step(struct bed *bed)
{
    broker_check(bed->broker);
    (void)bed_turns(bed);
}

//
// Always the same
//

// Jobs that stay, in different states; they are written again when their segment is emptied.
static void begin(struct bed *bed, uint64_t ids[FIRST])
{
    ids[0] = BED_PUT(bed, .pri = 7, .body_len = 200, .ttr_for = SEC(60), .max_attempts = 4);
    step(bed);
    ids[1] = BED_PUT(bed, .queue = 1, .body_len = 300, .delay_for = SEC(500));
    ids[2] = BED_PUT(bed, .queue = 1, .key = "k", .delay_for = SEC(300), .reducer = "r");
    step(bed);
    ids[3] = BED_PUT(bed, .queue = 2, .body_len = 100);
    ids[4] = BED_PUT(bed, .queue = 2, .body_len = 50);
    ids[5] = BED_PUT(bed, .queue = 3, .key = "soft", .body_len = 150, .fleeting = true);
    step(bed);
}

static void set_aside(struct bed *bed, const uint64_t ids[FIRST])
{
    expect_fair(bed_take_id(bed, ids[4]));
    expect_fair(bed_bury(bed, ids[4], 3));
    expect_fair(bed_take_id(bed, ids[3]));
    expect_fair(bed_bury(bed, ids[3], 4));
    step(bed);
    expect_fair(bed_pause(bed, 3, SEC(1000)));
    step(bed);
}

// Joins: one makes a job durable, one starts a job earlier, one does nothing.
static void join(struct bed *bed)
{
    (void)BED_PUT(bed, .queue = 3, .key = "soft", .body_len = 150);
    step(bed);
    (void)BED_PUT(bed, .queue = 1, .key = "k", .delay_for = SEC(200));
    (void)BED_PUT(bed, .queue = 1, .key = "k", .delay_for = SEC(400));
    step(bed);
}

// Jobs that come and go, so that segments fill.
static void pass_by(struct bed *bed, int round)
{
    for (int i = 0; i < 6; i++) {
        uint64_t id = BED_PUT(bed, .pri = 9, .body_len = (size_t)(2200 + 160 * i));

        if (i % 2) {
            step(bed);
        }
        expect_fair(bed_take_id(bed, id));
        if (i == round) {
            expect_fair(bed_release(bed, id, 8, SEC(2)));
        } else if (i == round + 1) {
            expect_fair(bed_cancel(bed, id));
        } else {
            expect_fair(bed_complete(bed, id));
        }
        if (i % 3 == 0) {
            step(bed);
        }
    }
}

static void rearrange(struct bed *bed, const uint64_t ids[FIRST], int round)
{
    expect_fair(bed_take_id(bed, ids[0]));
    expect_fair(bed_release(bed, ids[0], (uint32_t)round, round % 2 ? SEC(1) : 0));
    step(bed);
    if (round % 2) {
        (void)bed_kick(bed, 2, 1);
        expect_fair(bed_take_id(bed, ids[3]));
        expect_fair(bed_take_id(bed, ids[4]));
        step(bed);
        expect_fair(bed_bury(bed, ids[3], 5));
        expect_fair(bed_bury(bed, ids[4], 6));
        expect_fair(bed_kick_id(bed, ids[1]));
        expect_fair(bed_pause(bed, 1, round == 1 ? SEC(9) : 0));
    }
    step(bed);
    bed_pass(bed, SEC(1));
}

// Jobs that fail until they go to the dead queue, some of which are fetched back.
static void fail_for_good(struct bed *bed, int round)
{
    uint64_t id = BED_PUT(bed, .queue = round % 2, .key = round % 3 ? NULL : "dead", .body_len = 60,
                          .pri = 2);

    for (int i = 0; i < 2; i++) {
        expect_fair(bed_take_id(bed, id));
        expect_fair(bed_fail(bed, id));
        step(bed);
    }
    if (round % 2) {
        expect_fair(BED_ACT(bed, id, .kind = ACT_MOVE, .to = bed_queue(2)));
    }
    step(bed);
}

// Verbs of an operator: jobs move from queue to queue, ready, delayed and buried, and change in
// place.
static void operate(struct bed *bed, const uint64_t ids[FIRST], int round)
{
    expect_fair(BED_ACT(bed, ids[0], .kind = ACT_MOVE, .to = bed_queue(round % BED_QUEUES)));
    expect_fair(BED_ACT(bed, ids[2], .kind = ACT_MOVE, .to = bed_queue(round % BED_QUEUES)));
    step(bed);
    expect_fair(BED_ACT(bed, ids[3], .kind = ACT_MOVE, .to = bed_queue(round % 2 ? 3 : 2)));
    expect_fair(BED_ACT(bed, ids[3], .kind = ACT_CHANGE, .sets_pri = true, .pri = 70));
    expect_fair(BED_ACT(bed, ids[1], .kind = ACT_CHANGE, .sets_delay = true,
                        .delay_for = SEC(400 + round)));
    step(bed);
    expect_fair(bed_take_id(bed, ids[0]));
    expect_fair(BED_ACT(bed, ids[0], .kind = round % 2 ? ACT_RELEASE : ACT_BURY));
    expect_fair(BED_ACT(bed, ids[0], .kind = ACT_KICK));
    step(bed);
}

// Memos of all kinds are set, replaced and dropped; one is too long to be copied.
static void remember(struct bed *bed, int round)
{
    size_t most = bed->options.body_max ? bed->options.body_max : 3000;

    expect_fair(bed_remember(bed, MEMO_POLICY, 1, 40, 0));
    expect_fair(bed_remember(bed, (enum memo_kind)(round % MEMO_KINDS), round, most, 0));
    step(bed);
    expect_fair(bed_remember(bed, MEMO_RESULT, round, 300, bed->now.wall + SEC(1 + round)));
    expect_fair(bed_forget(bed, (enum memo_kind)((round + 4) % MEMO_KINDS), round - 1));
    step(bed);
}

void work_a_while(struct bed *bed)
{
    uint64_t ids[FIRST];

    set_policy(bed);
    begin(bed, ids);
    set_aside(bed, ids);
    join(bed);
    for (int round = 0; round < ROUNDS; round++) {
        pass_by(bed, round);
        rearrange(bed, ids, round);
        operate(bed, ids, round);
        remember(bed, round);
        fail_for_good(bed, round);
    }
}

//
// At random
//

static uint64_t roll(uint64_t *dice, uint64_t sides)
{
    return (fake_dice(dice) >> 32) % sides;
}

static void put(struct bed *bed, uint64_t *dice)
{
    static const char *const keys[] = {"a", "b", "c", "d"};
    size_t most = bed->options.body_max ? bed->options.body_max : 3000;
    struct bed_put put = {
        .queue = (int)roll(dice, BED_QUEUES),
        .pri = (uint32_t)roll(dice, 5),
        .body_len = roll(dice, 3) ? roll(dice, most / 8) : roll(dice, most),
        .ttr_for = roll(dice, 2) ? SEC(1) : 0,
        .key = roll(dice, 4) ? NULL : keys[roll(dice, 4)],
        .fleeting = roll(dice, 6) == 0,
        .on_fail = roll(dice, 2) ? ON_FAIL_BURY : ON_FAIL_DROP,
        .max_attempts = (uint32_t)roll(dice, 3),
    };

    if (roll(dice, 4) == 0) {
        put.delay_for = SEC(roll(dice, 20));
    } else if (roll(dice, 12) == 0) {
        put.at = bed->now.wall + SEC(roll(dice, 20));
    }
    (void)bed_put(bed, &put);
}

// A live job by chance, 0 for none.
static uint64_t pick(struct bed *bed, uint64_t *dice)
{
    const struct queue *queue =
        broker_queue_find(bed->broker, bed_queue((int)roll(dice, BED_QUEUES)));
    const struct job *job = NULL;

    switch (roll(dice, 3)) {
    case 0:
        job = queue_peek_ready(queue);
        break;
    case 1:
        job = queue_peek_buried(queue);
        break;
    default:
        job = queue_peek_delayed(bed->broker, queue);
        break;
    }
    return job ? job_id(job) : 0;
}

// Takes a job that is ready or buried: there would be no record of taking a delayed one.
static uint64_t take(struct bed *bed, uint64_t *dice)
{
    const struct queue *queue = broker_queue_find(bed->broker, bed_queue(1));
    const struct job *job = queue_peek_buried(queue);

    if (job && roll(dice, 3) == 0) {
        uint64_t id = job_id(job);

        return bed_take_id(bed, id) == STATUS_OK ? id : 0;
    }
    return bed_take(bed);
}

static void act(struct bed *bed, uint64_t *dice, uint64_t id)
{
    const struct job_act act = {
        .kind = (enum act_kind)roll(dice, ACT_MOVE + 1),
        .sets_pri = roll(dice, 2),
        .pri = (uint32_t)roll(dice, 5),
        .sets_delay = roll(dice, 2),
        .delay_for = SEC(roll(dice, 10)),
        .to = bed_queue((int)roll(dice, BED_QUEUES)),
    };

    expect_fair(bed_act(bed, id, &act));
}

static void work(struct bed *bed, uint64_t *dice)
{
    uint64_t id = take(bed, dice);

    if (id == 0) {
        return;
    }
    if (roll(dice, 3) == 0) {
        bed_keep_lease(bed, id);
    }
    switch (roll(dice, 9)) {
    case 0:
        expect_fair(bed_release(bed, id, (uint32_t)roll(dice, 5), 0));
        return;
    case 1:
        expect_fair(bed_release(bed, id, (uint32_t)roll(dice, 5), SEC(roll(dice, 10))));
        return;
    case 2:
        assert_status(STATUS_OK, bed_bury(bed, id, (uint32_t)roll(dice, 5)));
        return;
    case 3:
        assert_status(STATUS_OK, bed_fail(bed, id));
        return;
    case 4:
        // It is held until its time is over.
        assert_status(STATUS_OK, broker_touch(bed->worker, id));
        return;
    case 5:
        act(bed, dice, id);
        return;
    default:
        assert_status(STATUS_OK, bed_complete(bed, id));
        return;
    }
}

static void look_after(struct bed *bed, uint64_t *dice)
{
    uint64_t id = pick(bed, dice);

    switch (roll(dice, 8)) {
    case 0:
        (void)bed_kick(bed, (int)roll(dice, BED_QUEUES), (uint32_t)roll(dice, 4));
        return;
    case 1:
        expect_fair(bed_pause(bed, (int)roll(dice, BED_QUEUES), SEC(roll(dice, 3))));
        return;
    case 2:
        expect_fair(bed_kick_id(bed, id));
        return;
    case 3:
    case 4:
    case 5:
        act(bed, dice, id);
        return;
    default:
        expect_fair(bed_cancel(bed, id));
        return;
    }
}

static void recall(struct bed *bed, uint64_t *dice)
{
    size_t most = bed->options.body_max ? bed->options.body_max : 3000;
    enum memo_kind kind = (enum memo_kind)roll(dice, MEMO_KINDS);
    int key = (int)roll(dice, 5);
    nsec_t until = roll(dice, 2) ? bed->now.wall + SEC(roll(dice, 30)) : 0;

    if (roll(dice, 3) == 0) {
        expect_fair(bed_forget(bed, kind, key));
    } else {
        expect_fair(bed_remember(bed, kind, key, roll(dice, roll(dice, 4) ? 100 : most), until));
    }
}

static void do_something(struct bed *bed, uint64_t *dice)
{
    uint64_t what = roll(dice, 106);

    if (what >= 100) {
        recall(bed, dice);
    } else if (what < 35) {
        put(bed, dice);
    } else if (what < 65) {
        work(bed, dice);
    } else if (what < 75) {
        look_after(bed, dice);
    } else if (what < 76) {
        bed_lose(bed);
    } else if (what < 85) {
        bed_turn(bed);
    } else if (what < 88) {
        bed_pass(bed, MSEC(roll(dice, 2000)));
    } else {
        (void)bed_turns(bed);
    }
}

// The worker buries its job, or releases it with another priority.
static void give_back(struct bed *bed, uint64_t *dice)
{
    uint64_t id = take(bed, dice);
    uint32_t pri = (uint32_t)roll(dice, 5000);

    if (id > 0 && roll(dice, 3)) {
        assert_status(STATUS_OK, bed_bury(bed, id, pri));
    } else if (id > 0) {
        expect_fair(bed_release(bed, id, pri, SEC(roll(dice, 2) * 5)));
    }
}

void work_on_few(struct bed *bed, uint64_t *dice, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t what = roll(dice, 100);

        if (book_jobs(bed->book) < FEW) {
            put(bed, dice);
        } else if (what < 45) {
            give_back(bed, dice);
        } else if (what < 70) {
            expect_fair(bed_kick_id(bed, pick(bed, dice)));
        } else if (what < 75) {
            (void)bed_kick(bed, (int)roll(dice, BED_QUEUES), (uint32_t)roll(dice, 4));
        } else if (what < 78) {
            expect_fair(bed_cancel(bed, pick(bed, dice)));
        } else if (what < 90) {
            bed_turn(bed);
        } else if (what < 92) {
            bed_pass(bed, MSEC(roll(dice, 1000)));
        } else {
            (void)bed_turns(bed);
        }
        broker_check(bed->broker);
    }
}

void work_at_random(struct bed *bed, uint64_t *dice, unsigned count)
{
    set_policy(bed);
    for (unsigned i = 0; i < count; i++) {
        do_something(bed, dice);
        broker_check(bed->broker);
        if (book_jobs(bed->book) > IDS) {
            uint64_t id = bed_take(bed);

            if (id) {
                assert_status(STATUS_OK, bed_complete(bed, id));
            }
        }
    }
}
