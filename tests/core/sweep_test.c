/* SPDX-License-Identifier: MIT */
// Acts of an operator on many jobs, in slices.
#include "tests/core/stage.h"

#include <string.h>

enum { MANY = 300 };

#define SWEEP(...)                                                                                 \
    {                                                                                              \
        .queue = SLICE("q"), .filter = JOB_FILTER_ALL, __VA_ARGS__                                 \
    }

static enum status begin(struct stage *s, struct actor *by, struct sweep *sweep)
{
    enum status status = broker_sweep_begin(s->broker, by ? by->session : NULL, sweep);

    stage_step(s);
    return status;
}

static enum status step(struct stage *s, struct actor *by, struct sweep *sweep)
{
    enum status status = broker_sweep(s->broker, by ? by->session : NULL, sweep);

    stage_step(s);
    return status;
}

// The number of slices that it took.
static int run(struct stage *s, struct actor *by, struct sweep *sweep)
{
    enum status status;
    int slices = 0;

    assert_status(STATUS_OK, begin(s, by, sweep));
    do {
        status = step(s, by, sweep);
        slices++;
    } while (status == STATUS_MORE);
    assert_status(STATUS_OK, status);
    return slices;
}

static void expect_counts(const struct sweep *sweep, uint64_t looked, uint64_t done, uint64_t held,
                          uint64_t forbidden)
{
    assert_int_equal(sweep->counts.looked, looked);
    assert_int_equal(sweep->counts.done, done);
    assert_int_equal(sweep->counts.held, held);
    assert_int_equal(sweep->counts.forbidden, forbidden);
}

// Ready, delayed, held and buried, one after the other.
static void put_all_kinds(struct stage *s, struct actor *w, const char *queue, int each)
{
    for (int i = 0; i < each; i++) {
        PUT(s, .queue = queue);
        assert_true(act_take(w) > 0);
        PUT(s, .queue = queue, .pri = 7, .body = "ready");
        PUT(s, .queue = queue, .delay_for = SEC(50 + i), .body = "delayed");
        PUT_BURIED(s, .queue = queue);
    }
}

static void a_queue_is_cleared_in_slices_except_held_jobs(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct sweep sweep = SWEEP(.act = {.kind = ACT_DELETE});

    put_all_kinds(s, w, "q", MANY);
    PUT(s, .queue = "other");
    assert_true(run(s, NULL, &sweep) > 3 * MANY / (BROKER_SLICE + 1));
    assert_int_equal(sweep.total, 4 * MANY);
    expect_counts(&sweep, 4 * MANY, 3 * MANY, MANY, 0);
    stage_expect_jobs(s, "q", 0, 0, MANY, 0);
    stage_expect_jobs(s, "other", 1, 0, 0, 0);
}

static void held_jobs_are_met_where_they_are_named(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct sweep sweep = SWEEP(.act = {.kind = ACT_DELETE});

    put_all_kinds(s, w, "q", MANY);
    sweep.filter.states = JOB_IN(JOB_RESERVED) | JOB_IN(JOB_BURIED);
    run(s, NULL, &sweep);
    expect_counts(&sweep, 2 * MANY, 2 * MANY, 0, 0);
    stage_expect_jobs(s, "q", MANY, MANY, 0, 0);
    assert_int_equal(session_leases(w->session), 0);
}

static void a_dry_run_counts_without_acting(void **state)
{
    static const enum act_kind kinds[] = {ACT_MOVE, ACT_RELEASE, ACT_BURY, ACT_CHANGE, ACT_DELETE};
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");

    for (size_t i = 0; i < 5; i++) {
        struct sweep dry =
            SWEEP(.act = {.kind = kinds[i], .sets_pri = true, .pri = 5, .to = SLICE("other")},
                  .dry = true);
        struct sweep sweep;

        put_all_kinds(s, w, "q", 100);
        run(s, NULL, &dry);
        stage_expect_jobs(s, "q", 100, 100, 100, 100);
        sweep = dry;
        sweep.dry = false;
        run(s, NULL, &sweep);
        assert_true(sweep.counts.done > 0);
        assert_memory_equal(&sweep.counts, &dry.counts, sizeof dry.counts);
        sweep.act.kind = ACT_DELETE;
        sweep.filter.states = JOB_IN_ANY;
        run(s, NULL, &sweep);
    }
}

