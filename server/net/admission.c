/* SPDX-License-Identifier: MIT */
#include "server/net/admission.h"

#include "core/base/memory.h"
#include "server/net/crowd.h"
#include "server/net/seats.h"

#include <string.h>

static bool is_local(const char *peer)
{
    return strncmp(peer, "127.", 4) == 0 || strncmp(peer, "[::1]", 5) == 0 ||
           strncmp(peer, "unix", 4) == 0;
}

bool admission_has_memory(uint64_t open, const char *peer, struct crowd *crowd, unsigned protocol)
{
    return !memory_is_crowded() || open < ADMISSION_ALWAYS ||
           (!memory_is_over() && is_local(peer)) ||
           (crowd && seats_administer(crowd_seats(crowd), protocol));
}
