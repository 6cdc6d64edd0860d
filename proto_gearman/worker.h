/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_WORKER_H
#define TANDEM_PROTO_GEARMAN_WORKER_H

// What a worker says of jobs: that it wants one, and what has become of one.

#include "proto_gearman/conn.h"
#include "proto_gearman/packet.h"

// A worker that goes to sleep has no time-outs any more for the jobs that it holds; where these are
// many, the state is GEAR_RESTING until that is done.
void gear_pre_sleep(struct gear_conn *conn, const struct gear_packet *packet);
enum step gear_resting_step(struct gear_conn *conn);

// GRAB_JOB, GRAB_JOB_UNIQ, GRAB_JOB_ALL.
void gear_grab(struct gear_conn *conn, const struct gear_packet *packet);

// Whether clients have yet to be told of reports before this one.
bool gear_report_is_early(const struct gear_conn *conn, const struct gear_packet *packet);

// Whether the packet is a report that must wait for that. Asked of every packet; few are reports.
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

// The packet is refused before it was carried out: where its data is a part of a result, its job
// cannot be told as complete.
void gear_data_lost(struct gear_conn *conn, const struct gear_packet *packet);

#endif
