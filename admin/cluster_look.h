/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_CLUSTER_LOOK_H
#define TANDEM_ADMIN_CLUSTER_LOOK_H

// How this process stands to others that have, or follow, the same journal.

#include "proto_common/sight.h"

// SIGHT_ALONE where there are none. Texts are never NULL.
void cluster_look(const struct sight *sight, struct sight_cluster *cluster);

// "owner" and the like.
const char *cluster_role_word(enum sight_role role);

#endif
