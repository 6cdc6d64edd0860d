/* SPDX-License-Identifier: MIT */
// Policies that are made at run time, over those of the file: their order, their form in
// memos of the broker, and what holds when these come back.
#include "server/queue_policies.h"

#include "core/base/log.h"
#include "core/memo.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdlib.h>
#include <string.h>

struct world {
    struct broker *broker;
    struct settings *settings; // with [queue file.*], [queue *]
    struct queue_policies policies;
    struct error_text why;
};

static int setup(void **state)
{
    const char *const sets[] = {"queue file.*.max_jobs=1", "queue *.max_jobs=2"};
    const struct settings_source source = {.sets = sets, .set_count = 2};
    const struct broker_options options = {.secret = 1};
    struct world *world = calloc(1, sizeof *world);
    struct error_text why;

    nth_alloc_fail(0);
    world->broker = broker_new(&options, (struct instant){.mono = 1, .wall = 1});
    world->settings = settings_load(&source, &why);
    assert_non_null(world->settings);
    assert_true(queue_policies_load(&world->policies, world->broker, world->settings, &why));
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    nth_alloc_fail(0);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    queue_policies_clear(&world->policies);
    settings_free(world->settings);
    broker_free(world->broker);
    free(world);
    return 0;
}

static struct slice text_slice(const char *text)
{
    return slice_str(text);
}

// One key; NULL for none. A position below 0 is none.
static enum status set(struct world *world, const char *glob, const char *key, const char *value,
                       int64_t position)
{
    const struct introspect_assignment said = {key, value};

    return queue_policies_set(&world->policies, world->broker, world->settings,
                              &(struct introspect_new_policy){.glob = text_slice(glob),
                                                              .assignments = &said,
                                                              .count = key ? 1 : 0,
                                                              .has_position = position >= 0,
                                                              .position = (uint64_t)position},
                              &world->why);
}

static enum status drop(struct world *world, const char *glob)
{
    return queue_policies_drop(&world->policies, world->broker, world->settings, text_slice(glob));
}

// All globs, in their order, each followed by a blank.
static const char *globs(const struct world *world)
{
    static char text[512];
    struct introspect_policy policy;
    size_t len = 0;

    text[0] = '\0';
    for (size_t i = 0; queue_policies_show(&world->policies, world->settings, i, &policy); i++) {
        len += (size_t)snprintf(text + len, sizeof text - len, "%s ", policy.glob);
    }
    return text;
}

// How many jobs a new queue of that name may have.
static uint64_t max_jobs(struct world *world, const char *name)
{
    const struct policy_rule *rule;
    struct queue *queue;
    uint64_t most;

    assert_int_equal(broker_queue_hold(world->broker, text_slice(name), &queue), STATUS_OK);
    rule = queue_policy(queue);
    most = rule ? rule->spec.max_jobs : UINT64_MAX;
    broker_queue_drop(world->broker, queue);
    return most;
}

static void policies_of_the_run_time_come_before_the_file(void **state)
{
    struct world *world = *state;

    assert_int_equal(max_jobs(world, "file.a"), 1);
    assert_int_equal(max_jobs(world, "a"), 2);
    assert_int_equal(set(world, "*.a", "max_jobs", "3", -1), STATUS_OK);
    assert_string_equal(globs(world), "*.a file.* * ");
    assert_int_equal(max_jobs(world, "file.a"), 3);
    assert_int_equal(max_jobs(world, "file.b"), 1);
    assert_int_equal(drop(world, "*.a"), STATUS_OK);
    assert_int_equal(max_jobs(world, "file.a"), 1);
}

// The section of the file that says whereto the queue is pushed; NULL where it is not.
static const char *pushed_by(struct world *world, const char *name)
{
    static char glob[64];
    const struct policy_rule *rule;
    struct queue *queue;

    assert_int_equal(broker_queue_hold(world->broker, text_slice(name), &queue), STATUS_OK);
    // Push is told of each queue that may be its.
    assert_ptr_equal(broker_policy_changed_next(world->broker), queue);
    rule = broker_policy_fallback(world->broker, queue);
    (void)snprintf(glob, sizeof glob, "%.*s", (int)rule->glob.len, rule->glob.ptr);
    broker_queue_drop(world->broker, queue);
    return rule->tell ? glob : NULL;
}

