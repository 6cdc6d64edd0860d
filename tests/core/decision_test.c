/* SPDX-License-Identifier: MIT */
// The disposal of a job that leaves its holder unfinished: the whole table, and rules that hold for
// all of it.
#include "core/decision.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define TABLE_ROOM 16384

static const char *const cause_names[LOSS_CAUSES] = {
    [CAUSE_UNDELIVERED] = "undel.", [CAUSE_STOPPED] = "stop",
    [CAUSE_LEFT] = "left",          [CAUSE_TTR] = "ttr",
    [CAUSE_LIMIT] = "limit",        [CAUSE_LIMIT_FAILS] = "lim.f",
    [CAUSE_FAILED] = "failed",      [CAUSE_RELEASED] = "rel.",
    [CAUSE_PUT_BACK] = "put b.",    [CAUSE_EXPIRED] = "expired",
};

// Of each kind of job, one whose present attempt is the last, and one that has more attempts left.
static const struct {
    const char *name;
    struct loss_facts facts;
} jobs[] = {
    {"background", {.durable = true, .on_fail = ON_FAIL_DROP}},
    {"put", {.durable = true, .on_fail = ON_FAIL_BURY}},
    {"foreground", {.watched = true, .on_fail = ON_FAIL_DROP}},
    {"joined", {.durable = true, .watched = true, .on_fail = ON_FAIL_DROP}},
    {"dead letter", {.durable = true, .dead = true, .on_fail = ON_FAIL_DROP}},
    {"unwanted", {.abandoned = true, .on_fail = ON_FAIL_DROP}},
};
#define JOBS (sizeof jobs / sizeof *jobs)

static const struct policy_spec backoff = {.backoff = BACKOFF_FIXED, .backoff_min_for = 1};
static const struct policy_spec bury = {.on_exhausted = ON_EXHAUSTED_BURY, .count_releases = true};
static const struct policy_spec drop = {.on_exhausted = ON_EXHAUSTED_DROP, .count_releases = true};
static const struct policy_spec move = {
    .on_exhausted = ON_EXHAUSTED_MOVE, .on_expired = ON_EXPIRED_MOVE, .count_releases = true};
static const struct {
    const char *name;
    const struct policy_spec *spec;
} policies[] = {
    {"none", NULL}, {"backoff", &backoff}, {"bury", &bury}, {"drop", &drop}, {"move", &move},
};
#define POLICIES (sizeof policies / sizeof *policies)

enum { LAST, ONE_LEFT, NO_LIMIT, BOUNDS };
static const char *const bound_names[BOUNDS] = {"last", "left", "any"};

static struct loss_facts facts_of(size_t job, int bound)
{
    struct loss_facts facts = jobs[job].facts;

    facts.attempts = 1;
    facts.max_attempts = bound == NO_LIMIT ? 0 : bound == LAST ? 2 : 3;
    return facts;
}

static const char *word_of(struct decision decision)
{
    static const char *const words[][2] = {
        [DISPOSAL_RETURN] = {"back", "back+"}, [DISPOSAL_RETRY] = {"retry", "retry+"},
        [DISPOSAL_BURY] = {"bury", "bury+"},   [DISPOSAL_MOVE] = {"move", "move+"},
        [DISPOSAL_END] = {"end", "end+"},
    };

    return words[decision.disposal][decision.spends];
}

// Without the spaces before it.
static void end_line(char *to, size_t *len)
{
    while (to[*len - 1] == ' ') {
        --*len;
    }
    to[(*len)++] = '\n';
    to[*len] = '\0';
}

