/* SPDX-License-Identifier: MIT */
#include "tests/bench/args.h"

#include "tests/bench/protocol.h"
#include "tests/bench/workload.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum option_key {
    KEY_HOST,
    KEY_PORT,
    KEY_PROTOCOL,
    KEY_BATCH,
    KEY_PRIORITIES,
    KEY_KEYS_FROM,
    KEY_SECONDS,
    KEY_WARMUP,
    KEY_JOBS,
    KEY_TLS,
    KEY_TICKETS,
    KEY_SERVER_PID,
    KEY_HELP,
    KEY_AMOUNT // this and the next ones: of the amount of that place below
};

enum amount_name {
    AMOUNT_CONNS,
    AMOUNT_PRODUCERS,
    AMOUNT_WORKERS,
    AMOUNT_DEPTH,
    AMOUNT_SIZE,
    AMOUNT_RESULT_SIZE,
    AMOUNT_QUEUES,
    AMOUNT_TAKE
};

static const struct amount {
    size_t offset; // of a uint32_t in struct args
    uint32_t min;
    uint32_t max;
} amounts[] = {
    [AMOUNT_CONNS] = {offsetof(struct args, conns), 1, 1000000},
    [AMOUNT_PRODUCERS] = {offsetof(struct args, producers), 1, 100000},
    [AMOUNT_WORKERS] = {offsetof(struct args, workers), 1, 100000},
    [AMOUNT_DEPTH] = {offsetof(struct args, depth), 1, 65536},
    [AMOUNT_SIZE] = {offsetof(struct args, size), 0, 1 << 30},
    [AMOUNT_RESULT_SIZE] = {offsetof(struct args, result_size), 1, 1 << 30},
    [AMOUNT_QUEUES] = {offsetof(struct args, queues), 1, 1000000},
    [AMOUNT_TAKE] = {offsetof(struct args, take), 1, 1000},
};

static const struct option options[] = {
    {"host", required_argument, NULL, KEY_HOST},
    {"port", required_argument, NULL, KEY_PORT},
    {"protocol", required_argument, NULL, KEY_PROTOCOL},
    {"conns", required_argument, NULL, KEY_AMOUNT + AMOUNT_CONNS},
    {"producers", required_argument, NULL, KEY_AMOUNT + AMOUNT_PRODUCERS},
    {"workers", required_argument, NULL, KEY_AMOUNT + AMOUNT_WORKERS},
    {"depth", required_argument, NULL, KEY_AMOUNT + AMOUNT_DEPTH},
    {"batch", no_argument, NULL, KEY_BATCH},
    {"size", required_argument, NULL, KEY_AMOUNT + AMOUNT_SIZE},
    {"result-size", required_argument, NULL, KEY_AMOUNT + AMOUNT_RESULT_SIZE},
    {"priorities", required_argument, NULL, KEY_PRIORITIES},
    {"queues", required_argument, NULL, KEY_AMOUNT + AMOUNT_QUEUES},
    {"take", required_argument, NULL, KEY_AMOUNT + AMOUNT_TAKE},
    {"keys-from", required_argument, NULL, KEY_KEYS_FROM},
    {"seconds", required_argument, NULL, KEY_SECONDS},
    {"warmup", required_argument, NULL, KEY_WARMUP},
    {"jobs", required_argument, NULL, KEY_JOBS},
    {"tls", no_argument, NULL, KEY_TLS},
    {"tickets", no_argument, NULL, KEY_TICKETS},
    {"server-pid", required_argument, NULL, KEY_SERVER_PID},
    {"help", no_argument, NULL, KEY_HELP},
    {NULL, 0, NULL, 0},
};

static const char usage[] =
    "usage: tandem_bench CASE --port PORT [OPTIONS]\n"
    "  --host ADDRESS         IPv4 address of the server (127.0.0.1)\n"
    "  --protocol NAME        beanstalk, gearman or http (beanstalk)\n"
    "  --conns N              connections (1)\n"
    "  --producers N, --workers N   connections of each kind (1, 1)\n"
    "  --depth N              requests in flight on each connection (1)\n"
    "  --batch                send them together, when the last ones are all answered\n"
    "  --size BYTES           of each body (100)\n"
    "  --result-size BYTES    of each result (which is the body, otherwise)\n"
    "  --priorities equal|random    (equal)\n"
    "  --queues N             spread the jobs over N queues (1)\n"
    "  --take N               jobs that a worker asks for at once, in a drain (1)\n"
    "  --keys-from N          give each job a key of its own, numbered from N on\n"
    "  --seconds S            to measure (5)\n"
    "  --warmup S             before that (1)\n"
    "  --jobs N               end after N jobs instead, without a warm-up\n"
    "  --tls                  connections speak TLS 1.3\n"
    "  --tickets              and the later ones resume the session of an earlier one\n"
    "  --server-pid PID       read this process's CPU time at both ends of the measurement;\n"
    "                         more than once: that of all of them\n"
    "cases:\n";

