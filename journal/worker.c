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

// How often whoever waits for the disk says so.
enum { PATIENCE_SECONDS = 5 };

struct hand_thread {
    const struct journal_io *io;
    nsec_t (*now)(void);
    void (*wake)(void *context);
    void *context;
    pthread_t thread;
    sem_t given;            // `task` or `call` was set
    struct task *task;      // the one to do, or being done; neither: the thread is to end
    void (*call)(void *);   // to make instead
    void *call_context;     //
    atomic_bool busy;       // a task is not done yet
    pthread_mutex_t mutex;  // for those who wait for that
    pthread_cond_t is_done; // `busy` was cleared; it is waited for by the monotonic clock
};

// False where it is to end.
static bool await_task(struct hand_thread *hand)
{
    while (sem_wait(&hand->given) != 0) {
        // It was interrupted.
    }
    return hand->task || hand->call;
}

static void do_task(const struct hand_thread *hand, struct task *task)
{
    nsec_t began_at = hand->now();

    task_run(task, hand->io);
    task->took_for = hand->now() - began_at;
}

static void *hand_run(void *self)
{
    struct hand_thread *hand = self;

    while (await_task(hand)) {
        if (hand->call) {
            hand->call(hand->call_context);
        } else {
            do_task(hand, hand->task);
        }
        (void)pthread_mutex_lock(&hand->mutex);
        // What the task says is written before this is.
        atomic_store_explicit(&hand->busy, false, memory_order_release);
        (void)pthread_cond_signal(&hand->is_done);
        (void)pthread_mutex_unlock(&hand->mutex);
        hand->wake(hand->context);
    }
    return NULL;
}

// Within a call, the thread itself is who has tasks done.
static bool is_itself(const struct hand_thread *hand)
{
    return pthread_equal(pthread_self(), hand->thread) != 0;
}

static void give(struct hand_thread *hand, struct task *task, void (*call)(void *), void *context)
{
    ENSURE(!atomic_load_explicit(&hand->busy, memory_order_relaxed));
    hand->task = task;
    hand->call = call;
    hand->call_context = context;
    atomic_store_explicit(&hand->busy, true, memory_order_relaxed);
    (void)sem_post(&hand->given);
}

static void hand_give(void *self, struct task *task)
{
    struct hand_thread *hand = self;

    if (is_itself(hand)) {
        do_task(hand, task);
    } else {
        give(hand, task, NULL, NULL);
    }
}

void hand_thread_call(struct hand_thread *thread, void (*call)(void *context), void *context)
{
    give(thread, NULL, call, context);
}

bool hand_thread_idle(const struct hand_thread *thread)
{
    return !atomic_load_explicit(&thread->busy, memory_order_acquire);
}

static bool hand_done(void *self)
{
    const struct hand_thread *hand = self;

    return is_itself(hand) || hand_thread_idle(hand);
}

// A disk may hang, and the broker with it: nobody should have to guess why.
static void hand_wait(void *self)
{
    struct hand_thread *hand = self;
    struct timespec until;
    int64_t waited_for = 0;

    (void)pthread_mutex_lock(&hand->mutex);
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_SECONDS;
    while (!hand_done(hand)) {
        if (pthread_cond_timedwait(&hand->is_done, &hand->mutex, &until) == ETIMEDOUT) {
            until.tv_sec += PATIENCE_SECONDS;
            waited_for += PATIENCE_SECONDS;
            log_warn("journal_slow", log_number("seconds", waited_for),
                     log_string("why", "everything waits for the disk, which may hang"));
        }
    }
    (void)pthread_mutex_unlock(&hand->mutex);
}

// Signals are the loop's: the thread begins, and stays, with all of them blocked.
static int thread_start(struct hand_thread *hand)
{
    sigset_t all;
    sigset_t before;
    int error;

    (void)sigfillset(&all);
    error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error) {
        return error;
    }
    error = pthread_create(&hand->thread, NULL, hand_run, hand);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        (void)pthread_setname_np(hand->thread, "tandem-journal");
    }
    return error;
}

static void hand_release(struct hand_thread *hand)
{
    (void)pthread_cond_destroy(&hand->is_done);
    (void)sem_destroy(&hand->given);
    (void)pthread_mutex_destroy(&hand->mutex);
    free(hand);
}

int hand_thread_new(struct hand_thread **thread, const struct journal_io *io, nsec_t (*now)(void),
                    void (*wake)(void *context), void *context)
{
    struct hand_thread *hand = calloc(1, sizeof *hand);
    pthread_condattr_t by_monotonic;
    int error;

    *thread = NULL;
    if (!hand) {
        return ENOMEM;
    }
    hand->io = io;
    hand->now = now;
    hand->wake = wake;
    hand->context = context;
    atomic_init(&hand->busy, false);
    // None of these needs anything that can be refused.
    (void)pthread_mutex_init(&hand->mutex, NULL);
    (void)sem_init(&hand->given, 0, 0);
    (void)pthread_condattr_init(&by_monotonic);
    (void)pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&hand->is_done, &by_monotonic);
    (void)pthread_condattr_destroy(&by_monotonic);
    error = thread_start(hand);
    if (error) {
        hand_release(hand);
        return error;
    }
    *thread = hand;
    return 0;
}

struct journal_hand hand_thread_hand(struct hand_thread *thread)
{
    return (struct journal_hand){
        .self = thread, .give = hand_give, .done = hand_done, .wait = hand_wait};
}

void hand_thread_free(struct hand_thread *thread)
{
    if (!thread) {
        return;
    }
    hand_wait(thread);
    thread->task = NULL;
    thread->call = NULL;
    (void)sem_post(&thread->given);
    (void)pthread_join(thread->thread, NULL);
    hand_release(thread);
}