static void queue_keeps_the_endpoint_of_the_file(void **state)
{
    const char *const sets[] = {"queue mail.*.push=https://example.com/x", "queue *.max_jobs=2"};
    const struct settings_source source = {.sets = sets, .set_count = 2};
    struct world *world = *state;
    struct error_text why;

    settings_free(world->settings);
    world->settings = settings_load(&source, &why);
    assert_non_null(world->settings);
    assert_true(queue_policies_apply(&world->policies, world->broker, world->settings, &why));
    assert_string_equal(pushed_by(world, "mail.out"), "mail.*");
    assert_int_equal(set(world, "mail.out", "max_attempts", "5", -1), STATUS_OK);
    assert_string_equal(pushed_by(world, "mail.out"), "mail.*");
    assert_int_equal(set(world, "*", "max_jobs", "3", -1), STATUS_OK);
    assert_string_equal(pushed_by(world, "mail.in"), "mail.*");
    assert_int_equal(max_jobs(world, "mail.in"), 3);
    assert_null(pushed_by(world, "other"));
    assert_int_equal(drop(world, "mail.out"), STATUS_OK);
    assert_int_equal(drop(world, "*"), STATUS_OK);
    assert_string_equal(pushed_by(world, "mail.out"), "mail.*");
}

static void without_a_position_the_last_made_is_last(void **state)
{
    struct world *world = *state;
    struct introspect_policy policy;

    assert_int_equal(set(world, "z", NULL, NULL, -1), STATUS_OK);
    assert_int_equal(set(world, "a", NULL, NULL, -1), STATUS_OK);
    assert_int_equal(set(world, "m", NULL, NULL, 15), STATUS_OK);
    assert_int_equal(set(world, "b", NULL, NULL, 15), STATUS_OK);
    assert_string_equal(globs(world), "z b m a file.* * ");
    // One that is there stays where it is.
    assert_int_equal(set(world, "b", "max_jobs", "9", -1), STATUS_OK);
    assert_string_equal(globs(world), "z b m a file.* * ");
    assert_int_equal(set(world, "b", NULL, NULL, 0), STATUS_OK);
    assert_string_equal(globs(world), "b z m a file.* * ");
    assert_int_equal(set(world, "y", NULL, NULL, RUN_POLICY_POSITION_MAX), STATUS_OK);
    assert_int_equal(set(world, "x", NULL, NULL, -1), STATUS_OK);
    assert_string_equal(globs(world), "b z m a x y file.* * ");
    assert_true(queue_policies_show(&world->policies, world->settings, 1, &policy));
    assert_int_equal(policy.position, RUN_POLICY_STEP);
    assert_true(policy.is_run_time);
    assert_string_equal(policy.origin, "api");
}

static void new_policy_replaces_all_keys_of_the_old_one(void **state)
{
    struct world *world = *state;

    assert_int_equal(set(world, "a", "max_jobs", "5", -1), STATUS_OK);
    assert_int_equal(set(world, "a", "weight", "2", -1), STATUS_OK);
    assert_int_equal(max_jobs(world, "a"), 0);
}

static void policy_that_is_wrong_changes_nothing(void **state)
{
    static const struct {
        const char *glob, *key, *value, *why;
    } cases[] = {
        {"a[", NULL, NULL, "the glob is malformed"},
        {"", NULL, NULL, "the glob of queue names is missing"},
        {"a", "max_jobs", "many", "max_jobs: `many` is not a whole number"},
        {"a", "max_job", "1", "there is no key `max_job` in sections [queue ...]"},
        {"a", "burst", "1", "burst needs a rate"},
        {"a", "push", "https://example.org/", "push: only the configuration file may set this"},
        {"a", "dead_queue", "x\nmax_jobs = 5", "dead_queue needs on_exhausted = move"},
    };
    struct world *world = *state;

    assert_int_equal(set(world, "a", "max_jobs", "4", -1), STATUS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(set(world, cases[i].glob, cases[i].key, cases[i].value, -1),
                         STATUS_BAD_NAME);
        assert_non_null(strstr(world->why.text, cases[i].why));
    }
    assert_string_equal(globs(world), "a file.* * ");
    assert_int_equal(max_jobs(world, "a"), 4);
    assert_int_equal(drop(world, "b"), STATUS_NOT_FOUND);
    assert_int_equal(drop(world, "*"), STATUS_NOT_FOUND);
}

