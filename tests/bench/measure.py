# SPDX-License-Identifier: MIT
"""The measurements: each gives numbers for each server, which others print."""

import dataclasses
import contextlib
import subprocess
import sys
import tempfile
import typing

import beanstalk
import gearman
import nginx
import posts
from floor import NAME as FLOOR, Floor
from neighbours import beside
from servers import Failure, Server, load_command, run_load

KEY_STEPS = 10
# Before these comes a small one, for what uniques cost where few are queued.
FIRST_KEYS = 20000


@dataclasses.dataclass
class Case:
    """One measurement: the arguments of the load generator, and who else is there."""
    title: str
    arguments: list
    neighbour: typing.Optional[typing.Callable] = None
    amount: int = 0
    floor: typing.Optional[Floor] = None  # measured beside the servers

    def load_for(self, name):
        """The load on this server."""
        own = self.floor.arguments if name == FLOOR else None
        return own or self.arguments


def order_of(servers, round_number):
    return servers if round_number % 2 == 0 else list(reversed(servers))


def measure_cases(options, protocol, servers, cases):
    """{title: {server: [result of each round]}}"""
    results = {case.title: {} for case in cases}
    seconds = protocol.SECONDS if options.seconds is None else options.seconds
    timing = ["--seconds", str(seconds), "--warmup", str(options.warmup)]
    for round_number in range(options.rounds):
        for case in cases:
            known = {**{name: protocol for name in servers},
                     **{name: case.floor for name in (case.floor.COMMANDS if case.floor else [])}}
            for name in order_of(list(known), round_number):
                progress(f"round {round_number + 1} of {options.rounds}: {case.title}: {name}")
                with Server(known[name], name, options) as server, \
                        beside(case.neighbour, server.port, case.amount):
                    results[case.title].setdefault(name, []).append(
                        run_load(options, server, case.load_for(name) + timing))
    return results


def key_steps(options, name):
    """How many jobs are queued at the end of each step."""
    step = max(options.keys // KEY_STEPS, 1)
    most = options.keys if name == "tandemd" else options.gearmand_keys
    first = [FIRST_KEYS] if FIRST_KEYS < step else []
    return first + [*range(step, most, step), most]


def queue_keyed(options, name):
    """{jobs at the end: result}: background jobs with a unique each, queued step by step."""
    results, queued = {}, 0
    with Server(gearman, name, options) as server:
        for until in key_steps(options, name):
            results[until] = run_load(options, server, [
                "put", "--conns", "50", "--depth", "16", "--size", "64",
                "--jobs", str(until - queued), "--keys-from", str(queued + 1)])
            queued = until
    return results


def measure_keys(options, servers):
    """{jobs queued at the end of the step: {server: [result of each round]}}"""
    results = {}
    for round_number in range(options.rounds):
        for name in order_of(servers, round_number):
            progress(f"round {round_number + 1} of {options.rounds}: uniques: {name}")
            for queued, result in queue_keyed(options, name).items():
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


@contextlib.contextmanager
def idle_load(options, server, conns):
    """Connections that have asked one question each, as long as this lasts."""
    command = load_command(options, server, ["idle", "--conns", str(conns)])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as load:
        if not load.stdout.readline().startswith(b"ready"):
            raise Failure(f"{server.name} did not take {conns} connections\n" + server.log_text())
        yield
        load.communicate()


def measure_idle(options, servers):
    """Resident bytes per connection that has asked one question and is silent."""
    results = {}
    for name in servers:
        progress(f"memory of {options.idle} idle connections: {name}")
        with Server(beanstalk, name, options) as server:
            # The first connection brings the server's code into memory.
            with idle_load(options, server, 1):
                before = server.resident()
                with idle_load(options, server, options.idle):
                    results[name] = (server.resident() - before) / options.idle
    return results


def measure_posts(options, servers):
    """{title: {server: [result of each round]}}"""
    results = {}
    seconds = posts.SECONDS if options.seconds is None else options.seconds
    for round_number in range(options.rounds):
        for case in posts.cases():
            fixed = nginx.Nginx() if case.nginx and not options.server else None
            known = {**{name: posts for name in servers}, **({nginx.NAME: fixed} if fixed else {})}
            for name in order_of(list(known), round_number):
                progress(f"round {round_number + 1} of {options.rounds}: {case.title}: {name}")
                with Server(known[name], name, options) as server:
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
                             ("put, batches of 64", ["put", "--depth", "64", "--batch"])]:
        for name in servers:
            progress(f"system calls: {title}: {name}")
            jobs = 1600
            calls = (count_calls(options, name, arguments, 2 * jobs)
                     - count_calls(options, name, arguments, jobs))
            results.setdefault(title, {})[name] = calls / jobs
    return results


def progress(text):
    print(text, file=sys.stderr, flush=True)