static void only_jobs_that_pass_the_filter_are_met(void **state)
{
    const struct {
        struct job_filter filter;
        uint64_t ids; // bits
    } rows[] = {
        {JOB_FILTER_ALL, 0x1e},
        {{.min_age_for = SEC(2),
          .max_age_for = NSEC_NEVER,
          .max_pri = UINT32_MAX,
          .max_body = SIZE_MAX},
         0x6},
        {{.max_age_for = SEC(1), .max_pri = UINT32_MAX, .max_body = SIZE_MAX}, 0x18},
        {{.max_age_for = NSEC_NEVER, .min_pri = 1, .max_pri = 2, .max_body = SIZE_MAX}, 0xc},
        {{.max_age_for = NSEC_NEVER, .max_pri = UINT32_MAX, .min_body = 3, .max_body = 5}, 0xc},
        {{.max_age_for = NSEC_NEVER,
          .max_pri = UINT32_MAX,
          .max_body = SIZE_MAX,
          .contains = SLICE("ell")},
         0x18},
        {{.states = JOB_IN(JOB_DELAYED),
          .max_age_for = NSEC_NEVER,
          .max_pri = UINT32_MAX,
          .max_body = SIZE_MAX},
         0x4},
    };
    struct stage *s = *state;

    PUT(s, .pri = 0, .body = "");
    PUT(s, .pri = 1, .body = "abc", .delay_for = SEC(90));
    stage_advance(s, SEC(2));
    PUT(s, .pri = 2, .body = "hello");
    PUT(s, .pri = 3, .body = "helloo");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sweep sweep = {.queue = SLICE("q"),
                              .filter = rows[i].filter,
                              .act = {.kind = ACT_DELETE},
                              .dry = true};
        uint64_t passed = 0;

        // Each job has a priority of its own.
        for (uint32_t pri = sweep.filter.min_pri; pri < 4 && pri <= sweep.filter.max_pri; pri++) {
            struct sweep one = sweep;

            one.filter.min_pri = pri;
            one.filter.max_pri = pri;
            run(s, NULL, &one);
            passed |= one.counts.done << (pri + 1);
        }
        assert_int_equal(passed, rows[i].ids);
        run(s, NULL, &sweep);
        assert_int_equal(sweep.counts.done, (uint64_t)__builtin_popcountll(rows[i].ids));
    }
}

// Wherever in the body the bytes are, also across the end of a slice.
static void a_long_body_is_searched_in_slices(void **state)
{
    enum { LONG = 1 << 20, PLACES = 24, STRIDE = LONG / PLACES, SPAN = STRIDE - 1000 };
    static char body[LONG + 1];
    static char bytes[SPAN];
    struct stage *s = *state;
    struct sweep sweep = SWEEP(.act = {.kind = ACT_DELETE}, .dry = true);

    memset(bytes, 'a', SPAN);
    bytes[0] = 'b';
    for (int i = 0; i < PLACES; i++) {
        memset(body, 'a', LONG);
        body[i * STRIDE] = 'b';
        PUT(s, .body = body);
    }
    memset(body, 'a', LONG);
    PUT(s, .body = body);
    PUT(s, .body = "bc");
    sweep.filter.contains = slice_of(bytes, SPAN);
    assert_true(run(s, NULL, &sweep) > PLACES);
    expect_counts(&sweep, PLACES + 2, PLACES, 0, 0);
}

// Each search begins by reading all the bytes that it is to find.
static void fewer_bodies_are_searched_at_once_for_longer_bytes(void **state)
{
    enum { LONG = 4000, BODIES = 200 };
    static char body[LONG + 1], bytes[LONG + 1];
    struct stage *s = *state;
    struct sweep sweep = SWEEP(.act = {.kind = ACT_DELETE}, .dry = true);
    int of_short;

    memset(body, 'a', LONG);
    memset(bytes, 'b', LONG);
    for (int i = 0; i < BODIES; i++) {
        PUT(s, .body = body);
    }
    sweep.filter.contains = slice_of(bytes, 3);
    of_short = run(s, NULL, &sweep);
    sweep.filter.contains = slice_of(bytes, LONG);
    assert_true(run(s, NULL, &sweep) > of_short);
    expect_counts(&sweep, BODIES, 0, 0, 0);
}

