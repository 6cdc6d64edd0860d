/* SPDX-License-Identifier: MIT */
#include "proto_http/submission.h"

#include "core/base/macros.h"
#include "proto_common/contract.h"
#include "http1/caller.h"
#include "proto_common/intake.h"

#include "proto_http/answer.h"
#include "proto_http/request.h"

static struct job_spec spec_of(const struct http1_conn *conn, struct slice workload,
                               struct blob *blob)
{
    const struct web_options *options = web_shared(conn)->options;
    const struct web_request *request = web_request(conn);
    struct job_spec spec = contract_begin(request->pri, request->background, options->job_retries,
                                          (enum contract_on_fail)options->on_fail);
    bool good;

    spec.start_kind = request->start_kind;
    spec.start = request->start;
    spec.ttr_for = nsec_from_seconds(request->ttr);
    good = contract_set_unique(&spec, slice_of(request->unique, request->unique_len));
    ENSURE(good); // its length was checked with the head
    intake_set_body(&spec, workload, blob);
    return spec;
}

void web_submit_refuse(struct http1_conn *conn, enum status status)
{
    const char *why = status_text(status);

    if (status == STATUS_FORBIDDEN) {
        // The access rules were reloaded while the body arrived.
        http1_caller_refuse(conn, web_target_name(&web_request(conn)->target));
    } else if (status == STATUS_TOO_LARGE || status == STATUS_BAD_NAME) {
        web_refuse_error(conn, 400, why);
    } else if (status == STATUS_JOB_TOO_LARGE) {
        wire_log_too_large(conn->wire, "a job", 0, WIRE_QUEUE_JOB_SIZE);
        web_refuse_error(conn, 413, why);
    } else {
        wire_refused_status(conn->wire, status);
        web_refuse_later(conn, status == STATUS_QUEUE_FULL ? 429 : 503, why);
    }
}

enum status web_submit_job(struct http1_conn *conn, struct slice workload, struct blob *blob,
                           struct submission *submission)
{
    struct job_spec spec = spec_of(conn, workload, blob);

    return contract_submit(conn->shared->broker, conn->wire, conn->session,
                           web_target_name(&web_request(conn)->target), &spec, submission);
}

void web_submit_answer(struct http1_conn *conn, uint64_t id)
{
    web_answer(conn, &(struct web_answer){.status = 200, .command = "JOB_CREATED", .job_id = id},
               SLICE(""));
}
