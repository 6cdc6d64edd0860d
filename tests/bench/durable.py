# SPDX-License-Identifier: MIT
"""The cost of jobs that outlive the process and the machine: ours beside `beanstalkd -b`.

Every measurement has a fresh directory on the disk that --journal-dir names. What the disk itself
can do is measured between the servers, in the same rounds, since disks are moody.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import beanstalk
import gearman
import posts
from measure import order_of, progress
from servers import LOAD_SECONDS, Failure, Server, parse_line, run_load

COMMANDS = beanstalk.COMMANDS
CONNECTIONS = (1, 10, 50)
BODY = 16  # bytes
# Of a record of ours for such a job in `default`, and of what each write begins with: see
# journal/FORMAT.md.
RECORD, WRITE_HEAD = 112, 24
IN_MEMORY = "in memory"
BEANSTALKD_SYNC = {"always": ["-f", "0"], "50": ["-f", "50"], "never": ["-F"]}
REPLAY_FILL = ["put", "--size", "10", "--conns", "4", "--depth", "64"]
SYNC_SECONDS = 1
REPLAY = "replay, seconds"


def always_title(connections):
    return f"sync always, {connections} conn{'s' if connections > 1 else ''}"


def relaxed_title(words, depth):
    return f"sync {words}, 50 conns, {depth} in flight"


def syncs_title(connections):
    return f"syncs, {connections} records each"


class Kept:
    """A protocol as servers speak it that keep jobs in a directory."""

    def __init__(self, protocol, directory, fsync):
        self.NAME, self.PORTS, self.books = protocol.NAME, protocol.PORTS, protocol.books
        ours = ["--set", f"journal.dir={directory}", "--set", f"journal.fsync={fsync}"]
        theirs = ["-b", directory] + BEANSTALKD_SYNC[fsync]
        self.COMMANDS = {
            "tandemd": lambda options, *ports: protocol.COMMANDS["tandemd"](options, *ports) + ours,
            "beanstalkd": lambda options, *ports:
                beanstalk.beanstalkd(options, *ports) + theirs,
            IN_MEMORY: protocol.COMMANDS["tandemd"],
        }


@contextlib.contextmanager
def fresh_directory(options):
    base = pathlib.Path(options.journal_dir)
    base.mkdir(parents=True, exist_ok=True)
    kind = subprocess.run(["stat", "-f", "-c", "%T", str(base)], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()
    if kind in ("tmpfs", "ramfs"):
        raise Failure(f"{base} is not on a disk: --journal-dir must name a directory on a disk")
    with tempfile.TemporaryDirectory(prefix="durable-", dir=base) as directory:
        os.sync()  # what others left for the disk to do is not to be measured
        yield directory


def timing(options, protocol):
    seconds = protocol.SECONDS if options.seconds is None else options.seconds
    return ["--seconds", str(seconds), "--warmup", str(options.warmup)]


def measure_put(options, protocol, fsync, name, arguments):
    with fresh_directory(options) as directory, \
            Server(Kept(protocol, directory, fsync), name, options) as server:
        return run_load(options, server, ["put", *arguments, *timing(options, protocol)])


def sync(options, directory, size, seconds):
    """How often the disk syncs `size` bytes, on the servers' core. Another core may handle its
    interrupts."""
    done = subprocess.run(
        ["taskset", "-c", str(options.cores[0]), options.syncs, f"{directory}/file", str(size),
         str(seconds)],
        stdout=subprocess.PIPE, text=True, check=True, timeout=seconds + LOAD_SECONDS)
    return parse_line(done.stdout)


def measure_syncs(options, connections):
    """Measures syncs of the bytes that one put on each connection writes to the journal."""
    with fresh_directory(options) as directory:
        return sync(options, directory, connections * RECORD + WRITE_HEAD, SYNC_SECONDS)


def measure_always(options, servers):
    """({connections: {server: [results]}}, {connections: [what the disk can do]})"""
    names = [*servers, IN_MEMORY]
    results = {count: {name: [] for name in names} for count in CONNECTIONS}
    disk = {count: [] for count in CONNECTIONS}
    for round_number in range(options.rounds):
        for count in CONNECTIONS:
            for name in order_of(names, round_number):
                progress(f"round {round_number + 1} of {options.rounds}: always, "
                         f"{count} connections: {name}")
                disk[count].append(measure_syncs(options, count))
                results[count][name].append(measure_put(
                    options, beanstalk, "always", name,
                    ["--conns", str(count), "--size", str(BODY)]))
    return results, disk


def measure_relaxed(options, servers):
    """{title: {server: [results]}}"""
    results = {}
    for round_number in range(options.rounds):
        for fsync, words in (("50", "50 ms"), ("never", "never")):
            for depth in (1, 16):
                title = relaxed_title(words, depth)
                for name in order_of(servers, round_number):
                    progress(f"round {round_number + 1} of {options.rounds}: {title}: {name}")
                    results.setdefault(title, {}).setdefault(name, []).append(measure_put(
                        options, beanstalk, fsync, name,
                        ["--conns", "50", "--depth", str(depth), "--size", str(BODY)]))
    return results


def measure_replay(options, servers):
    """{server: [seconds until a killed server answers again]}"""
    results = {name: [] for name in servers}
    for round_number in range(options.rounds):
        for name in order_of(servers, round_number):
            progress(f"round {round_number + 1} of {options.rounds}: replay: {name}")
            with fresh_directory(options) as directory:
                results[name].append(replay_once(options, Kept(beanstalk, directory, "never"),
                                                 name))
    return results


def replay_once(options, protocol, name):
    with Server(protocol, name, options) as server:
        run_load(options, server, REPLAY_FILL + ["--jobs", str(options.replay_jobs)])
        os.kill(server.pid, signal.SIGKILL)
    begun = time.monotonic()
    with Server(protocol, name, options) as server:
        left = server.books()["left"]
        took_for = time.monotonic() - begun
    if left != options.replay_jobs:
        raise Failure(f"{name} has {left} jobs after a restart, not {options.replay_jobs}")
    return took_for


def measure_others(options):
    """{title: {server: [results]}}: background jobs of the other protocols, ours only."""
    results = {}
    for round_number in range(options.rounds):
        for count in CONNECTIONS:
            progress(f"round {round_number + 1} of {options.rounds}: Gearman, {count} connections")
            results.setdefault(f"sync always, Gearman, {count} conns", {"tandemd": []})[
                "tandemd"].append(measure_put(options, gearman, "always", "tandemd",
                                              ["--conns", str(count), "--size", str(BODY)]))
    return results


def measure_posts(options):
    """{title: {server: [results]}}: background jobs over HTTP."""
    case = posts.Posts("sync always, HTTP, 50 conns", posts.BACKGROUND, posts.BODY, 0)
    seconds = posts.SECONDS if options.seconds is None else options.seconds
    rounds = []
    for round_number in range(options.rounds):
        progress(f"round {round_number + 1} of {options.rounds}: {case.title}")
        with fresh_directory(options) as directory, \
                Server(Kept(posts, directory, "always"), "tandemd", options) as server:
            rounds.append(posts.measure(options, server, case, seconds))
    return {case.title: {"tandemd": rounds}}