// Between two slices it may go.
static void a_body_that_is_searched_may_go(void **state)
{
    enum { LONG = 1 << 20 };
    static char body[LONG + 1];
    struct stage *s = *state;
    struct sweep sweep = SWEEP(.act = {.kind = ACT_DELETE}, .filter.contains = SLICE("abc"));

    memset(body, 'a', LONG);
    PUT(s, .body = body);
    PUT(s, .body = "abc");
    assert_status(STATUS_OK, begin(s, NULL, &sweep));
    assert_status(STATUS_MORE, step(s, NULL, &sweep));
    assert_status(STATUS_OK, broker_act(s->broker, NULL, 1, &(struct job_act){.kind = ACT_DELETE}));
    assert_status(STATUS_OK, step(s, NULL, &sweep));
    expect_counts(&sweep, 1, 1, 0, 0);
}

static void jobs_are_kicked_in_order_of_burial(void **state)
{
    struct stage *s = *state;
    struct sweep sweep = SWEEP(.act = {.kind = ACT_KICK}, .most = 2);

    for (int i = 0; i < 4; i++) {
        PUT_BURIED(s, .pri = i == 1 ? 9 : 0);
    }
    PUT(s, .delay_for = SEC(5));
    sweep.filter.max_pri = 5;
    run(s, NULL, &sweep);
    assert_int_equal(sweep.counts.done, 2);
    assert_int_equal(stage_state(s, 1), JOB_READY);
    assert_int_equal(stage_state(s, 3), JOB_READY);
    stage_expect_jobs(s, "q", 2, 1, 0, 2);
    sweep.filter.max_pri = 9;
    run(s, NULL, &sweep);
    stage_expect_jobs(s, "q", 4, 1, 0, 0);
    run(s, NULL, &sweep);
    stage_expect_jobs(s, "q", 5, 0, 0, 0);
}

static void buried_jobs_that_are_moved_stay_in_their_order(void **state)
{
    struct stage *s = *state;
    struct sweep sweep = SWEEP(.act = {.kind = ACT_MOVE, .to = SLICE("other")});
    uint64_t last = 0;

    PUT(s, .queue = "q"); // it keeps the queue
    for (int i = 0; i < MANY; i++) {
        PUT_BURIED(s, .pri = (uint32_t)i % 3);
    }
    sweep.filter.states = JOB_IN(JOB_BURIED);
    sweep.filter.max_pri = 1;
    run(s, NULL, &sweep);
    stage_expect_jobs(s, "q", 1, 0, 0, MANY / 3);
    for (int i = 0; i < 2 * MANY / 3; i++) {
        uint64_t id = job_id(queue_peek_buried(stage_find(s, "other")));

        assert_true(id > last);
        last = id;
        assert_status(STATUS_OK, stage_cancel(s, id));
    }
}

static void changed_jobs_are_not_met_again(void **state)
{
    static const struct job_act acts[] = {
        {.kind = ACT_CHANGE, .sets_pri = true, .pri = 50},
        {.kind = ACT_CHANGE, .sets_pri = true, .pri = 3},
        {.kind = ACT_CHANGE, .sets_delay = true, .delay_for = SEC(1000)},
        {.kind = ACT_CHANGE, .sets_delay = true, .delay_for = SEC(500), .sets_pri = true, .pri = 8},
        {.kind = ACT_CHANGE, .sets_delay = true},
    };
    struct stage *s = *state;

    for (int i = 0; i < MANY; i++) {
        PUT(s, .pri = (uint32_t)i % 10 + 60, .delay_for = i % 2 ? SEC(i) : 0);
    }
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        struct sweep sweep = SWEEP(.act = acts[i]);

        run(s, NULL, &sweep);
        expect_counts(&sweep, MANY, MANY, 0, 0);
    }
    stage_expect_jobs(s, "q", MANY, 0, 0, 0);
}

