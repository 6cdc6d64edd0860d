# SPDX-License-Identifier: MIT
"""How long a turn of our loop takes at worst, with millions of jobs in a journal that is compacted
while clients of all protocols work. The process says itself which turns were slow (`slow_turn`, CPU
time of its thread); a client that asks one question after another says how late answers are.

Behind it the floor is measured for as long, with as many connections and beside a disk that syncs:
on a virtual machine a thread is charged with what others do, and turns are long for no fault of the
server."""

import concurrent.futures
import os
import re
import subprocess
import time

import beanstalk
import floor
import posts
from durable import fresh_directory, sync
from measure import progress
from servers import LOAD_SECONDS, Failure, Server, parse_line, run_load
from tables import OURS

COMMANDS = {OURS: None}
LONGEST = "longest turn, ms"
SLOW = 1  # milliseconds
LIMITS = (SLOW, 2, 3, 5, 10)  # of each is said how many turns took longer
SIZE = ["--size", str(floor.BODY)]
CYCLING, PRODUCERS, WORKERS = 20, 20, 10  # connections
ALL = CYCLING + PRODUCERS + WORKERS + posts.CONNECTIONS
SYNCED = 16384  # bytes: about what these connections append at once
FILL = ["put", "--conns", "10", "--depth", "64", *SIZE]
ASK_EVERY = 0.005
POSTS = posts.Posts("foreground", [], floor.BODY, 0)
CYCLE = floor.BEANSTALK_CYCLE.that_tells(SLOW)


class Everything:
    """All protocols on one journal: beanstalk, HTTP, Gearman."""

    NAME, PORTS = "beanstalk", 3

    def __init__(self, directory):
        self.books = beanstalk.books
        self.COMMANDS = {OURS: lambda options, bean, http, gear: [
            options.tandemd, "--config", os.devnull,
            "--set", f"beanstalk.listen=127.0.0.1:{bean}",
            "--set", f"http.listen=127.0.0.1:{http}",
            "--set", f"gearman.listen=127.0.0.1:{gear}", "--set", "admin.listen=",
            "--set", f"journal.dir={directory}", "--set", f"server.slow_turn={SLOW}"]}


def work(options, port, protocol, arguments):
    """The counters of the load generator."""
    done = subprocess.run(
        ["taskset", "-c", str(options.cores[1]), options.load, "--protocol", protocol,
         "--port", str(port), "--warmup", "0", "--seconds", str(options.turn_seconds), *SIZE,
         *arguments], stdout=subprocess.PIPE, text=True, check=False,
        timeout=options.turn_seconds + LOAD_SECONDS)
    if done.returncode != 0:
        raise Failure(f"{' '.join(arguments)} failed")
    return parse_line(done.stdout)["rate"]


def post(options, server):
    result = posts.post(options, server, POSTS, 0, options.turn_seconds)
    return result["requests"] / result["seconds"]


def ask(options, port):
    """Milliseconds from each question to its answer."""
    os.sched_setaffinity(0, {options.cores[1]})  # of this thread
    peer = beanstalk.Peer(port)
    late = []
    end = time.monotonic() + options.turn_seconds
    while (begun := time.monotonic()) < end:
        peer.ask("list-tube-used\r\n", 1)
        late.append(1000 * (time.monotonic() - begun))
        time.sleep(ASK_EVERY)
    peer.close()
    return sorted(late)


def mix(options, server):
    """({who: jobs a second}, [milliseconds])"""
    bean, _, gear = server.ports
    with concurrent.futures.ThreadPoolExecutor() as pool:
        rates = {
            "beanstalk": pool.submit(work, options, bean, "beanstalk",
                                     ["cycle", "--conns", str(CYCLING)]),
            "Gearman": pool.submit(work, options, gear, "gearman",
                                   ["trips", "--producers", str(PRODUCERS),
                                    "--workers", str(WORKERS)]),
            "HTTP": pool.submit(post, options, server),
        }
        late = pool.submit(ask, options, bean)
        return {who: rate.result() for who, rate in rates.items()}, late.result()


def measure(options):
    """{what: {server: number}}"""
    measured = {OURS: measure_ours(options), floor.NAME: measure_floor(options)}
    return {what: {server: found[what] for server, found in measured.items() if what in found}
            for what in measured[OURS]}


def measure_ours(options):
    """{what: number}"""
    with fresh_directory(options) as directory:
        with Server(Everything(directory), OURS, options) as server:
            progress(f"turns: {options.turn_jobs} jobs")
            run_load(options, server, FILL + ["--jobs", str(options.turn_jobs)])
            filled = len(slow_turns(server))
            progress(f"turns: {options.turn_seconds:g} seconds of everything")
            rates, late = mix(options, server)
            slow = slow_turns(server)
    return {
        **count(slow[filled:]),
        "longest turn while it was filled, ms": max(slow[:filled], default=SLOW),
        "an answer, median, ms": late[len(late) // 2],
        "an answer, p99, ms": late[len(late) * 99 // 100],
        "an answer, p99.9, ms": late[len(late) * 999 // 1000],
        "an answer at worst, ms": late[-1],
        **{f"{who}, jobs/s": rate for who, rate in rates.items()},
    }


def measure_floor(options):
    """{what: number}"""
    progress(f"turns: {options.turn_seconds:g} seconds of the floor")
    with fresh_directory(options) as directory, Server(CYCLE, floor.NAME, options) as server:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            # As our disk thread does.
            disk = pool.submit(sync, options, directory, SYNCED, options.turn_seconds)
            work(options, server.port, CYCLE.NAME, ["cycle", "--conns", str(ALL)])
            disk.result()
        return count(slow_turns(server))


def slow_turns(server):
    """Milliseconds that each turn used that took more than SLOW."""
    return [int(us) / 1000 for us in re.findall(r"slow_turn us=(\d+)", server.log_text())]


def count(slow):
    """{what: number}"""
    return {LONGEST: max(slow, default=SLOW),
            **{f"turns above {limit} ms": sum(took >= limit for took in slow)
               for limit in LIMITS}}


def print_turns(options, found):
    print(f"{options.turn_jobs:,} jobs held, {options.turn_seconds:g} seconds of everything")
    print(f"  {'':40}{OURS:>12}{floor.NAME:>12}")
    for what, by_server in found.items():
        print(f"  {what:40}" + "".join(
            f"{by_server[name]:12.2f}" if name in by_server else "" for name in (OURS, floor.NAME)))
    print("turns: by CPU time of the thread, but no more than what passed; "
          f"{SLOW} stands for less, too.\n"
          "floor: what the machine itself does to a server that keeps nothing, with as many\n"
          "connections, on a core that it shares with a thread that syncs.\n")
