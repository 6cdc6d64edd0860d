# SPDX-License-Identifier: MIT
"""The processor time of each thread of a server for a job: with several I/O threads, the
busiest thread bounds the server where every thread has a core of its own.

The threads of a server share a core, and the load has the other; or server and load share both.
Only processor time counts, so either tells what more cores would do."""

import dataclasses
import statistics

import beanstalk
import floor
import gearman
import posts
import started
import workers
from measure import order_of, progress
from servers import Server, run_load
from tables import OURS, median, spread

IO_THREADS = 2


def with_io(count):
    """The name of our server with `count` I/O threads."""
    return f"{OURS}-io{count}" if count else OURS


WITH_THREADS = with_io(IO_THREADS)
PEER = "beanstalkd"
GEARMAND_THREADS = (2, 4)
SECONDS = 2  # of a measurement
SHORT, TRIPS = "short-50", "foreground-50"  # which others are measured with, too
NOTHING = 0.005  # microseconds
MANY = 16  # threads that need not be told one by one
SIZE = ["--size", str(floor.BODY)]


@dataclasses.dataclass
class Load:
    """The load on the server."""

    title: str
    protocol: object  # how servers are started
    arguments: object  # of the load generator, or what posts.measure() takes


def by_connections(count, workers):
    many = ["--conns", str(count)]
    return {
        f"put-{count}": Load(f"put, {count:,} conns", beanstalk, ["put", *many, *SIZE]),
        f"cycle-{count}": Load(f"put-reserve-delete, {count:,} conns", beanstalk,
                               ["cycle", *many, *SIZE]),
        f"foreground-{count}": Load(
            f"foreground, {count:,} clients, {workers} workers", gearman,
            ["trips", "--producers", str(count), "--workers", str(workers), *SIZE]),
        f"post-{count}": Load(
            f"background POST, {count:,} conns", posts,
            posts.Posts("", posts.BACKGROUND, floor.BODY, 0, connections=count)),
    }


# By the names that tests/bench/one takes.
LOADS = {
    **by_connections(1000, 100),
    **by_connections(50, 10),
    "pairs-50": Load("25 producers, 25 waiting workers", beanstalk,
                     ["pairs", "--producers", "25", "--workers", "25", *SIZE]),
    "drain-10": Load("drain, one by one, 10 conns", beanstalk,
                     ["drain", "--conns", "10", "--jobs", "200000", *SIZE]),
    "batch-10": Load("drain, 100 in a batch, 10 conns", beanstalk,
                     ["drain", "--conns", "10", "--jobs", "200000", "--take", "100", *SIZE]),
    # The rate of a worker with one connection and 50 jobs at a time.
    "held-50": Load("drain, 1 conn, 50 in flight", beanstalk,
                    ["drain", "--conns", "1", "--depth", "50", "--jobs", "200000", *SIZE]),
    "leases-50": Load("the same over HTTP", workers,
                      ["drain", "--conns", "1", "--depth", "50", "--jobs", "200000", *SIZE]),
    "leases-batch": Load("and 50 in an answer", workers,
                         ["drain", "--conns", "1", "--take", "50", "--jobs", "200000", *SIZE]),
    SHORT: Load("connect, put, quit, 50 at a time", beanstalk,
                     ["short", "--conns", "50", *SIZE]),
    "put-1": Load("put, lone client", beanstalk, ["put", *SIZE]),
    "foreground-1": Load("foreground, lone client, 1 worker", gearman,
                         ["trips", "--producers", "1", "--workers", "1", *SIZE]),
}


def servers_of(options, key):
    """[Started] that a load is measured with."""
    protocol = LOADS[key].protocol
    counts = {0, IO_THREADS, *(GEARMAND_THREADS if key == TRIPS else ())}
    threads = [started.with_settings(protocol, [f"server.io_threads={count}", *options.set],
                                     with_io(count)) for count in sorted(counts)]
    before = [started.earlier(protocol)] if options.before else []
    others = [started.Started(protocol, f"gearmand-t{count}", gearman.gearmand(count))
              for count in GEARMAND_THREADS if key == TRIPS]
    if key == SHORT:
        others.append(started.Started(protocol, PEER, protocol.COMMANDS[PEER]))
    return [one for one in threads + before + others
            if options.server in (None, one.name, one.name.rpartition("-")[0])]