static void a_sweep_ends_while_others_submit_more_than_it_does(void **state)
{
    static const enum act_kind kinds[] = {ACT_DELETE, ACT_BURY, ACT_KICK, ACT_CHANGE};
    struct stage *s = *state;

    s->mute = true;
    for (size_t i = 0; i < 4; i++) {
        struct sweep sweep = SWEEP(.act = {.kind = kinds[i], .sets_pri = true, .pri = 9},
                                   .filter.states = JOB_IN_ANY);
        int slices = 0;

        for (int j = 0; j < MANY; j++) {
            PUT(s, .delay_for = j % 2 ? SEC(1000 + j) : 0);
        }
        assert_status(STATUS_OK, begin(s, NULL, &sweep));
        while (step(s, NULL, &sweep) == STATUS_MORE) {
            assert_true(++slices < 100);
            for (int j = 0; j < 1000; j++) {
                PUT(s, .delay_for = j % 2 ? SEC(1000 + MANY + slices) : 0);
            }
        }
        assert_in_range(sweep.counts.done, kinds[i] == ACT_KICK ? MANY / 2 : MANY, UINT32_MAX);
        sweep = (struct sweep)SWEEP(.act = {.kind = ACT_DELETE}, .filter.states = JOB_IN_ANY);
        run(s, NULL, &sweep);
        assert_null(stage_find(s, "q"));
    }
}

static void a_sweep_goes_on_where_the_store_had_no_room(void **state)
{
    struct stage *s = *state;
    struct sweep sweep = SWEEP(.act = {.kind = ACT_MOVE, .to = SLICE("other")});

    for (int i = 0; i < MANY; i++) {
        PUT(s, .queue = "q");
    }
    assert_status(STATUS_OK, begin(s, NULL, &sweep));
    assert_status(STATUS_MORE, step(s, NULL, &sweep));
    assert_int_equal(broker_position(s->broker), MANY + sweep.counts.done);
    s->refused = STORE_REFUSES(RECORD_MOVE);
    for (int i = 0; i < 3; i++) {
        uint64_t done = sweep.counts.done;

        assert_status(STATUS_NO_SPACE, step(s, NULL, &sweep));
        assert_int_equal(sweep.counts.done, done);
    }
    s->refused = 0;
    while (step(s, NULL, &sweep) == STATUS_MORE) {
    }
    expect_counts(&sweep, MANY, MANY, 0, 0);
    stage_expect_jobs(s, "other", MANY, 0, 0, 0);
    assert_null(stage_find(s, "q"));
}

static void queues_are_named_by_a_glob(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "mail.a");
    struct sweep sweep = {.queues = SLICE("mail.*"),
                          .filter = JOB_FILTER_ALL,
                          .act = {.kind = ACT_MOVE, .to = SLICE("mail.dead")}};

    act_subscribe(w, "other");
    put_all_kinds(s, w, "mail.a", 20);
    put_all_kinds(s, w, "other", 20);
    PUT(s, .queue = "mail.b");
    PUT(s, .queue = "mail.dead");
    run(s, NULL, &sweep);
    expect_counts(&sweep, 81, 61, 20, 0);
    stage_expect_jobs(s, "mail.dead", 22, 20, 0, 20);
    stage_expect_jobs(s, "other", 20, 20, 20, 20);
    assert_null(stage_find(s, "mail.b"));
}

static void jobs_that_the_caller_may_not_operate_are_left(void **state)
{
    const struct grant list[] = {
        {MAY_OPERATE | MAY_OBSERVE, SLICE("a")},
        {MAY_OBSERVE, SLICE("seen")},
    };
    struct stage *s = *state;
    struct actor *o = stage_open(s, "o");
    struct sweep all = {
        .queues = SLICE("*"), .filter = JOB_FILTER_ALL, .act = {.kind = ACT_DELETE}};
    struct sweep one = all;

    act_grant(o, list, 2);
    PUT(s, .queue = "a");
    PUT(s, .queue = "seen");
    PUT(s, .queue = "hidden");
    run(s, o, &all);
    expect_counts(&all, 2, 1, 0, 1);
    one.queue = SLICE("seen");
    assert_status(STATUS_FORBIDDEN, begin(s, o, &one));
    one.queue = SLICE("hidden");
    assert_status(STATUS_FORBIDDEN, begin(s, o, &one));
    one.queue = SLICE("a");
    assert_status(STATUS_NOT_FOUND, begin(s, o, &one));
    PUT(s, .queue = "a");
    one.act = *ACT(.kind = ACT_MOVE, .to = SLICE("seen"));
    assert_status(STATUS_FORBIDDEN, begin(s, o, &one));
    one.act.to = SLICE("");
    assert_status(STATUS_BAD_NAME, begin(s, NULL, &one));
}

