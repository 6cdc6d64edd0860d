/* SPDX-License-Identifier: MIT */
// Without memory, no plan is made and no job is lost.
#include "push/signature.h"
#include "tests/push/push_bed.h"
#include "tests/support/nth_alloc.h"

#include <string.h>

#define SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define DONE FAKE_ANSWER("200 OK", "4", "done")

static void plan_without_memory_is_refused(void **state)
{
    struct push_bed *bed = *state;
    struct push_settings both[2] = {bed->settings, bed->settings};
    struct push_plan *plan = NULL;

    both[0].secret = SECRET;
    both[1].name = "other";
    both[1].url = "https://example.com/";
    for (size_t n = 1; !plan; n++) {
        struct error_text why = {""};

        nth_alloc_fail(n);
        plan = push_plan_new(bed->push, both, 2, &why);
        nth_alloc_fail(0);
        assert_true(plan || strstr(why.text, "memory"));
        broker_tick(bed->broker, bed_now(bed));
    }
    push_plan_free(plan);
}

// Each allocation for a job fails once: the job is still completed in the end.
static void job_is_sent_when_there_is_memory_again(void **state)
{
    struct push_bed *bed = *state;
    size_t n = 0;
    bool failed;

    bed->settings.secret = SECRET;
    fake_script(&bed->fake, DONE, false);
    bed_push(bed);
    (void)PUT(bed, .queue = "q");
    UNTIL(bed, bed->fake.count == 1);
    do {
        uint64_t id = PUT(bed, .body = "x");

        nth_alloc_fail(++n);
        bed_rest(bed);
        failed = nth_alloc_count() >= n;
        nth_alloc_fail(0);
        bed_advance(bed, SECONDS(2));
        UNTIL(bed, bed_state(bed, id) != JOB_READY && bed_state(bed, id) != JOB_RESERVED);
        assert_true(bed_state(bed, id) == JOB_GONE || bed_state(bed, id) == JOB_BURIED);
        bed_advance(bed, SECONDS(61));
    } while (failed);
    assert_true(n > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(plan_without_memory_is_refused),
        STORY(job_is_sent_when_there_is_memory_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
