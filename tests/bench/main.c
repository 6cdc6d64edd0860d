/* SPDX-License-Identifier: MIT */

// A load generator: one thread, many connections, each with a fixed number of requests in flight.
// A reply is the only thing that makes the next request, so the load never runs ahead of the
// server, and a latency is the time that a client would have waited.

#include "tests/bench/args.h"
#include "tests/bench/report.h"
#include "tests/bench/run.h"

int main(int argc, char **argv)
{
    static struct run run; // large, for its histogram
    struct args args;
    args_parse(&args, argc, argv);
    run_all(&run, &args);
    report_print(&run);
    int status = run.errors ? 1 : 0;
    run_free(&run);
    return status;
}