static void a_sweep_ends_where_its_target_cannot_be(void **state)
{
    struct stage *s = *state;
    struct sweep sweep = SWEEP(.act = {.kind = ACT_MOVE, .to = SLICE("other")});

    PUT(s, .queue = "q");
    broker_set_max_queues(s->broker, 1);
    assert_status(STATUS_OK, begin(s, NULL, &sweep));
    assert_status(STATUS_TOO_MANY_QUEUES, step(s, NULL, &sweep));
    stage_expect_jobs(s, "q", 1, 0, 0, 0);
}

static void a_queue_that_is_freed_and_made_again_is_another_one(void **state)
{
    struct stage *s = *state;
    struct sweep sweep = SWEEP(.act = {.kind = ACT_DELETE});

    for (int i = 0; i < MANY; i++) {
        PUT(s, .queue = "q");
    }
    assert_status(STATUS_OK, begin(s, NULL, &sweep));
    assert_status(STATUS_MORE, step(s, NULL, &sweep));
    for (uint64_t id = 1; id <= MANY; id++) {
        (void)stage_cancel(s, id);
    }
    assert_null(stage_find(s, "q"));
    PUT(s, .queue = "r");
    PUT(s, .queue = "q");
    while (step(s, NULL, &sweep) == STATUS_MORE) {
    }
    stage_expect_jobs(s, "q", 1, 0, 0, 0);
    stage_expect_jobs(s, "r", 1, 0, 0, 0);
}

// As run(), while time goes on.
static void run_slowly(struct stage *s, struct sweep *sweep)
{
    enum status status;
    int slices = 0;

    assert_status(STATUS_OK, begin(s, NULL, sweep));
    do {
        stage_advance(s, MSEC(10));
        assert_true(slices++ < 100);
        status = step(s, NULL, sweep);
    } while (status == STATUS_MORE);
    assert_status(STATUS_OK, status);
}

static void every_lease_is_renewed_once(void **state)
{
    struct stage *s = *state;
    struct actor *workers[] = {stage_worker(s, "v", "q"), stage_worker(s, "w", "q")};
    struct sweep sweep = SWEEP(.act = {.kind = ACT_TOUCH});

    for (uint64_t i = 0; i < MANY; i++) {
        PUT(s, .ttr_for = SEC(20 + i % 3));
        assert_int_equal(act_take(workers[i / (MANY / 2)]), i + 1);
    }
    stage_advance(s, SEC(10));
    run_slowly(s, &sweep);
    expect_counts(&sweep, MANY, MANY, 0, 0);
    for (uint64_t id = 1; id <= MANY; id++) {
        assert_true(stage_job(s, id).remaining_for > SEC(18));
    }
}

static void released_jobs_may_be_taken_again(void **state)
{
    static const nsec_t ttrs[] = {SEC(60), 0};
    struct stage *s = *state;

    broker_observe(s->broker, true);
    for (size_t i = 0; i < 2; i++) {
        struct actor *w = stage_worker(s, "w", "q");
        struct actor *v = stage_worker(s, "v", "q");
        struct actor *u = stage_worker(s, "u", "q");
        struct sweep sweep = SWEEP(.act = {.kind = ACT_RELEASE});

        for (int j = 0; j < MANY; j++) {
            PUT(s, .ttr_for = ttrs[i]);
            assert_true(act_take(w) > 0);
        }
        act_wait(v);
        act_wait(u);
        run_slowly(s, &sweep);
        assert_int_equal(sweep.counts.done, MANY);
        stage_expect_jobs(s, "q", MANY - 2, 0, 2, 0);
        assert_int_equal(session_leases(v->session), 1);
        sweep = (struct sweep)SWEEP(.act = {.kind = ACT_DELETE}, .filter.states = JOB_IN_ANY);
        run(s, NULL, &sweep);
        act_close(w);
        act_close(v);
        act_close(u);
        s->told.len = 0;
    }
}

//
// The cost of one slice
//

