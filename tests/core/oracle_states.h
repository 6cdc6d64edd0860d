/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_ORACLE_STATES_H
#define TANDEM_TESTS_CORE_ORACLE_STATES_H

// Private to the oracle: how a job goes from one state to another, and which sessions are told.

#include "tests/core/oracle.h"

#define EACH_JOB(o, job)                                                                           \
    for (struct oracle_job *job = (o)->jobs; job < (o)->jobs + ORACLE_JOBS; job++)                 \
        if (job->id)

// Adds one to a counter of the queue and of the broker.
#define ORACLE_COUNT(o, job, what) ((o)->ever.what++, (o)->ever_of[(job)->queue].what++)

enum loss { LOST_LEFT, LOST_TTR, LOST_LIMIT };

void model_tell(struct oracle *o, int session, const char *what, uint64_t id);
void model_tell_watchers(struct oracle *o, const struct oracle_job *job, const char *what);
nsec_t model_min(nsec_t a, nsec_t b);
struct oracle_job *model_held(struct oracle *o, int session, uint64_t id);
void model_end(struct oracle *o, struct oracle_job *job, const char *told);
// Whether the session is subscribed, but to no queue that it may work on.
bool model_is_barred(const struct oracle_session *who);
void model_lease(struct oracle *o, struct oracle_job *job, int session, bool by_id);
bool model_assign(struct oracle *o, struct oracle_job *job);
void model_ready(struct oracle *o, struct oracle_job *job);
void model_meet_all(struct oracle *o);
nsec_t model_left_until(const struct oracle *o, nsec_t at, bool on_wall);
void model_start(struct oracle *o, struct oracle_job *job, nsec_t at, bool on_wall);
void model_bury(struct oracle *o, struct oracle_job *job);
void model_failed(struct oracle *o, struct oracle_job *job);
bool model_abandoned(const struct oracle_job *job);
void model_lost(struct oracle *o, struct oracle_job *job, enum loss why);
void model_reclaim_key(struct oracle *o, struct oracle_job *job);
// The worker reports that it has finished the job.
void model_done(struct oracle *o, const struct oracle_job *job);
void model_forget_counts(struct oracle *o, int queue);
void model_kick(struct oracle *o, struct oracle_job *job);

#endif
