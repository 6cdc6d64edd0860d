/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SHOWN_JOB_H
#define TANDEM_ADMIN_SHOWN_JOB_H

// A job as the API shows it: `Job`, and with its contract and past `JobDetail`, but for the body.
// What shows a job waits for its position in the store: shown_job_hold().

#include "core/broker.h"
#include "http1/context.h"

#include <jansson.h>

// The words for the states of a job, by enum job_state; NULL behind the last one.
extern const char *const shown_states[JOB_STATES + 1];

// NULL without memory.
json_t *shown_job(const struct http1_conn *conn, const struct job *job);
json_t *shown_job_detail(const struct http1_conn *conn, const struct job *job);

// What the connection is sent from now on leaves only when the job is as safe as was asked for.
void shown_job_hold(const struct http1_conn *conn, const struct job *job);

// The job of that id, where the caller of the request may see that it is there; NULL otherwise.
const struct job *shown_job_find(const struct http1_conn *conn, uint64_t id);

#endif
