/* SPDX-License-Identifier: MIT */

// Many functions, many jobs, and workers that offer functions and give them up, at random: each
// worker gets the job that a simple model predicts.

#include "tests/proto_gearman/wire_gear.h"

#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS 12
#define WORKERS 3
#define BANDS 3
#define STEPS 4000
#define JOBS_MAX STEPS

struct line {
    uint64_t jobs[JOBS_MAX];
    size_t first, end;
};

struct model {
    struct line lines[FUNCTIONS][BANDS];
    int64_t turns[WORKERS][FUNCTIONS]; // 0: not offered; the function with the least number is next
    int64_t last_turn;
    uint32_t random;
};

static uint32_t draw(struct model *model, uint32_t below)
{
    model->random = model->random * 1664525 + 1013904223;
    return (model->random >> 8) % below;
}

static const char *function_name(size_t function)
{
    static char names[FUNCTIONS][8];

    (void)snprintf(names[function], sizeof *names, "f%zu", function);
    return names[function];
}

static void submit(struct gear *t, struct model *model)
{
    static const char *const types[BANDS] = {SUBMIT_JOB_HIGH_BG, SUBMIT_JOB_BG, SUBMIT_JOB_LOW_BG};
    size_t function = draw(model, FUNCTIONS), band = draw(model, BANDS);
    struct line *line = &model->lines[function][band];

    line->jobs[line->end++] =
        gear_submits(t->a, REQ(types[band], function_name(function), "", "x"));
}

static void offer(struct peer *worker, struct model *model, size_t place)
{
    size_t function = draw(model, FUNCTIONS);

    gear_says(worker, REQ(CAN_DO, function_name(function)), NOTHING);
    if (model->turns[place][function] == 0) {
        model->turns[place][function] = -++model->last_turn;
    }
}

static void give_up(struct peer *worker, struct model *model, size_t place)
{
    size_t function = draw(model, FUNCTIONS);

    gear_says(worker, REQ(CANT_DO, function_name(function)), NOTHING);
    model->turns[place][function] = 0;
}

static bool waits(const struct line *line)
{
    return line->first < line->end;
}

// The function from which the worker gets the next job of that priority; FUNCTIONS: none.
static size_t next_function(const struct model *model, size_t place, size_t band)
{
    size_t next = FUNCTIONS;

    for (size_t i = 0; i < FUNCTIONS; i++) {
        int64_t turn = model->turns[place][i];

        if (turn && waits(&model->lines[i][band]) &&
            (next == FUNCTIONS || turn < model->turns[place][next])) {
            next = i;
        }
    }
    return next;
}

static void grab(struct peer *worker, struct model *model, size_t place)
{
    for (size_t band = 0; band < BANDS; band++) {
        size_t function = next_function(model, place, band);

        if (function < FUNCTIONS) {
            struct line *line = &model->lines[function][band];
            const char *handle = gear_handle(line->jobs[line->first++]);

            gear_says(worker, REQ(GRAB_JOB), RES(JOB_ASSIGN, handle, function_name(function), "x"));
            gear_says(worker, REQ(WORK_COMPLETE, handle, ""), NOTHING);
            model->turns[place][function] = ++model->last_turn;
            return;
        }
    }
    gear_says(worker, REQ(GRAB_JOB), RES(NO_JOB));
}

static void play(struct gear *t, uint32_t seed)
{
    struct model *model = calloc(1, sizeof *model);
    struct peer *workers[WORKERS] = {t->b, t->c, peer_new(t->rig)};

    assert_non_null(model);
    model->random = seed;
    for (int step = 0; step < STEPS; step++) {
        size_t place = draw(model, WORKERS);
        uint32_t what = draw(model, 20);

        if (what < 9) {
            submit(t, model);
        } else if (what < 18) {
            grab(workers[place], model, place);
        } else if (what < 19 || draw(model, 3) > 0) {
            offer(workers[place], model, place);
        } else {
            give_up(workers[place], model, place);
        }
    }
    free(model);
}

static void jobs_are_assigned_as_the_model_predicts(void **state)
{
    for (uint32_t seed = 1; seed <= 5; seed++) {
        gear_setup(state);
        play(*state, seed);
        gear_teardown(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_assigned_as_the_model_predicts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