static void write_table(char *to, size_t room)
{
    size_t len = 0;

    len += (size_t)snprintf(to + len, room - len, "%-8s%-12s%-5s", "policy", "job", "tries");
    for (int cause = 0; cause < LOSS_CAUSES; cause++) {
        len += (size_t)snprintf(to + len, room - len, "%-7s", cause_names[cause]);
    }
    end_line(to, &len);
    for (size_t row = 0; row < POLICIES * JOBS * BOUNDS; row++) {
        size_t policy = row / (JOBS * BOUNDS), job = row / BOUNDS % JOBS;
        int bound = (int)(row % BOUNDS);
        struct loss_facts facts = facts_of(job, bound);

        len += (size_t)snprintf(to + len, room - len, "%-8s%-12s%-5s", policies[policy].name,
                                jobs[job].name, bound_names[bound]);
        for (int cause = 0; cause < LOSS_CAUSES; cause++) {
            struct decision decision =
                decide(&facts, policies[policy].spec, (enum loss_cause)cause);

            len += (size_t)snprintf(to + len, room - len, "%-7s", word_of(decision));
        }
        end_line(to, &len);
    }
}

// clang-format off
static const char *const expected[] = {
    "policy  job         triesundel. stop   left   ttr    limit  lim.f  failed rel.   put b. expired",
    "none    background  last back   back   end+   end+   end+   end+   end    back   back   end",
    "none    background  left back   back   retry+ retry+ retry+ end+   end    back   back   end",
    "none    background  any  back   back   retry+ retry+ retry+ end+   end    back   back   end",
    "none    put         last back   back   bury+  bury+  bury+  bury+  bury   back   back   end",
    "none    put         left back   back   retry+ retry+ retry+ bury+  bury   back   back   end",
    "none    put         any  back   back   retry+ retry+ retry+ bury+  bury   back   back   end",
    "none    foreground  last back   back   end+   end+   end+   end+   end    back   back   end",
    "none    foreground  left back   back   retry+ retry+ retry+ end+   end    back   back   end",
    "none    foreground  any  back   back   retry+ retry+ retry+ end+   end    back   back   end",
    "none    joined      last back   back   end+   end+   end+   end+   end    back   back   end",
    "none    joined      left back   back   retry+ retry+ retry+ end+   end    back   back   end",
    "none    joined      any  back   back   retry+ retry+ retry+ end+   end    back   back   end",
    "none    dead letter last back   back   bury+  bury+  bury+  bury+  bury   back   back   bury",
    "none    dead letter left back   back   retry+ retry+ retry+ bury+  bury   back   back   bury",
    "none    dead letter any  back   back   retry+ retry+ retry+ bury+  bury   back   back   bury",
    "none    unwanted    last end    end    end+   end+   end+   end+   end    end    end    end",
    "none    unwanted    left end    end    end+   end+   end+   end+   end    end    end    end",
    "none    unwanted    any  end    end    end+   end+   end+   end+   end    end    end    end",
    "backoff background  last back   back   end+   end+   end+   end+   end+   back   back   end",
    "backoff background  left back   back   retry+ retry+ retry+ retry+ retry+ back   back   end",
    "backoff background  any  back   back   retry+ retry+ retry+ end+   end+   back   back   end",
    "backoff put         last back   back   bury+  bury+  bury+  bury+  bury+  back   back   end",
    "backoff put         left back   back   retry+ retry+ retry+ retry+ retry+ back   back   end",
    "backoff put         any  back   back   retry+ retry+ retry+ bury+  bury+  back   back   end",
    "backoff foreground  last back   back   end+   end+   end+   end+   end+   back   back   end",
    "backoff foreground  left back   back   retry+ retry+ retry+ end+   end+   back   back   end",
    "backoff foreground  any  back   back   retry+ retry+ retry+ end+   end+   back   back   end",
    "backoff joined      last back   back   end+   end+   end+   end+   end+   back   back   end",
    "backoff joined      left back   back   retry+ retry+ retry+ end+   end+   back   back   end",
    "backoff joined      any  back   back   retry+ retry+ retry+ end+   end+   back   back   end",
    "backoff dead letter last back   back   bury+  bury+  bury+  bury+  bury+  back   back   bury",
    "backoff dead letter left back   back   retry+ retry+ retry+ retry+ retry+ back   back   bury",
    "backoff dead letter any  back   back   retry+ retry+ retry+ bury+  bury+  back   back   bury",
    "backoff unwanted    last end    end    end+   end+   end+   end+   end+   end    end    end",
    "backoff unwanted    left end    end    end+   end+   end+   end+   end+   end    end    end",
    "backoff unwanted    any  end    end    end+   end+   end+   end+   end+   end    end    end",
    "bury    background  last back   back   bury+  bury+  bury+  bury+  bury+  bury+  back   end",
    "bury    background  left back   back   retry+ retry+ retry+ retry+ retry+ retry+ back   end",
    "bury    background  any  back   back   retry+ retry+ retry+ bury+  bury+  retry+ back   end",
    "bury    put         last back   back   bury+  bury+  bury+  bury+  bury+  bury+  back   end",
    "bury    put         left back   back   retry+ retry+ retry+ retry+ retry+ retry+ back   end",
    "bury    put         any  back   back   retry+ retry+ retry+ bury+  bury+  retry+ back   end",
    "bury    foreground  last back   back   end+   end+   end+   end+   end+   end+   back   end",
    "bury    foreground  left back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "bury    foreground  any  back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "bury    joined      last back   back   bury+  bury+  bury+  bury+  bury+  bury+  back   end",
    "bury    joined      left back   back   retry+ retry+ retry+ bury+  bury+  retry+ back   end",
    "bury    joined      any  back   back   retry+ retry+ retry+ bury+  bury+  retry+ back   end",
    "bury    dead letter last back   back   bury+  bury+  bury+  bury+  bury+  bury+  back   bury",
    "bury    dead letter left back   back   retry+ retry+ retry+ retry+ retry+ retry+ back   bury",
    "bury    dead letter any  back   back   retry+ retry+ retry+ bury+  bury+  retry+ back   bury",
    "bury    unwanted    last end    end    end+   end+   end+   end+   end+   end    end    end",
    "bury    unwanted    left end    end    end+   end+   end+   end+   end+   end    end    end",
    "bury    unwanted    any  end    end    end+   end+   end+   end+   end+   end    end    end",
    "drop    background  last back   back   end+   end+   end+   end+   end+   end+   back   end",
    "drop    background  left back   back   retry+ retry+ retry+ retry+ retry+ retry+ back   end",
    "drop    background  any  back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "drop    put         last back   back   end+   end+   end+   end+   end+   end+   back   end",
    "drop    put         left back   back   retry+ retry+ retry+ retry+ retry+ retry+ back   end",
    "drop    put         any  back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "drop    foreground  last back   back   end+   end+   end+   end+   end+   end+   back   end",
    "drop    foreground  left back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "drop    foreground  any  back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "drop    joined      last back   back   end+   end+   end+   end+   end+   end+   back   end",
    "drop    joined      left back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "drop    joined      any  back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "drop    dead letter last back   back   bury+  bury+  bury+  bury+  bury+  bury+  back   bury",
    "drop    dead letter left back   back   retry+ retry+ retry+ retry+ retry+ retry+ back   bury",
    "drop    dead letter any  back   back   retry+ retry+ retry+ bury+  bury+  retry+ back   bury",
    "drop    unwanted    last end    end    end+   end+   end+   end+   end+   end    end    end",
    "drop    unwanted    left end    end    end+   end+   end+   end+   end+   end    end    end",
    "drop    unwanted    any  end    end    end+   end+   end+   end+   end+   end    end    end",
    "move    background  last back   back   move+  move+  move+  move+  move+  move+  back   move",
    "move    background  left back   back   retry+ retry+ retry+ retry+ retry+ retry+ back   move",
    "move    background  any  back   back   retry+ retry+ retry+ move+  move+  retry+ back   move",
    "move    put         last back   back   move+  move+  move+  move+  move+  move+  back   move",
    "move    put         left back   back   retry+ retry+ retry+ retry+ retry+ retry+ back   move",
    "move    put         any  back   back   retry+ retry+ retry+ move+  move+  retry+ back   move",
    "move    foreground  last back   back   end+   end+   end+   end+   end+   end+   back   end",
    "move    foreground  left back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "move    foreground  any  back   back   retry+ retry+ retry+ end+   end+   retry+ back   end",
    "move    joined      last back   back   move+  move+  move+  move+  move+  move+  back   move",
    "move    joined      left back   back   retry+ retry+ retry+ move+  move+  retry+ back   move",
    "move    joined      any  back   back   retry+ retry+ retry+ move+  move+  retry+ back   move",
    "move    dead letter last back   back   bury+  bury+  bury+  bury+  bury+  bury+  back   bury",
    "move    dead letter left back   back   retry+ retry+ retry+ retry+ retry+ retry+ back   bury",
    "move    dead letter any  back   back   retry+ retry+ retry+ bury+  bury+  retry+ back   bury",
    "move    unwanted    last end    end    end+   end+   end+   end+   end+   end    end    end",
    "move    unwanted    left end    end    end+   end+   end+   end+   end+   end    end    end",
    "move    unwanted    any  end    end    end+   end+   end+   end+   end+   end    end    end",
};
// clang-format on