static void put_long(struct stage *s, size_t len, int number)
{
    struct blob *blob = blob_new(len);

    assert_non_null(blob);
    memset(blob->bytes, 'x', len);
    memcpy(blob->bytes, &number, sizeof number);
    PUT(s, .queue = "q", .blob = blob, .by_content = true);
    blob_unref(blob);
}

static int slices_to_move(struct stage *s, size_t len)
{
    struct sweep sweep = SWEEP(.act = {.kind = ACT_MOVE, .to = SLICE("other")});

    for (int i = 0; i < 20; i++) {
        put_long(s, len, i);
    }
    return run(s, NULL, &sweep);
}

static void fewer_jobs_are_moved_at_once_whose_keys_are_longer(void **state)
{
    struct stage *s = *state;
    int of_digests = slices_to_move(s, BLOB_DIGEST_ABOVE + 1);

    assert_true(slices_to_move(s, BLOB_DIGEST_ABOVE) > of_digests);
    stage_expect_jobs(s, "other", 40, 0, 0, 0);
}

static void few_names_are_compared_at_once_where_that_takes_long(void **state)
{
    struct stage *s = *state;
    char name[513] = "";
    char glob[258] = "*";
    struct sweep sweep = {
        .queues = {glob, 257}, .filter = JOB_FILTER_ALL, .act = {.kind = ACT_DELETE}};

    memset(name, 'a', 512);
    memset(glob + 1, 'a', 255);
    glob[256] = 'b';
    for (int i = 0; i < 40; i++) {
        name[0] = (char)('0' + i / 10);
        name[1] = (char)('0' + i % 10);
        PUT(s, .queue = name);
    }
    assert_in_range(run(s, NULL, &sweep), 8, 80);
    expect_counts(&sweep, 0, 0, 0, 0);
}

static void a_place_among_buried_jobs_is_searched_in_slices(void **state)
{
    enum { BURIED = 2000 };
    struct stage *s = *state;
    struct sweep sweep = SWEEP(.act = {.kind = ACT_DELETE}, .dry = true);
    uint64_t looked;
    int slices = 0;

    s->mute = true;
    for (int i = 0; i < BURIED; i++) {
        PUT_BURIED(s, .queue = "q");
    }
    assert_status(STATUS_OK, begin(s, NULL, &sweep));
    while (sweep.counts.looked < BURIED - 600) {
        assert_status(STATUS_MORE, step(s, NULL, &sweep));
    }
    looked = sweep.counts.looked;
    assert_status(STATUS_OK, stage_cancel(s, looked));
    while (sweep.counts.looked == looked) {
        assert_status(STATUS_MORE, step(s, NULL, &sweep));
        slices++;
    }
    assert_in_range(slices, 3, 6);
    while (step(s, NULL, &sweep) == STATUS_MORE) {
    }
    assert_int_equal(sweep.counts.looked, BURIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_queue_is_cleared_in_slices_except_held_jobs),
        STORY(held_jobs_are_met_where_they_are_named),
        STORY(a_dry_run_counts_without_acting),
        STORY(only_jobs_that_pass_the_filter_are_met),
        STORY(a_long_body_is_searched_in_slices),
        STORY(fewer_bodies_are_searched_at_once_for_longer_bytes),
        STORY(a_body_that_is_searched_may_go),
        STORY(jobs_are_kicked_in_order_of_burial),
        STORY(buried_jobs_that_are_moved_stay_in_their_order),
        STORY(changed_jobs_are_not_met_again),
        STORY(a_sweep_ends_while_others_submit_more_than_it_does),
        STORY(a_sweep_goes_on_where_the_store_had_no_room),
        STORY(queues_are_named_by_a_glob),
        STORY(jobs_that_the_caller_may_not_operate_are_left),
        STORY(a_sweep_ends_where_its_target_cannot_be),
        STORY(a_queue_that_is_freed_and_made_again_is_another_one),
        STORY(every_lease_is_renewed_once),
        STORY(released_jobs_may_be_taken_again),
        STORY(fewer_jobs_are_moved_at_once_whose_keys_are_longer),
        STORY(few_names_are_compared_at_once_where_that_takes_long),
        STORY(a_place_among_buried_jobs_is_searched_in_slices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
