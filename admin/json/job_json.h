/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_JSON_JOB_JSON_H
#define TANDEM_ADMIN_JSON_JOB_JSON_H

// Jobs and their kept results (core/result.h) as documents of the API, without bodies and result
// data. Documents are NULL if there is no memory. A reply that contains a job must wait until the
// job is durable: job_json_hold(); the functions of results do that themselves.

#include "core/broker.h"
#include "core/result.h"
#include "http1/http1_conn.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// The names of job states, by enum job_state, ending with NULL.
extern const char *const job_state_names[JOB_STATES + 1];

// `Job`, and with its contract and history `JobDetail`.
json_t *job_json(const struct http1_conn *conn, const struct job *job);
json_t *job_detail_json(const struct http1_conn *conn, const struct job *job);

// Delays the further output of the connection until the job is as durable as configured.
void job_json_hold(const struct http1_conn *conn, const struct job *job);

// The job with this id, or NULL if there is none that the caller may observe.
const struct job *job_find_observed(const struct http1_conn *conn, uint64_t id);

// Gets the kept result of the job with this id; false if there is none that the caller may observe.
// The result is borrowed as broker_result() says.
bool result_find_observed(const struct http1_conn *conn, uint64_t id, struct result *result);

// `EndedJob`.
json_t *ended_job_json(const struct result *result);

#endif
