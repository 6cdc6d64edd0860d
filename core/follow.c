/* SPDX-License-Identifier: MIT */

// Following a job: being told of it, and nothing else.

#include "core/session_private.h"
#include "core/job_private.h"
#include "core/watch.h"
#include "core/result.h"

enum status broker_follow(struct session *session, uint64_t id, struct watch **watch)
{
    struct job *job = broker_job(session->broker, id);
    enum status status = session_check_job(session, MAY_OBSERVE, job);

    ENSURE(!session->broker->settling);
    if (status != STATUS_OK) {
        return status;
    }
    if (job->state == JOB_BURIED) {
        return STATUS_WRONG_STATE;
    }
    *watch = watch_follow(session, job);
    return *watch ? STATUS_OK : STATUS_NO_MEMORY;
}
