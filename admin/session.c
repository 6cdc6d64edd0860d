/* SPDX-License-Identifier: MIT */
#include "admin/session.h"

#include "core/base/macros.h"

static void on_leased(void *owner, const struct job *job)
{
    (void)owner;
    (void)job;
    UNREACHABLE();
}

static void on_wait_over(void *owner, enum wait_end why)
{
    (void)owner;
    (void)why;
    UNREACHABLE();
}

static void on_nudged(void *owner)
{
    (void)owner;
    UNREACHABLE();
}

static void on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    UNREACHABLE();
}

const struct session_ops admin_session_ops = {
    .leased = on_leased,
    .wait_over = on_wait_over,
    .nudged = on_nudged,
    .job_event = on_job_event,
};
