# SPDX-License-Identifier: MIT
"""The time without service: two brokers on one journal in PostgreSQL, of which the owner is killed,
stopped, or has the other one take over, each at a random moment; and a worker that asks the other
one for a job, reconnecting whenever it is disconnected, until it has got one."""

import http.client
import json
import random
import signal
import socket
import statistics
import subprocess
import time

import beanstalk
from measure import progress
from servers import POLL_SECONDS, STOP_SECONDS, Failure, Server, run_load
from started import Started, arguments_of

OWNER = "owner"
KILL, STOP, HANDOVER = "kill -9", "clean stop", "tandemctl handover"
WAYS = (KILL, STOP, HANDOVER)
JOBS = 100000  # that are held meanwhile
FILL = ["put", "--size", "16", "--conns", "50", "--jobs", str(JOBS)]
ANSWER_SECONDS = 0.5
TAKEN_OVER_SECONDS = 60
READY = b"RESERVED "


def wait_until_serves(server):
    """How many jobs it has: a broker listens before it owns what it keeps."""
    give_up_at = time.monotonic() + TAKEN_OVER_SECONDS
    while True:
        try:
            return server.books()
        except (OSError, KeyError):
            if time.monotonic() > give_up_at:
                raise Failure(f"{server.name} does not serve:\n{server.log_text()}") from None
            time.sleep(POLL_SECONDS)


def title(way):
    return f"the other serves after a {way}"


def member(pairs):
    """A broker with a port for operators behind that of its clients."""
    def command(options, port, operators):
        return beanstalk.tandemd(options, port) + arguments_of(
            [f"admin.listen=127.0.0.1:{operators}", *pairs])
    return Started(beanstalk, OWNER, command, PORTS=2)


def is_caught_up(server):
    """Whether it follows and has all that there is."""
    conn = http.client.HTTPConnection("127.0.0.1", server.ports[1], timeout=ANSWER_SECONDS)
    try:
        conn.request("GET", "/api/v1/cluster")
        told = json.load(conn.getresponse())
        return told["role"] == "standby" and told["behind"] == 0
    except (OSError, ValueError, KeyError, http.client.HTTPException):
        return False
    finally:
        conn.close()


def wait_until_caught_up(server):
    give_up_at = time.monotonic() + TAKEN_OVER_SECONDS
    while not is_caught_up(server):
        if time.monotonic() > give_up_at:
            raise Failure(f"it does not follow\n{server.log_text()}")
        time.sleep(POLL_SECONDS)


def served(server):
    """The time at which that process itself had served and ended a job; None: it did not."""
    try:
        with socket.create_connection(("127.0.0.1", server.port), ANSWER_SECONDS) as conn, \
                conn.makefile("rb") as answers:
            conn.sendall(b"reserve-with-timeout 0\r\n")
            taken = answers.readline()
            at = time.monotonic()
            if not taken.startswith(READY):
                return None
            answers.readline()
            conn.sendall(b"delete " + taken.split()[1] + b"\r\nstats\r\n")
            if not answers.readline().startswith(b"DELETED"):
                return None
            stats = answers.read(int(answers.readline().split()[1]))
            return at if f"\npid: {server.pid}\n".encode() in stats else None
    except (OSError, IndexError, ValueError):
        return None


def wait_until_served(server):
    """When that was."""
    give_up_at = time.monotonic() + TAKEN_OVER_SECONDS
    while (at := served(server)) is None:
        if time.monotonic() > give_up_at:
            raise Failure(f"no broker takes over\n{server.log_text()}")
        time.sleep(POLL_SECONDS)
    return at


def hand_over(options, server):
    """When that began: an owner hands over once it has heard of somebody who follows, which is so
    each second."""
    command = [options.tandemctl, "--address", f"http://127.0.0.1:{server.ports[1]}", "handover"]
    give_up_at = time.monotonic() + TAKEN_OVER_SECONDS
    while True:
        begun = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode == 0:
            return begun
        if time.monotonic() > give_up_at:
            raise Failure(f"tandemctl handover: {done.stdout}\n{server.log_text()}")
        time.sleep(POLL_SECONDS)


class Pair:
    """The one that owns the jobs, and the one that follows."""

    def __init__(self, options, pairs):
        self.options, self.protocol = options, member(pairs)
        self.owner = self.start()
        self.follower = None

    def start(self):
        return Server(self.protocol, OWNER, self.options)

    def follow(self):
        """There is another one that has all jobs."""
        if not self.follower:
            self.follower = self.start()
        wait_until_caught_up(self.follower)

    def take_over(self, way):
        """Seconds until the follower, which is the owner then, has served a job."""
        begun = time.monotonic()
        if way == HANDOVER:
            begun = hand_over(self.options, self.owner)
        else:
            self.owner.process.send_signal(signal.SIGKILL if way == KILL else signal.SIGTERM)
        took_for = wait_until_served(self.follower) - begun
        self.owner, self.follower = self.follower, self.owner
        if way != HANDOVER:
            self.follower.process.wait(STOP_SECONDS)
            self.follower.log.close()
            self.follower = None
        return took_for

    def close(self):
        for server in (self.owner, self.follower):
            if server:
                server.__exit__()


def measure(options, pairs, who):
    """{title: {who: [seconds]}}"""
    chance = random.Random(1)
    pair = Pair(options, pairs)
    try:
        wait_until_serves(pair.owner)
        run_load(options, pair.owner, FILL)
        results = {title(way): {who: []} for way in WAYS}
        for number in range(options.takeovers):
            progress(f"takeovers: {number + 1} of {options.takeovers}")
            for way in WAYS:
                pair.follow()
                time.sleep(chance.random())
                results[title(way)][who].append(pair.take_over(way))
        return results
    finally:
        pair.close()


def print_takeovers(results, who):
    print(f"{'seconds from that on':46}{'takeovers':>10}{'least':>8}{'median':>8}{'p90':>8}"
          f"{'most':>8}")
    for way in WAYS:
        order = sorted(results[title(way)][who])
        print(f"{title(way):46}{len(order):10}{order[0]:8.2f}{statistics.median(order):8.2f}"
              f"{order[len(order) * 9 // 10]:8.2f}{order[-1]:8.2f}")
    print()
