# SPDX-License-Identifier: MIT
"""The measurements: each gives numbers for each server, which others print."""

import dataclasses
import subprocess
import sys
import tempfile
import typing

import beanstalk
import gearman
import posts
from neighbours import beside
from servers import Failure, Server, load_command, run_load

KEY_STEPS = 10
# gearmand looks through ever longer lists for a unique: it would be at it for minutes.
GEARMAND_KEY_STEPS = 2


@dataclasses.dataclass
class Case:
    """One measurement: the arguments of the load generator, and who else is there."""
    title: str
    arguments: list
    neighbour: typing.Optional[typing.Callable] = None
    amount: int = 0


def order_of(servers, round_number):
    return servers if round_number % 2 == 0 else list(reversed(servers))


def measure_cases(options, protocol, servers, cases):
    """{title: {server: [result of each round]}}"""
    results = {case.title: {name: [] for name in servers} for case in cases}
    seconds = protocol.SECONDS if options.seconds is None else options.seconds
    timing = ["--seconds", str(seconds), "--warmup", str(options.warmup)]
    for round_number in range(options.rounds):
        for case in cases:
            for name in order_of(servers, round_number):
                progress(f"round {round_number + 1} of {options.rounds}: {case.title}: {name}")
                with Server(protocol, name, options) as server, \
                        beside(case.neighbour, server.port, case.amount):
                    results[case.title][name].append(
                        run_load(options, server, case.arguments + timing))
    return results


def queue_keyed(options, name):
    """[result of each step]: background jobs with a unique each, queued one step after another."""
    step = options.keys // KEY_STEPS
    steps = KEY_STEPS if name == "tandemd" else GEARMAND_KEY_STEPS
    results = []
    with Server(gearman, name, options) as server:
        for number in range(steps):
            results.append(run_load(options, server, [
                "put", "--conns", "50", "--depth", "16", "--size", "64", "--jobs", str(step),
                "--keys-from", str(number * step + 1)]))
    return results


def measure_keys(options, servers):
    """{jobs queued at the end of the step: {server: [result of each round]}}"""
    results = {}
    for round_number in range(options.rounds):
        for name in order_of(servers, round_number):
            progress(f"round {round_number + 1} of {options.rounds}: uniques: {name}")
            for number, result in enumerate(queue_keyed(options, name)):
                queued = (number + 1) * (options.keys // KEY_STEPS)
                results.setdefault(queued, {}).setdefault(name, []).append(result)
    return results


def measure_memory(options, servers):
    """Resident bytes per waiting job of 10 bytes."""
    results = {}
    for name in servers:
        progress(f"memory of {options.memory_jobs} jobs: {name}")
        with Server(beanstalk, name, options) as server:
            before = server.resident()
            run_load(options, server, ["put", "--size", "10", "--depth", "64",
                                       "--jobs", str(options.memory_jobs)])
            results[name] = (server.resident() - before) / options.memory_jobs
    return results


def measure_idle(options, servers):
    """Resident bytes per connection that has asked one question and is silent."""
    results = {}
    for name in servers:
        progress(f"memory of {options.idle} idle connections: {name}")
        with Server(beanstalk, name, options) as server:
            before = server.resident()
            command = load_command(options, server, ["idle", "--conns", str(options.idle)])
            load = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            if not load.stdout.readline().startswith(b"ready"):
                raise Failure(f"{name} did not take {options.idle} connections\n"
                              + server.log_text())
            results[name] = (server.resident() - before) / options.idle
            load.communicate()
    return results


def measure_posts(options, servers):
    """{title: {server: [result of each round]}}"""
    results = {}
    seconds = posts.SECONDS if options.seconds is None else options.seconds
    for round_number in range(options.rounds):
        for case in posts.cases():
            for name in order_of(servers, round_number):
                progress(f"round {round_number + 1} of {options.rounds}: {case.title}: {name}")
                with Server(posts, name, options) as server:
                    results.setdefault(case.title, {}).setdefault(name, []).append(
                        posts.measure(options, server, case, seconds))
    return results


def count_calls(options, name, arguments, jobs):
    with tempfile.NamedTemporaryFile("r") as summary:
        with Server(beanstalk, name, options, strace_to=summary.name) as server:
            run_load(options, server, arguments + ["--jobs", str(jobs)])
        total = summary.read().splitlines()[-1].split()
    if total[-1] != "total":
        raise Failure(f"strace says {' '.join(total)}")
    return int(total[3])


def measure_calls(options, servers):
    """System calls per put: what twice as many puts cost more, so that starting, connecting and
    asking for the counts are not in it."""
    results = {}
    for title, arguments in [("lone put", ["put"]),
                             ("put, batches of 16", ["put", "--depth", "16", "--batch"])]:
        for name in servers:
            progress(f"system calls: {title}: {name}")
            jobs = 1600
            calls = (count_calls(options, name, arguments, 2 * jobs)
                     - count_calls(options, name, arguments, jobs))
            results.setdefault(title, {})[name] = calls / jobs
    return results


def progress(text):
    print(text, file=sys.stderr, flush=True)