static void print_usage(FILE *to)
{
    fprintf(to, "%s", usage);
    for (const struct workload *const *workload = workloads; *workload; workload++)
        fprintf(to, "  %-8s %s\n", (*workload)->name, (*workload)->help);
}

static uint64_t parse_number(const char *text, uint64_t min, uint64_t max)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || strchr(text, '-') || value < min || value > max)
        errx(2, "%s: not a number from %llu to %llu", text, (unsigned long long)min,
             (unsigned long long)max);
    return value;
}

static double parse_seconds(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value <= 86400))
        errx(2, "%s: not a number of seconds", text);
    return value;
}

static bool parse_priorities(const char *text)
{
    if (strcmp(text, "random") != 0 && strcmp(text, "equal") != 0)
        errx(2, "%s: priorities are equal or random", text);
    return strcmp(text, "random") == 0;
}

static void set_amount(struct args *args, enum amount_name name, const char *text)
{
    const struct amount *amount = &amounts[name];
    uint32_t *field = (void *)((char *)args + amount->offset);
    *field = (uint32_t)parse_number(text, amount->min, amount->max);
}

static void add_server(struct args *args, pid_t server)
{
    if (args->server_count == SERVERS_MAX)
        errx(2, "too many servers");
    args->servers[args->server_count++] = server;
}

static void set_option(struct args *args, enum option_key key, const char *text)
{
    switch (key) {
    case KEY_HOST:
        args->host = text;
        break;
    case KEY_PORT:
        args->port = (uint16_t)parse_number(text, 1, UINT16_MAX);
        break;
    case KEY_PROTOCOL:
        args->protocol = protocol_find(text);
        if (!args->protocol)
            errx(2, "%s: no such protocol", text);
        break;
    case KEY_BATCH:
        args->batch = true;
        break;
    case KEY_PRIORITIES:
        args->random_pri = parse_priorities(text);
        break;
    case KEY_KEYS_FROM:
        args->first_key = parse_number(text, 1, UINT32_MAX);
        break;
    case KEY_SECONDS:
        args->seconds = parse_seconds(text);
        break;
    case KEY_WARMUP:
        args->warmup = parse_seconds(text);
        break;
    case KEY_JOBS:
        args->jobs = parse_number(text, 1, UINT32_MAX);
        break;
    case KEY_TLS:
        args->tls = true;
        break;
    case KEY_TICKETS:
        args->tickets = true;
        break;
    case KEY_SERVER_PID:
        add_server(args, (pid_t)parse_number(text, 1, INT_MAX));
        break;
    case KEY_HELP:
        print_usage(stdout);
        exit(0);
    case KEY_AMOUNT:
        abort(); // set_amount() has it
    }
}

void args_parse(struct args *args, int argc, char **argv)
{
    *args = (struct args){
        .protocol = protocol_find("beanstalk"),
        .host = "127.0.0.1",
        .conns = 1,
        .producers = 1,
        .workers = 1,
        .depth = 1,
        .size = 100,
        .queues = 1,
        .take = 1,
        .seconds = 5,
        .warmup = 1,
    };
    for (int key = getopt_long(argc, argv, "", options, NULL); key != -1;
         key = getopt_long(argc, argv, "", options, NULL)) {
        if (key == '?')
            exit(2);
        if (key >= KEY_AMOUNT)
            set_amount(args, (enum amount_name)(key - KEY_AMOUNT), optarg);
        else
            set_option(args, (enum option_key)key, optarg);
    }
    if (optind != argc - 1 || !args->port) {
        print_usage(stderr);
        exit(2);
    }
    args->workload = workload_find(argv[optind]);
    if (!args->workload)
        errx(2, "%s: no such case", argv[optind]);
    if (args->protocol->check)
        args->protocol->check(args);
    if (args->workload->prepare)
        args->workload->prepare(args);
    if (args->jobs)
        args->warmup = 0;
}
