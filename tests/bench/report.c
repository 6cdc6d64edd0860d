/* SPDX-License-Identifier: MIT */
#include "tests/bench/report.h"

#include "tests/bench/run.h"
#include "tests/bench/workload.h"

#include <inttypes.h>
#include <stdio.h>

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static double quantile_usec(const struct run *run, double share)
{
    return (double)histogram_quantile(&run->measured.latencies, share) / 1e3;
}

void report_print(const struct run *run)
{
    const struct args *args = run->args;
    const struct measured *measured = &run->measured;
    double nsec = (double)measured->nsec;
    double jobs = (double)measured->jobs;
    printf("case=%s protocol=%s conns=%u depth=%u size=%u", args->workload->name,
           args->protocol->name, args->conns, args->depth, args->size);
    printf(" jobs=%" PRIu64 " seconds=%.6f rate=%.1f", measured->jobs, nsec / 1e9,
           ratio(jobs, nsec / 1e9));
    printf(" p50_us=%.1f p99_us=%.1f p999_us=%.1f max_us=%.1f", quantile_usec(run, 0.5),
           quantile_usec(run, 0.99), quantile_usec(run, 0.999),
           (double)measured->latencies.max / 1e3);
    printf(" errors=%" PRIu64, run->errors);
    if (args->server)
        printf(" server_cpu_us=%.3f server_busy=%.4f",
               ratio((double)measured->server_cpu / 1e3, jobs),
               ratio((double)measured->server_cpu, nsec));
    printf(" load_busy=%.4f", ratio((double)measured->own_cpu, nsec));
    printf(" accepted=%" PRIu64 " completed=%" PRIu64 "\n", run->accepted, run->completed);
}
