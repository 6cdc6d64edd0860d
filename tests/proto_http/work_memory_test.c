/* SPDX-License-Identifier: MIT */

// Every allocation of a worker's requests fails once: who gets no answer has no job, and who has an
// answer has what it says.

#include "tests/proto_http/wire_work.h"
#include "tests/support/nth_alloc.h"

#include <string.h>

static void put(struct web *t, const char *body)
{
    struct job_spec spec = {.body = slice_str(body), .durable = true};
    struct submission submission;

    assert_int_equal(broker_submit_to(rig_broker(t->rig), SLICE("f"), &spec, NULL, &submission),
                     STATUS_OK);
}

static uint64_t held(const struct web *t)
{
    struct broker_info info;

    broker_info(rig_broker(t->rig), &info);
    return info.jobs[JOB_RESERVED];
}

// True: an allocation failed. The request asks for `jobs` jobs.
static bool asks_without_memory(struct slice said, size_t n, uint64_t jobs)
{
    struct http_answer answer = {0};
    struct slice heard;
    struct web *t;
    void *state;
    bool failed, whole;

    http_setup(&state);
    t = state;
    put(t, "one");
    put(t, "two");
    nth_alloc_fail(n);
    heard = peer_ask(t->a, said);
    failed = nth_alloc_count() >= n;
    nth_alloc_fail(0);
    whole = !peer_failed(t->a) && http_take(&heard, false, &answer) && answer.status == 200;
    assert_int_equal(held(t), whole ? jobs : 0);
    assert_true(whole || peer_failed(t->a) || answer.status == 503);
    assert_true(failed || whole);
    asks(t->b, ASK("/-/work?queue=f"), whole && jobs == 2 ? 204 : 200);
    http_teardown(&state);
    return failed;
}

static void each_allocation_of_a_request_for_work_may_fail(void **state)
{
    static char said[3][200];
    const struct {
        struct slice said;
        uint64_t jobs;
    } cases[] = {
        {ASK("/-/work?queue=f&queue=g"), 1},
        {ASK("/-/work?queue=f&max=2"), 2},
        {work_post("/-/work?queue=f&max=2", "Accept: multipart/mixed\r\n"), 2},
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        size_t n = 1;

        memcpy(said[i], cases[i].said.ptr, cases[i].said.len);
        while (asks_without_memory(slice_of(said[i], cases[i].said.len), n, cases[i].jobs)) {
            n++;
        }
#ifdef __SANITIZE_ADDRESS__
        assert_true(n > 4); // without it, a slab has most of the room already
#endif
    }
}

static void a_wait_that_ends_without_memory_gives_the_job_back(void **state)
{
    struct web *t;
    bool failed = true;

    (void)state;
    for (size_t n = 1; failed; n++) {
        struct slice heard;
        void *world;

        http_setup(&world);
        t = world;
        waits(t->a, ASK("/-/work?queue=f&max=2&wait=9"));
        put(t, "one");
        nth_alloc_fail(n);
        rig_run(t->rig);
        failed = nth_alloc_count() >= n;
        nth_alloc_fail(0);
        heard = peer_hear(t->a);
        if (peer_failed(t->a) || heard.len == 0 || memcmp(heard.ptr, "HTTP/1.1 503", 12) == 0) {
            assert_int_equal(held(t), 0);
        } else {
            assert_int_equal(held(t), 1);
        }
        http_teardown(&world);
    }
}

static void each_allocation_of_a_word_may_fail(void **state)
{
    static const char *const words[] = {"complete", "exception", "data", "touch"};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool failed = true;

        for (size_t n = 1; failed; n++) {
            static char kept[200];
            struct slice said, heard;
            struct web *t;
            void *world;

            http_setup(&world);
            t = world;
            put(t, "one");
            said = work_word(gets(t->a, "/-/work?queue=f", "one"), words[i], "",
                             i < 3 ? "what is said" : "");
            memcpy(kept, said.ptr, said.len);
            nth_alloc_fail(n);
            heard = peer_ask(t->a, slice_of(kept, said.len));
            failed = nth_alloc_count() >= n;
            nth_alloc_fail(0);
            assert_true(peer_failed(t->a) || memcmp(heard.ptr, "HTTP/1.1 503", 12) == 0 ||
                        memcmp(heard.ptr, "HTTP/1.1 204", 12) == 0);
            if (!peer_failed(t->a) && memcmp(heard.ptr, "HTTP/1.1 503", 12) == 0) {
                assert_int_equal(held(t), 1);
            }
            http_teardown(&world);
        }
    }
}

// A job is there if, and only if, the request was answered so, and once however often it is made.
static void each_allocation_of_a_request_with_a_key_may_fail(void **state)
{
    static char kept[200];
    struct slice said = POST("/f", BACKGROUND "Idempotency-Key: k\r\n", "body");
    bool failed = true;

    (void)state;
    memcpy(kept, said.ptr, said.len);
    for (size_t n = 1; failed; n++) {
        struct http_answer answer = {0};
        struct slice heard;
        struct web *t;
        void *world;

        http_setup(&world);
        t = world;
        nth_alloc_fail(n);
        heard = peer_ask(t->a, slice_of(kept, said.len));
        failed = nth_alloc_count() >= n;
        nth_alloc_fail(0);
        if (!peer_failed(t->a) && http_take(&heard, false, &answer)) {
            assert_int_equal(http_jobs(t), answer.status == 200);
            assert_true(answer.status == 200 || answer.status == 503);
        }
        asks(t->b, slice_of(kept, said.len), 200);
        assert_int_equal(http_jobs(t), 1);
        http_teardown(&world);
    }
}

static void the_end_of_a_lease_needs_no_memory(void **state)
{
    struct web *t = *state;
    struct broker_info before, after;

    broker_info(rig_broker(t->rig), &before);
    put(t, "one");
    put(t, "two");
    asks(t->a, ASK("/-/work?queue=f&max=2&ttr=5"), 200);
    nth_alloc_fail(1);
    rig_advance(t->rig, SECONDS(5));
    rig_run(t->rig);
    assert_int_equal(nth_alloc_count(), 0);
    nth_alloc_fail(0);
    broker_info(rig_broker(t->rig), &after);
    assert_int_equal(after.sessions, before.sessions);
    assert_int_equal(after.jobs[JOB_READY], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_of_a_request_for_work_may_fail),
        cmocka_unit_test(a_wait_that_ends_without_memory_gives_the_job_back),
        cmocka_unit_test(each_allocation_of_a_word_may_fail),
        cmocka_unit_test(each_allocation_of_a_request_with_a_key_may_fail),
        HTTP(the_end_of_a_lease_needs_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
