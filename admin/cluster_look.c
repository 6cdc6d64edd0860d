/* SPDX-License-Identifier: MIT */
#include "admin/cluster_look.h"

#include "core/base/macros.h"

#include <stddef.h>

void cluster_look(const struct sight *sight, struct sight_cluster *cluster)
{
    *cluster = (struct sight_cluster){.role = SIGHT_ALONE,
                                      .shard = "",
                                      .node = "",
                                      .owner = "",
                                      .owner_address = "",
                                      .care = "",
                                      .why = ""};
    if (sight && sight->cluster) {
        sight->cluster(sight->host, cluster);
    }
}

const char *cluster_role_word(enum sight_role role)
{
    switch (role) {
    case SIGHT_ALONE:
        return "alone";
    case SIGHT_OWNER:
        return "owner";
    case SIGHT_UNSURE:
        return "unsure";
    case SIGHT_STANDBY:
        return "standby";
    case SIGHT_OPENING:
        return "opening";
    }
    UNREACHABLE();
}
