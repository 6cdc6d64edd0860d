/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_CONTRACT_H
#define TANDEM_PROTO_COMMON_CONTRACT_H

// The meaning of a Gearman submission, which may be a packet or an HTTP request: the contract of
// its job (struct job_spec), built step by step; intake_set_body() sets the workload. The front-end
// words the refusals.
//
// - A background job is durable, and no client gets reports about it. A foreground job is watched
//   by the session that submitted it; it is not stored, and ends with its last watch unless a
//   worker holds it.
// - A job whose worker disconnects goes to the end of its priority, and loses an attempt.
// - Only a background job may have a start time. A job without a time to run has no limit.
//
// The contract borrows all bytes until it is submitted.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/wire.h"

#include <stdbool.h>
#include <stdint.h>

// The maximum length of a unique key, in bytes.
#define CONTRACT_UNIQUE_MAX 64

// What happens to a background job that fails: the setting gearman.on_fail, in the order of its
// choices.
enum contract_on_fail { CONTRACT_FAIL_DROPS, CONTRACT_FAIL_BURIES };

// The contract of a job that starts at once, without key, reducer and workload. `job_retries` is
// the setting: the maximum number of attempts; 0 counts as 1, -1: no limit.
struct job_spec contract_begin(uint32_t pri, bool background, int64_t job_retries,
                               enum contract_on_fail on_fail);

// Sets the key: no key if `unique` is empty, the job's content if it is `-`, otherwise a name.
// False: it is too long.
bool contract_set_unique(struct job_spec *spec, struct slice unique) MUST_USE;

// Whether a workload of `len` bytes may be the key of its job and is long: then it must be hashed
// while it arrives (intake_hash()).
bool contract_keys_body(struct broker *broker, struct slice function, struct slice unique,
                        size_t len);

// Submits the job to the function, which is created if it does not exist. Output that is staged
// afterwards waits until the store has the job. `session` watches a foreground job.
//
// Invalid submissions: STATUS_FORBIDDEN, STATUS_TOO_LARGE, STATUS_JOB_TOO_LARGE, STATUS_BAD_NAME.
// Refused for now, and nothing has changed: STATUS_QUEUE_FULL, STATUS_TOO_MANY_QUEUES,
// STATUS_DRAINING, STATUS_NO_MEMORY, STATUS_NO_SPACE.
enum status contract_submit(struct broker *broker, struct wire *wire, struct session *session,
                            struct slice function, struct job_spec *spec,
                            struct submission *submission) MUST_USE;

#endif
