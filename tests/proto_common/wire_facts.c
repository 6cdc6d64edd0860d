/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_facts.h"

static void cpu_time(nsec_t *user_for, nsec_t *system_for)
{
    *user_for = 3 * NSEC_PER_SEC + 2000;
    *system_for = 1 * NSEC_PER_SEC + 500 * NSEC_PER_MSEC;
}

const struct process_facts wire_facts = {
    .pid = 4242,
    .started_at = WIRE_STARTS_AT - 77 * NSEC_PER_SEC,
    .version = "0.1.0",
    .hostname = "test.host",
    .os = "#1 SMP",
    .platform = "x86_64",
    .instance = UINT64_C(0x0123456789abcdef),
    .cpu_time = cpu_time,
};
