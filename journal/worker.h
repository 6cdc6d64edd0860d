/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_WORKER_H
#define TANDEM_JOURNAL_WORKER_H

// Who does tasks: a thread, so that the loop never waits for the disk, or, in tests, whoever calls.
// One task at a time.

#include "core/base/nsec.h"
#include "journal/task.h"

#include <stdbool.h>

struct journal_worker {
    void *self;
    // Hands a task over; it is owned by the worker thread until `done` says so.
    void (*give)(void *self, struct task *task);
    // Whether the task that was handed over last is done.
    bool (*done)(void *self);
    // Waits until it is.
    void (*wait)(void *self);
};

// A thread of its own. `wake` is called by it each time a task is done; it must be safe there (a
// write to an eventfd). `now` reads a monotonic clock, for task->took_for. 0 or an errno value.
struct worker_thread;
int worker_thread_new(struct worker_thread **thread, const struct task_runner *runner,
                      nsec_t (*now)(void), void (*wake)(void *context), void *context) MUST_USE;
struct journal_worker worker_thread_interface(struct worker_thread *thread);
// Has the thread make a call, as if it were a task: `wake` is called when it has returned. Tasks
// that are given from within it are done at once. There must be nothing for the thread to do.
void worker_thread_call(struct worker_thread *thread, void (*call)(void *context), void *context);
// Whether it has nothing to do.
bool worker_thread_idle(const struct worker_thread *thread);
// Ends the thread after the task that it is at. NULL is allowed.
void worker_thread_free(struct worker_thread *thread);

#endif
