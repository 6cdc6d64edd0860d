/* SPDX-License-Identifier: MIT */
// Bodies: kept byte for byte, copied or referred to, and sent without copying where they are large.
#include "tests/core/stage.h"

#include "proto_common/output.h"

#include <stdlib.h>
#include <string.h>

// Bytes of which every part looks different.
static struct blob *pattern(size_t len)
{
    struct blob *blob = blob_new(len);

    assert_non_null(blob);
    for (size_t i = 0; i < len; i++) {
        blob->bytes[i] = (char)(unsigned char)(i * 31 + i / 251);
    }
    return blob;
}

static uint64_t submit(struct stage *s, struct slice body, struct blob *blob)
{
    struct job_spec spec = {.durable = true, .body = body, .body_blob = blob};
    struct submission submission;

    assert_status(STATUS_OK, broker_queue_hold(s->broker, SLICE("q"), &spec.queue));
    assert_status(STATUS_OK, broker_submit(s->broker, &spec, NULL, &submission));
    broker_queue_drop(s->broker, spec.queue);
    stage_step(s);
    return submission.id;
}

static void send_body(const struct stage *s, uint64_t id, struct output *out)
{
    const struct job *job = broker_find(s->broker, id);

    output_body(out, job_body(job), job_blob(job));
}

// Sends the body of the job and asserts that it arrives whole.
static void expect_sent(struct stage *s, uint64_t id, struct slice body)
{
    struct output_pool pool = {0};
    struct output out;
    struct slice span;
    size_t got = 0;

    output_init(&out, &pool);
    send_body(s, id, &out);
    assert_false(output_failed(&out));
    assert_int_equal(output_pending(&out), body.len);
    while (output_peek(&out, &span, 1) == 1) {
        assert_true(span.len <= body.len - got);
        assert_memory_equal(span.ptr, body.ptr + got, span.len);
        got += span.len;
        output_consume(&out, span.len);
    }
    assert_int_equal(got, body.len);
    output_clear(&out);
    output_pool_clear(&pool);
}

static void bodies_of_every_size_are_kept(void **state)
{
    static const size_t sizes[] = {0,    1,    7,    255,  2046, 2047, 2048,  2049,
                                   3999, 4000, 4001, 4095, 4096, 4097, 65535, 1048576};
    struct stage *s = *state;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct blob *blob = pattern(sizes[i]);
        uint64_t copied = submit(s, blob_slice(blob), NULL);
        uint64_t referred = submit(s, SLICE(""), blob);

        assert_true(slice_equal(job_body(broker_find(s->broker, copied)), blob_slice(blob)));
        assert_true(slice_equal(job_body(broker_find(s->broker, referred)), blob_slice(blob)));
        expect_sent(s, copied, blob_slice(blob));
        expect_sent(s, referred, blob_slice(blob));
        assert_status(STATUS_OK, stage_cancel(s, copied));
        assert_status(STATUS_OK, stage_cancel(s, referred));
        assert_int_equal(blob->refs, 1);
        blob_unref(blob);
    }
}

static void large_blob_is_shared_and_not_copied(void **state)
{
    struct stage *s = *state;
    struct blob *blob = pattern(1000000);
    uint64_t id = submit(s, SLICE(""), blob);
    struct output_pool pool = {0};
    struct output out;

    assert_int_equal(blob->refs, 2);
    assert_ptr_equal(job_body(broker_find(s->broker, id)).ptr, blob->bytes);
    output_init(&out, &pool);
    send_body(s, id, &out);
    assert_int_equal(blob->refs, 3);
    // The output keeps the bytes when the job is gone.
    assert_status(STATUS_OK, stage_cancel(s, id));
    assert_int_equal(blob->refs, 2);
    output_consume(&out, 1000000);
    assert_int_equal(blob->refs, 1);
    output_clear(&out);
    output_pool_clear(&pool);
    blob_unref(blob);
}

static void refused_submission_takes_no_reference(void **state)
{
    struct stage *s = *state;
    struct blob *blob = pattern(100000);

    s->refused = STORE_REFUSES_ALL;
    assert_status(STATUS_NO_SPACE, stage_try_put(s, NULL, PLAN(.blob = blob), NULL));
    s->refused = 0;
    PUT(s, .key = "k");
    PUT(s, .key = "k", .blob = blob);
    broker_drain(s->broker);
    assert_status(STATUS_DRAINING, stage_try_put(s, NULL, PLAN(.blob = blob), NULL));
    assert_int_equal(blob->refs, 1);
    blob_unref(blob);
}

static void result_is_shared_by_all_watchers_and_then_freed(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct actor *c = stage_open(s, "c");
    struct blob *result = blob_copy(SLICE("result"));
    struct job_event part = {.kind = JOB_EVENT_DATA, .data = blob_copy(SLICE("part"))};

    assert_non_null(result);
    assert_non_null(part.data);
    SUBMIT(c, .key = "k");
    SUBMIT(c, .key = "k");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, broker_report(w->session, 1, &part));
    assert_status(STATUS_OK, broker_complete(w->session, 1, result));
    assert_true(result->refs > 1 && part.data->refs > 1);
    stage_expect(s, "c data 1 part; c data 1 part; c complete 1 result; c complete 1 result");
    assert_int_equal(result->refs, 1);
    assert_int_equal(part.data->refs, 1);
    blob_unref(result);
    blob_unref(part.data);
}

static void result_without_watches_is_not_kept(void **state)
{
    struct stage *s = *state;
    struct actor *w = stage_worker(s, "w", "q");
    struct blob *result = blob_copy(SLICE("result"));

    assert_non_null(result);
    PUT(s, .queue = "q");
    assert_int_equal(act_take(w), 1);
    assert_status(STATUS_OK, broker_complete(w->session, 1, result));
    assert_int_equal(result->refs, 1);
    blob_unref(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(bodies_of_every_size_are_kept),
        STORY(large_blob_is_shared_and_not_copied),
        STORY(refused_submission_takes_no_reference),
        STORY(result_is_shared_by_all_watchers_and_then_freed),
        STORY(result_without_watches_is_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
