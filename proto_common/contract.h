/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_CONTRACT_H
#define TANDEM_PROTO_COMMON_CONTRACT_H

// What a Gearman submission means, whether it came as a packet or as an HTTP request: the contract
// of its job (struct job_spec), built step by step; intake_set_body() gives it its workload. The
// words of a refusal are the front-end's.
//
// - A background job is durable, and nobody is told of it. A foreground job is watched by the
//   session that submitted it; it is not kept by a store, and goes with its last watch unless a
//   worker has it.
// - A job whose worker is lost goes to the end of its priority, and an attempt is spent.
// - Only a background job may start later. One that says no time to run has none.
//
// The contract borrows all bytes that it is given until it is submitted.

#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/broker.h"
#include "proto_common/wire.h"

#include <stdbool.h>
#include <stdint.h>

// Bytes of a unique key.
#define CONTRACT_UNIQUE_MAX 64

// What becomes of a background job that fails: the setting gearman.on_fail, in the order of its
// words.
enum contract_on_fail { CONTRACT_FAIL_DROPS, CONTRACT_FAIL_BURIES };

// The contract of a job that starts at once and has neither key, reducer nor workload.
// `job_retries` is the setting: how often a job may be begun; 0 counts as 1, -1: no limit.
struct job_spec contract_begin(uint32_t pri, bool background, int64_t job_retries,
                               enum contract_on_fail on_fail);

// Sets the key: none where it is empty, the job's content for `-`, else a name. False where it is
// too long.
bool contract_set_unique(struct job_spec *spec, struct slice unique) MUST_USE;

// Whether a workload of `len` bytes will be, or may be, the key of its job, and is long: it is to
// be hashed as it comes (intake_hash()).
bool contract_keys_body(struct broker *broker, struct slice function, struct slice unique,
                        size_t len);

// Submits the job to the function, which is made where there is none. What is staged afterwards
// waits until the store has the job. `session` becomes the watcher of a foreground job.
//
// Wrong by itself: STATUS_FORBIDDEN, STATUS_TOO_LARGE, STATUS_JOB_TOO_LARGE, STATUS_BAD_NAME.
// Refused for now, with nothing changed: STATUS_QUEUE_FULL, STATUS_TOO_MANY_QUEUES,
// STATUS_DRAINING, STATUS_NO_MEMORY, STATUS_NO_SPACE.
enum status contract_submit(struct broker *broker, struct wire *wire, struct session *session,
                            struct slice function, struct job_spec *spec,
                            struct submission *submission) MUST_USE;

#endif
