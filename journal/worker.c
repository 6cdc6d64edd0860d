/* SPDX-License-Identifier: MIT */
// pthread_setname_np is a GNU function.
#define _GNU_SOURCE
#include "journal/worker.h"

#include "core/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

// How often a thread that waits for the worker thread logs that.
enum { PATIENCE_SECONDS = 5 };

struct worker_thread {
    struct task_runner runner;
    nsec_t (*now)(void);
    void (*wake)(void *context);
    void *context;
    pthread_t thread;
    sem_t given;            // `task` or `call` was set
    struct task *task;      // the current one; neither: the thread is to end
    void (*call)(void *);   // to be made instead
    void *call_context;     //
    atomic_bool busy;       // a task is not done yet
    pthread_mutex_t mutex;  // for threads that wait until it is done
    pthread_cond_t is_done; // `busy` was cleared; by the monotonic clock
};

// False if the thread is to end.
static bool worker_await_task(struct worker_thread *worker)
{
    while (sem_wait(&worker->given) != 0) {
        // Interrupted by a signal.
    }
    return worker->task || worker->call;
}

static void worker_do_task(const struct worker_thread *worker, struct task *task)
{
    nsec_t began_at = worker->now();

    worker->runner.run(worker->runner.self, task);
    task->took_for = worker->now() - began_at;
}

static void *worker_run(void *self)
{
    struct worker_thread *worker = self;

    while (worker_await_task(worker)) {
        if (worker->call) {
            worker->call(worker->call_context);
        } else {
            worker_do_task(worker, worker->task);
        }
        (void)pthread_mutex_lock(&worker->mutex);
        // The result of the task is written before the flag.
        atomic_store_explicit(&worker->busy, false, memory_order_release);
        (void)pthread_cond_signal(&worker->is_done);
        (void)pthread_mutex_unlock(&worker->mutex);
        worker->wake(worker->context);
    }
    return NULL;
}

// Within a call, the thread runs tasks itself.
static bool worker_is_itself(const struct worker_thread *worker)
{
    return pthread_equal(pthread_self(), worker->thread) != 0;
}

static void worker_hand_over(struct worker_thread *worker, struct task *task, void (*call)(void *),
                             void *context)
{
    ENSURE(!atomic_load_explicit(&worker->busy, memory_order_relaxed));
    worker->task = task;
    worker->call = call;
    worker->call_context = context;
    atomic_store_explicit(&worker->busy, true, memory_order_relaxed);
    (void)sem_post(&worker->given);
}

static void worker_give(void *self, struct task *task)
{
    struct worker_thread *worker = self;

    if (worker_is_itself(worker)) {
        worker_do_task(worker, task);
    } else {
        worker_hand_over(worker, task, NULL, NULL);
    }
}

void worker_thread_call(struct worker_thread *thread, void (*call)(void *context), void *context)
{
    worker_hand_over(thread, NULL, call, context);
}

bool worker_thread_idle(const struct worker_thread *thread)
{
    return !atomic_load_explicit(&thread->busy, memory_order_acquire);
}

static bool worker_done(void *self)
{
    const struct worker_thread *worker = self;

    return worker_is_itself(worker) || worker_thread_idle(worker);
}

// A disk may hang, and the broker with it: the log tells the reason.
static void worker_wait(void *self)
{
    struct worker_thread *worker = self;
    struct timespec until;
    int64_t waited_for = 0;

    (void)pthread_mutex_lock(&worker->mutex);
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_SECONDS;
    while (!worker_done(worker)) {
        if (pthread_cond_timedwait(&worker->is_done, &worker->mutex, &until) == ETIMEDOUT) {
            until.tv_sec += PATIENCE_SECONDS;
            waited_for += PATIENCE_SECONDS;
            log_warn("journal_slow", log_number("seconds", waited_for),
                     log_string("why", "the journal waits for the disk, which may hang"));
        }
    }
    (void)pthread_mutex_unlock(&worker->mutex);
}

// Signals are handled by the loop: this thread blocks all of them.
static int worker_thread_start(struct worker_thread *worker)
{
    sigset_t all;
    sigset_t before;
    int error;

    (void)sigfillset(&all);
    error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error) {
        return error;
    }
    error = pthread_create(&worker->thread, NULL, worker_run, worker);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        (void)pthread_setname_np(worker->thread, "tandem-journal");
    }
    return error;
}

static void worker_release(struct worker_thread *worker)
{
    (void)pthread_cond_destroy(&worker->is_done);
    (void)sem_destroy(&worker->given);
    (void)pthread_mutex_destroy(&worker->mutex);
    free(worker);
}

int worker_thread_new(struct worker_thread **thread, const struct task_runner *runner,
                      nsec_t (*now)(void), void (*wake)(void *context), void *context)
{
    struct worker_thread *worker = calloc(1, sizeof *worker);
    pthread_condattr_t by_monotonic;
    int error;

    *thread = NULL;
    if (!worker) {
        return ENOMEM;
    }
    worker->runner = *runner;
    worker->now = now;
    worker->wake = wake;
    worker->context = context;
    atomic_init(&worker->busy, false);
    // None of these can fail on Linux.
    (void)pthread_mutex_init(&worker->mutex, NULL);
    (void)sem_init(&worker->given, 0, 0);
    (void)pthread_condattr_init(&by_monotonic);
    (void)pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&worker->is_done, &by_monotonic);
    (void)pthread_condattr_destroy(&by_monotonic);
    error = worker_thread_start(worker);
    if (error) {
        worker_release(worker);
        return error;
    }
    *thread = worker;
    return 0;
}

struct journal_worker worker_thread_interface(struct worker_thread *thread)
{
    return (struct journal_worker){
        .self = thread, .give = worker_give, .done = worker_done, .wait = worker_wait};
}

void worker_thread_free(struct worker_thread *thread)
{
    if (!thread) {
        return;
    }
    worker_wait(thread);
    thread->task = NULL;
    thread->call = NULL;
    (void)sem_post(&thread->given);
    (void)pthread_join(thread->thread, NULL);
    worker_release(thread);
}
