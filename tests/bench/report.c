/* SPDX-License-Identifier: MIT */
#include "tests/bench/report.h"

#include "tests/bench/run.h"
#include "tests/bench/tls.h"
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

// Microseconds for a job of each thread, the one first that the process began with.
static void print_server(const struct measured *measured)
{
    double cpu = (double)procfs_sum(&measured->server);
    double jobs = (double)measured->jobs;
    printf(" server_cpu_us=%.3f server_busy=%.4f", ratio(cpu / 1e3, jobs),
           ratio(cpu, (double)measured->nsec));
    for (size_t i = 0; i < measured->server.count; i++) {
        const struct procfs_thread *thread = &measured->server.list[i];
        printf("%s%s:%.4f", i == 0 ? " threads=" : ",", thread->name,
               ratio((double)thread->cpu / 1e3, jobs));
    }
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
    if (args->server_count)
        print_server(measured);
    if (run->tls)
        printf(" tls_handshakes=%" PRIu64 " tls_resumed=%" PRIu64, tls_handshakes(run->tls),
               tls_resumed(run->tls));
    printf(" load_busy=%.4f", ratio((double)measured->own_cpu, nsec));
    printf(" accepted=%" PRIu64 " completed=%" PRIu64 "\n", run->accepted, run->completed);
}