def placed(options):
    """The options, with the cores that a server and its load are to have."""
    if options.placement == "apart":
        return options
    both = ",".join(str(core) for core in options.cores)
    return type(options)(**{**vars(options), "cores": [both, both]})


def with_busiest(result):
    """And of the threads 'busiest_us' and 'core_us', that of the one that the process began with."""
    used = [of_thread for _, of_thread in result["threads"]]
    return {**result, "busiest_us": max(used), "core_us": used[0]}


def measure(options, load, server, more_pids=()):
    """One measurement of a fresh server, and of what works for it in those processes."""
    options = placed(options)
    seconds = SECONDS if options.seconds is None else options.seconds
    with Server(server, server.name, options) as running:
        if load.protocol is posts:
            return with_busiest(posts.measure(options, running, load.arguments, seconds))
        pids = [word for pid in more_pids for word in ("--server-pid", str(pid))]
        return with_busiest(run_load(options, running, [
            *load.arguments, *pids, "--seconds", str(seconds), "--warmup", str(options.warmup)]))


def measure_all(options):
    """{title: {server: [result of each round]}}"""
    results = {}
    for round_number in range(options.rounds):
        for key, load in LOADS.items():
            for server in order_of(servers_of(options, key), round_number):
                progress(f"round {round_number + 1} of {options.rounds}: {load.title}: "
                         f"{server.name}")
                results.setdefault(load.title, {}).setdefault(server.name, []).append(
                    measure(options, load, server))
    return {title: dict(sorted(by_server.items(), key=lambda item: item[0] != OURS))
            for title, by_server in results.items()}


#
# Tables
#


def each_thread(rounds):
    """The median of each thread, as text. Threads that do nothing to speak of are left away."""
    threads = min((one["threads"] for one in rounds), key=len)
    if len(threads) > MANY:
        return f"{len(threads)} threads"
    medians = [(name, statistics.median(one["threads"][at][1] for one in rounds))
               for at, (name, _) in enumerate(threads)]
    return " ".join(f"{name}:{used:.2f}" for name, used in medians if used >= NOTHING)


def print_heading(first):
    print(f"{first:40}{'server':20}{'busiest':>8}{'core':>8}{'all':>8}{'+-':>5}{'jobs/s':>9}"
          f"{'p50 us':>8}{'p99 us':>9}  threads")


def print_rounds(title, name, rounds):
    print(f"{title:40}{name:20}{median(rounds, 'busiest_us'):8.2f}"
          f"{median(rounds, 'core_us'):8.2f}{median(rounds, 'server_cpu_us'):8.2f}"
          f"{spread(rounds, 'server_cpu_us'):4.0f}%{median(rounds, 'rate'):9.0f}"
          f"{median(rounds, 'p50_us'):8.1f}{median(rounds, 'p99_us'):9.1f}  "
          f"{each_thread(rounds)}", flush=True)


def print_shares(rounds, ones):
    """Of what a single thread needs."""
    whole = median(ones, "server_cpu_us")
    shares = "".join(f"{median(rounds, key) / whole:8.2f}"
                     for key in ("busiest_us", "core_us", "server_cpu_us"))
    rate, p50, p99 = [median(rounds, key) / median(ones, key)
                      for key in ("rate", "p50_us", "p99_us")]
    print(f"{'of ' + OURS:>60}{shares}{'':5}{rate:9.2f}{p50:8.2f}{p99:9.2f}")


def print_threads(results):
    print_heading("us of CPU for a job")
    for title, by_server in results.items():
        for at, (name, rounds) in enumerate(by_server.items()):
            print_rounds("" if at else title, name, rounds)
            if name.startswith(f"{OURS}-io") and OURS in by_server:
                print_shares(rounds, by_server[OURS])
    print(f"{WITH_THREADS}: with {IO_THREADS} I/O threads. busiest: of the thread that uses most. "
          "core: of the one that\nthe process began with, which calls the broker. all: their sum, "
          "and +- half its range.\n")


# Whose figures there are; `one` of them is measured alone with --server.
COMMANDS = (OURS, PEER, *(f"gearmand-t{count}" for count in GEARMAND_THREADS))