static void value_that_would_be_read_back_as_another_is_refused(void **state)
{
    static const char *const bad[] = {"x\nmax_jobs = 5", " x", "x ", "x ;y", "x\r"};
    struct world *world = *state;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct introspect_assignment said[] = {{"on_exhausted", "move"},
                                                     {"dead_queue", bad[i]}};
        const struct introspect_new_policy policy = {
            .glob = SLICE("a"), .assignments = said, .count = 2};

        assert_int_equal(queue_policies_set(&world->policies, world->broker, world->settings,
                                            &policy, &world->why),
                         STATUS_BAD_NAME);
    }
    assert_string_equal(globs(world), "file.* * ");
}

static void number_of_policies_is_limited(void **state)
{
    struct world *world = *state;
    char glob[16];

    for (int i = 0; i < RUN_POLICIES_MAX; i++) {
        (void)snprintf(glob, sizeof glob, "q%d", i);
        assert_int_equal(set(world, glob, NULL, NULL, -1), STATUS_OK);
    }
    assert_int_equal(set(world, "more", NULL, NULL, -1), STATUS_TOO_LARGE);
    assert_string_equal(world->why.text, "there are 200 policies made at run time already");
    assert_int_equal(set(world, "q7", "max_jobs", "1", -1), STATUS_OK);
}

// The broker's memos are read again, as after a restart.
static void load_again(struct world *world)
{
    struct error_text why;

    queue_policies_clear(&world->policies);
    assert_true(queue_policies_load(&world->policies, world->broker, world->settings, &why));
}

static void policies_come_back_as_they_were(void **state)
{
    struct world *world = *state;

    assert_int_equal(set(world, "z", "max_jobs", "7", -1), STATUS_OK);
    assert_int_equal(set(world, "a", "rate", "5/m", 3), STATUS_OK);
    assert_int_equal(set(world, "gone", NULL, NULL, -1), STATUS_OK);
    assert_int_equal(drop(world, "gone"), STATUS_OK);
    load_again(world);
    assert_string_equal(globs(world), "a z file.* * ");
    assert_int_equal(max_jobs(world, "z"), 7);
    assert_int_equal(max_jobs(world, "a"), 0);
}

static void keep_memo(struct world *world, const char *glob, const char *text)
{
    const struct memo memo = {.kind = MEMO_POLICY,
                              .key = text_slice(glob),
                              .value = text_slice(text),
                              .until_at = NSEC_NEVER};

    assert_int_equal(broker_memo_set(world->broker, &memo), STATUS_OK);
}

static void count_lines(void *context, enum log_level level, const char *event,
                        const struct log_field *fields, size_t count)
{
    size_t *lines = context;

    (void)level;
    (void)fields;
    (void)count;
    *lines += strcmp(event, "policy_not_understood") == 0;
}

static void policy_that_cannot_be_read_is_kept_without_effect(void **state)
{
    static const struct {
        const char *glob, *text;
    } memos[] = {
        {"a", "position = 1\nflavour = vanilla\n"},
        {"b", "max_jobs = 3\n"},
        {"c", ""},
        {"d", "position = 2\nmax_jobs = 99999999999999999999\n"},
        {"e[", "position = 3\n"},
        {"f", "position = 4\nburst = 2\n"},
        {"g", "position = 5\n[queue h]\n"},
    };
    struct world *world = *state;
    struct introspect_policy policy;
    size_t lines = 0;

    for (size_t i = 0; i < sizeof memos / sizeof *memos; i++) {
        keep_memo(world, memos[i].glob, memos[i].text);
    }
    keep_memo(world, "good", "position = 6\nmax_jobs = 8\n");
    log_set_sink(count_lines, &lines, LOG_LEVEL_DEBUG);
    load_again(world);
    assert_int_equal(lines, sizeof memos / sizeof *memos);
    assert_int_equal(max_jobs(world, "good"), 8);
    assert_int_equal(max_jobs(world, "a"), 2);
    for (size_t i = 0; queue_policies_show(&world->policies, world->settings, i, &policy); i++) {
        assert_int_equal(policy.why_not != NULL,
                         policy.is_run_time && strcmp(policy.glob, "good") != 0);
    }
    assert_non_null(broker_memo_find(world->broker, MEMO_POLICY, SLICE("a")));
    // Another in its place holds.
    assert_int_equal(set(world, "a", "max_jobs", "6", -1), STATUS_OK);
    assert_int_equal(max_jobs(world, "a"), 6);
    assert_int_equal(drop(world, "b"), STATUS_OK);
}

