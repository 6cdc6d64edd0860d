/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_WORKER_H
#define TANDEM_PROTO_GEARMAN_WORKER_H

// A worker's packets about jobs: it asks for one, and reports what has become of it.

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

// PRE_SLEEP. The jobs that the worker holds have no time-out any more; where it holds many, the
// state is GEAR_ENDING_TIMEOUTS until the time-outs of all of them have ended.
void gear_pre_sleep(struct gear_conn *conn, const struct gear_packet *packet);
enum step gear_end_timeouts_step(struct gear_conn *conn);

// GRAB_JOB, GRAB_JOB_UNIQ, GRAB_JOB_ALL.
void gear_grab(struct gear_conn *conn, const struct gear_packet *packet);

// Whether the clients of the job have not been sent the reports before this one yet.
bool gear_report_is_early(const struct gear_conn *conn, const struct gear_packet *packet);

// Whether the packet is a report that must wait until they have. Asked of every packet.
static inline bool gear_report_waits(const struct gear_conn *conn, const struct gear_packet *packet)
{
    bool report = packet->type == GEAR_WORK_STATUS || packet->type == GEAR_WORK_DATA ||
                  packet->type == GEAR_WORK_WARNING;

    return report && gear_report_is_early(conn, packet);
}

void gear_work_status(struct gear_conn *conn, const struct gear_packet *packet);
// WORK_DATA and WORK_WARNING.
void gear_work_data(struct gear_conn *conn, const struct gear_packet *packet);
void gear_work_complete(struct gear_conn *conn, const struct gear_packet *packet);
void gear_work_fail(struct gear_conn *conn, const struct gear_packet *packet);
void gear_work_exception(struct gear_conn *conn, const struct gear_packet *packet);

// The data of the packet, a report, has so many bytes: more than gearman.max_job_size. It is passed
// over, which the log tells; a worker is sent no ERROR, as it would take that for the answer to the
// packet that it sends next. Of a WORK_DATA, its clients miss a part of the result, as below. A
// WORK_COMPLETE or WORK_EXCEPTION ends the job as WORK_FAIL does: the next worker's would be as
// large.
void gear_report_too_large(struct gear_conn *conn, const struct gear_packet *packet, size_t size);

// The packet is refused without being carried out. Where it is a WORK_DATA, its clients miss a part
// of the result: a WORK_COMPLETE that follows is told to them as WORK_FAIL.
void gear_data_lost(struct gear_conn *conn, const struct gear_packet *packet);

#endif
