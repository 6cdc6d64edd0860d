/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_WORK_H
#define TANDEM_JOURNAL_WORK_H

// What the worker thread is at: one task at a time. Until it is done, nobody else touches the task,
// nor the batch and the segments that it names.

#include "core/base/macros.h"
#include "core/base/nsec.h"
#include "journal/task.h"
#include "journal/worker.h"

struct work {
    struct journal_worker worker;
    struct task task;
    nsec_t begun_at;
    bool busy; // the worker thread has `task`
};

// Hands `task` over. Always true: there was something to do.
static inline bool work_give(struct work *work, nsec_t now_at)
{
    work->busy = true;
    work->begun_at = now_at;
    work->worker.give(work->worker.self, &work->task);
    return true;
}

static inline bool work_done(const struct work *work)
{
    return work->worker.done(work->worker.self);
}

static inline void work_wait(const struct work *work)
{
    work->worker.wait(work->worker.self);
}

// Has another task done, and waits for it. The worker thread must be at nothing.
static inline int work_do(const struct work *work, struct task *task)
{
    work->worker.give(work->worker.self, task);
    work_wait(work);
    ENSURE(work_done(work));
    return task->error;
}

#endif