static void each_job_policy_and_cause_has_the_answer_of_the_table(void **state)
{
    char table[TABLE_ROOM];
    char *line = table;

    (void)state;
    write_table(table, sizeof table);
    print_message("%s", table);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char *end = strchr(line, '\n');

        assert_non_null(end);
        *end = '\0';
        assert_string_equal(line, expected[i]);
        line = end + 1;
    }
    assert_int_equal(*line, '\0');
}

typedef void (*rule)(const struct loss_facts *facts, const struct policy_spec *policy,
                     enum loss_cause cause, struct decision decision);

static void hold_everywhere(rule check)
{
    for (size_t row = 0; row < POLICIES * JOBS * BOUNDS; row++) {
        struct loss_facts facts = facts_of(row / BOUNDS % JOBS, (int)(row % BOUNDS));
        const struct policy_spec *policy = policies[row / (JOBS * BOUNDS)].spec;

        for (int cause = 0; cause < LOSS_CAUSES; cause++) {
            check(&facts, policy, (enum loss_cause)cause,
                  decide(&facts, policy, (enum loss_cause)cause));
        }
    }
}

static void dead_letter_stays(const struct loss_facts *facts, const struct policy_spec *policy,
                              enum loss_cause cause, struct decision decision)
{
    (void)policy;
    (void)cause;
    if (facts->dead) {
        assert_int_not_equal(decision.disposal, DISPOSAL_END);
        assert_int_not_equal(decision.disposal, DISPOSAL_MOVE);
    }
}

