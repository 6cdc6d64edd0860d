# SPDX-License-Identifier: MIT
"""What each thread of a server uses for a job: with so many threads that read and write, the
busiest one is what bounds the server where every thread has a core of its own.

Here the server has one core for all of its threads, and the load the other, as everywhere; or
both have both. What counts is processor time, so either tells what more cores would do."""

import dataclasses
import statistics

import beanstalk
import floor
import gearman
import posts
from servers import Server, run_load

SIZE = ["--size", str(floor.BODY)]


@dataclasses.dataclass
class Load:
    """What is done to the server."""

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
        f"post-{count}": Load(f"background POST, {count:,} conns", posts,
                              posts.Posts("", posts.BACKGROUND, floor.BODY, 0,
                                          connections=count)),
    }


LOADS = {
    **by_connections(1000, 100),
    **by_connections(50, 10),
    "pairs-50": Load("25 producers, 25 waiting workers", beanstalk,
                     ["pairs", "--producers", "25", "--workers", "25", *SIZE]),
    "short-50": Load("connect, put, quit, 50 at a time", beanstalk,
                     ["short", "--conns", "50", *SIZE]),
    "put-1": Load("put, lone client", beanstalk, ["put", *SIZE]),
    "foreground-1": Load("foreground, lone client, 1 worker", gearman,
                         ["trips", "--producers", "1", "--workers", "1", *SIZE]),
}


@dataclasses.dataclass
class Started:
    """A protocol's server, started with more arguments than others give to it."""

    protocol: object
    arguments: list
    name: str = "tandemd"

    def __post_init__(self):
        self.NAME, self.PORTS = self.protocol.NAME, self.protocol.PORTS
        self.books = self.protocol.books
        self.COMMANDS = {self.name: self.command}

    def command(self, options, *ports):
        return self.protocol.COMMANDS[self.name](options, *ports) + self.arguments


def settings(pairs):
    return [word for pair in pairs for word in ("--set", pair)]


def placed(options):
    """The options, with the cores that a server and its load are to have."""
    if options.placement == "apart":
        return options
    both = ",".join(str(core) for core in options.cores)
    return type(options)(**{**vars(options), "cores": [both, both]})


def measure(options, load, arguments=(), name="tandemd"):
    """One measurement of a fresh server: what the load generator says, and of the threads
    'busiest_us' and 'core_us', that of the thread that the process began with."""
    started = Started(load.protocol, list(arguments), name)
    seconds = load.protocol.SECONDS if options.seconds is None else options.seconds
    with Server(started, name, placed(options)) as server:
        if load.protocol is posts:
            result = posts.measure(placed(options), server, load.arguments, seconds)
        else:
            result = run_load(placed(options), server, load.arguments + [
                "--seconds", str(seconds), "--warmup", str(options.warmup)])
    used = [of_thread for _, of_thread in result["threads"]]
    return {**result, "busiest_us": max(used), "core_us": used[0]}


def median_threads(rounds):
    """[(name, microseconds for a job)], the medians of each."""
    return [(name, statistics.median(one["threads"][at][1] for one in rounds))
            for at, (name, _) in enumerate(min((one["threads"] for one in rounds), key=len))]
