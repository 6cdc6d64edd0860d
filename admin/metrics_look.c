/* SPDX-License-Identifier: MIT */
#include "admin/metrics_look.h"

#include "proto_common/frontend.h"

#include "admin/cluster_look.h"

#include <string.h>

static void look_at_beanstalk(struct metric_look *look)
{
    struct sight_protocol protocol;

    for (size_t i = 0; look->sight->protocol(look->sight->host, i, &protocol); i++) {
        if (strcmp(protocol.name, "beanstalk") == 0) {
            look->beanstalk = protocol;
        }
    }
}

static void look_at_schedules(struct metric_look *look)
{
    const struct schedules *schedules = look->sight->schedules(look->sight->host);

    if (schedules) {
        look->schedule_count = schedules_count(schedules);
        schedules_counts(schedules, &look->schedules);
    }
}

// That of a standby never ends, and is told as a role.
static void look_at_opening(struct metric_look *look)
{
    look->is_opening = look->sight->opening(look->sight->host, &look->opening) &&
                       look->cluster.role != SIGHT_STANDBY;
    if (!look->is_opening) {
        look->opening = (struct sight_opening){.jobs = 0};
    }
}

void metric_look(struct metric_look *look, const struct broker *broker,
                 const struct process_facts *facts, const struct sight *sight)
{
    struct instant now = broker_now(broker);

    memset(look, 0, sizeof *look);
    look->facts = facts;
    look->sight = sight;
    broker_info(broker, &look->broker);
    broker_memo_usage(broker, MEMO_RESULT, &look->results);
    metric_numbers_broker(broker, &look->all);
    look->up_for = now.mono > facts->started_at ? now.mono - facts->started_at : 0;
    look->started_at = now.wall > look->up_for ? now.wall - look->up_for : 0;
    facts->cpu_time(&look->user_for, &look->system_for);
    look->cpu_for = look->user_for + look->system_for;
    look->journal.disk_free = UINT64_MAX;
    cluster_look(sight, &look->cluster);
    if (sight) {
        look_at_beanstalk(look);
        look_at_schedules(look);
        sight->loop(sight->host, &look->loop);
        sight->memory(sight->host, &look->memory);
        sight->descriptors(sight->host, &look->descriptors);
        sight->journal(sight->host, &look->journal);
        look_at_opening(look);
    }
}
