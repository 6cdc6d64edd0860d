/* SPDX-License-Identifier: MIT */
#include "tests/journal/fake_worker.h"

#include "journal/file/files.h"

#include "tests/journal/file/fake_file.h"

#include <stddef.h>

enum { RUNS_ONE_IN = 4 };

bool fake_worker_run(struct fake_worker *worker)
{
    struct task *task = worker->task;

    if (!task) {
        return false;
    }
    task_run(task, worker->io);
    task->took_for = worker->takes_for;
    worker->task = NULL;
    worker->count++;
    return true;
}

static void worker_give(void *self, struct task *task)
{
    struct fake_worker *worker = self;

    ENSURE(!worker->task);
    worker->task = task;
    if (!worker->waits) {
        (void)fake_worker_run(worker);
    }
}

static bool worker_done(void *self)
{
    struct fake_worker *worker = self;

    if (worker->task && worker->dice && (fake_dice(&worker->dice) >> 32) % RUNS_ONE_IN == 0) {
        (void)fake_worker_run(worker);
    }
    return !worker->task;
}

static void worker_wait(void *self)
{
    (void)fake_worker_run(self);
}

struct journal_worker fake_worker_interface(struct fake_worker *worker)
{
    return (struct journal_worker){
        .self = worker, .give = worker_give, .done = worker_done, .wait = worker_wait};
}