static void a_dead_letter_is_neither_dropped_nor_moved(void **state)
{
    (void)state;
    hold_everywhere(dead_letter_stays);
}

static void blameless_is_as_before(const struct loss_facts *facts, const struct policy_spec *policy,
                                   enum loss_cause cause, struct decision decision)
{
    (void)policy;
    if (cause == CAUSE_UNDELIVERED || cause == CAUSE_STOPPED) {
        assert_false(decision.spends);
        assert_int_equal(decision.disposal, facts->abandoned ? DISPOSAL_END : DISPOSAL_RETURN);
    }
}

static void undelivered_jobs_and_the_end_of_the_process_spend_no_attempt(void **state)
{
    (void)state;
    hold_everywhere(blameless_is_as_before);
}

static void fleeting_is_not_kept(const struct loss_facts *facts, const struct policy_spec *policy,
                                 enum loss_cause cause, struct decision decision)
{
    (void)policy;
    (void)cause;
    if (!facts->durable) {
        assert_int_not_equal(decision.disposal, DISPOSAL_BURY);
        assert_int_not_equal(decision.disposal, DISPOSAL_MOVE);
    }
}

static void a_foreground_job_is_neither_buried_nor_moved(void **state)
{
    (void)state;
    hold_everywhere(fleeting_is_not_kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_job_policy_and_cause_has_the_answer_of_the_table),
        cmocka_unit_test(a_dead_letter_is_neither_dropped_nor_moved),
        cmocka_unit_test(undelivered_jobs_and_the_end_of_the_process_spend_no_attempt),
        cmocka_unit_test(a_foreground_job_is_neither_buried_nor_moved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