static void policies_beyond_the_limit_have_no_effect(void **state)
{
    struct world *world = *state;
    char glob[16], text[64];

    for (int i = 0; i <= RUN_POLICIES_MAX; i++) {
        (void)snprintf(glob, sizeof glob, "q%d", i);
        (void)snprintf(text, sizeof text, "position = %d\nmax_jobs = 5\n", i);
        keep_memo(world, glob, text);
    }
    load_again(world);
    assert_int_equal(max_jobs(world, "q199"), 5);
    assert_int_equal(max_jobs(world, "q200"), 2);
}

static void reload_of_the_file_leaves_policies_of_the_run_time(void **state)
{
    struct world *world = *state;
    const char *const changed[] = {"queue *.max_jobs=22"};
    const struct settings_source source = {.sets = changed, .set_count = 1};
    struct error_text why;
    struct settings *fresh = settings_load(&source, &why);

    assert_int_equal(set(world, "*.a", "max_jobs", "3", -1), STATUS_OK);
    assert_true(queue_policies_apply(&world->policies, world->broker, fresh, &why));
    assert_int_equal(max_jobs(world, "file.a"), 3);
    assert_int_equal(max_jobs(world, "file.b"), 22);
    settings_free(fresh);
}

static void memo_that_is_refused_leaves_all_as_it_was(void **state)
{
    struct world *world = *state;
    struct memo_usage usage;

    assert_int_equal(set(world, "a", "max_jobs", "4", -1), STATUS_OK);
    broker_memo_usage(world->broker, MEMO_POLICY, &usage);
    broker_memo_limit(world->broker, MEMO_POLICY, usage.bytes + 1);
    assert_int_equal(set(world, "b", "max_jobs", "5", -1), STATUS_NO_MEMORY);
    broker_memo_limit(world->broker, MEMO_POLICY, 1);
    assert_int_equal(set(world, "b", "max_jobs", "5", -1), STATUS_TOO_LARGE);
    assert_string_equal(world->why.text, "the policy is too large to be kept");
    assert_string_equal(globs(world), "a file.* * ");
    assert_int_equal(max_jobs(world, "b"), 2);
    assert_int_equal(max_jobs(world, "a"), 4);
}

static void any_failed_allocation_leaves_all_as_it_was(void **state)
{
    struct world *world = *state;

    for (size_t n = 1;; n++) {
        enum status status;

        nth_alloc_fail(n);
        status = set(world, "b", "max_jobs", "5", -1);
        if (nth_alloc_count() < n) {
            assert_int_equal(status, STATUS_OK);
            break;
        }
        nth_alloc_fail(0);
        if (status == STATUS_OK) {
            // Only logging has failed.
            assert_int_equal(drop(world, "b"), STATUS_OK);
        }
        assert_string_equal(globs(world), "file.* * ");
        assert_int_equal(max_jobs(world, "b"), 2);
        assert_null(broker_memo_find(world->broker, MEMO_POLICY, SLICE("b")));
    }
    nth_alloc_fail(0);
    assert_int_equal(max_jobs(world, "b"), 5);
}

static void start_without_memory_fails(void **state)
{
    struct world *world = *state;

    assert_int_equal(set(world, "b", "max_jobs", "5", -1), STATUS_OK);
    for (size_t n = 1;; n++) {
        struct error_text why;
        bool good;

        queue_policies_clear(&world->policies);
        nth_alloc_fail(n);
        good = queue_policies_load(&world->policies, world->broker, world->settings, &why);
        if (nth_alloc_count() < n) {
            assert_true(good);
            break;
        }
        nth_alloc_fail(0);
        assert_true(!good || max_jobs(world, "b") == 5);
    }
    nth_alloc_fail(0);
}

#define WORLD(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD(policies_of_the_run_time_come_before_the_file),
        WORLD(queue_keeps_the_endpoint_of_the_file),
        WORLD(without_a_position_the_last_made_is_last),
        WORLD(new_policy_replaces_all_keys_of_the_old_one),
        WORLD(policy_that_is_wrong_changes_nothing),
        WORLD(value_that_would_be_read_back_as_another_is_refused),
        WORLD(number_of_policies_is_limited),
        WORLD(policies_come_back_as_they_were),
        WORLD(policy_that_cannot_be_read_is_kept_without_effect),
        WORLD(policies_beyond_the_limit_have_no_effect),
        WORLD(reload_of_the_file_leaves_policies_of_the_run_time),
        WORLD(memo_that_is_refused_leaves_all_as_it_was),
        WORLD(any_failed_allocation_leaves_all_as_it_was),
        WORLD(start_without_memory_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
