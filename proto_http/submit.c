/* SPDX-License-Identifier: MIT */
#include "proto_http/submit.h"

#include "core/base/macros.h"
#include "proto_common/contract.h"
#include "proto_common/intake.h"

#include "proto_http/answer.h"
#include "proto_http/request.h"

static struct job_spec spec_of(const struct web_conn *conn, const struct web_workload *workload)
{
    const struct web_options *options = conn->shared->options;
    const struct web_request *request = conn->request;
    struct job_spec spec = contract_begin(request->pri, request->background, options->job_retries,
                                          (enum contract_on_fail)options->on_fail);
    bool good;

    spec.start_kind = request->start_kind;
    spec.start = request->start;
    spec.ttr_for = nsec_from_seconds(request->ttr);
    good = contract_set_unique(&spec, slice_of(request->unique, request->unique_len));
    ENSURE(good); // its length was looked at with the head
    intake_set_body(&spec, workload->bytes, workload->blob);
    return spec;
}

static void refuse_submission(struct web_conn *conn, enum status status)
{
    const char *why = status_text(status);

    if (status == STATUS_TOO_LARGE || status == STATUS_BAD_NAME) {
        web_refuse_error(conn, 400, why);
    } else {
        web_refuse_later(conn, status == STATUS_QUEUE_FULL ? 429 : 503, why);
    }
}

enum web_next web_submit(struct web_conn *conn, const struct web_workload *workload,
                         struct submission *submission)
{
    const struct web_target *target = &conn->request->target;
    struct job_spec spec = spec_of(conn, workload);
    enum status status =
        contract_submit(conn->shared->broker, conn->wire, conn->session,
                        slice_of(target->name, target->name_len), &spec, submission);

    if (status != STATUS_OK) {
        refuse_submission(conn, status);
        return WEB_NEXT_REQUEST;
    }
    if (!conn->request->background) {
        return WEB_NEXT_WAIT;
    }
    web_answer(
        conn,
        &(struct web_answer){.status = 200, .command = "JOB_CREATED", .job_id = submission->id},
        SLICE(""));
    return WEB_NEXT_REQUEST;
}
