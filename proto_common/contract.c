/* SPDX-License-Identifier: MIT */
#include "proto_common/contract.h"

struct job_spec contract_begin(uint32_t pri, bool background, int64_t job_retries,
                               enum contract_on_fail on_fail)
{
    return (struct job_spec){
        .pri = pri,
        .max_attempts = job_retries < 0    ? 0
                        : job_retries == 0 ? 1
                                           : (uint32_t)job_retries,
        .on_fail = on_fail == CONTRACT_FAIL_BURIES ? ON_FAIL_BURY : ON_FAIL_DROP,
        .on_loss = ON_LOSS_BACK,
        .durable = background,
    };
}

bool contract_set_unique(struct job_spec *spec, struct slice unique)
{
    if (slice_equal(unique, SLICE("-"))) {
        spec->key_kind = KEY_CONTENT;
    } else if (unique.len > 0) {
        spec->key_kind = KEY_NAME;
        spec->key = unique;
    }
    return unique.len <= CONTRACT_UNIQUE_MAX;
}

bool contract_keys_body(struct broker *broker, struct slice function, struct slice unique,
                        size_t len)
{
    return len > BLOB_DIGEST_ABOVE && (slice_equal(unique, SLICE("-")) ||
                                       (unique.len == 0 && broker_keys_bodies(broker, function)));
}

enum status contract_submit(struct broker *broker, struct wire *wire, struct session *session,
                            struct slice function, struct job_spec *spec,
                            struct submission *submission)
{
    enum status status;

    spec->watched = !spec->durable;
    status = broker_submit_to(broker, function, spec, session, submission);

    if (status == STATUS_OK) {
        wire_submitted(wire, broker_position(broker));
    }
    return status;
}
