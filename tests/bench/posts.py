# SPDX-License-Identifier: MIT
"""Jobs over HTTP: wrk posts them to tandemd and to gearmand's plug-in, Gearman workers do them.

A measurement is one thread of wrk with 50 connections. gearmand closes the connection after
each answer, so its figures include a new connection for each request.
"""

import contextlib
import dataclasses
import math
import os
import pathlib
import subprocess
import time

import gearman
from servers import BOOKS_SECONDS, LOAD_SECONDS, POLL_SECONDS, Failure, parse_line

NAME = "gearman"  # what the workers speak
PORTS = 2
SECONDS = 3  # of a measurement
CONNECTIONS = 50
BODY = 64  # bytes
SCRIPT = pathlib.Path(__file__).resolve().parent / "posts.lua"
AT_MOST = 1 << 40  # requests in one measurement
DRAIN_SECONDS = 60  # workers may be behind when the posts end
ERRORS = ("connect", "read", "write", "status", "timeout")
BACKGROUND = ["X-Gearman-Background", "true"]
BACKGROUND_64 = f"background, {BODY} bytes, no workers"
FOREGROUND_64 = f"foreground, {BODY} bytes, 50 workers"


def tandemd(options, port, http_port):
    return [options.tandemd, "--config", os.devnull, "--set", "beanstalk.listen=",
            "--set", f"gearman.listen=127.0.0.1:{port}",
            "--set", f"http.listen=127.0.0.1:{http_port}", "--set", "admin.listen="]


def gearmand(threads):
    start = gearman.gearmand(threads)
    return lambda options, port, http_port: start(options, port) + [
        "-r", "http", f"--http-port={http_port}"]


@dataclasses.dataclass
class Posts:
    """One measurement: what is posted, and who does it."""

    title: str
    headers: list
    body: int
    workers: int
    nginx: bool = False  # measured beside the servers
    connections: int = CONNECTIONS


COMMANDS = {"tandemd": tandemd, "gearmand-t1": gearmand(1), "gearmand-t4": gearmand(4)}
books = gearman.books


def cases():
    """The arguments of posts(). gearmand takes requests with the same body for one job, so each has
    its own; but for empty ones, which spare it the search for their like among all that wait."""
    return [
        Posts("background, empty, no workers", BACKGROUND, 0, 0),
        Posts(BACKGROUND_64, BACKGROUND, BODY, 0, nginx=True),
        Posts("background, 64 bytes, 10 workers", BACKGROUND, BODY, 10),
        Posts(FOREGROUND_64, [], BODY, 50),
    ]


@contextlib.contextmanager
def workers(options, server, count):
    """They are there while the context lasts, on the core of the load."""
    if count == 0:
        yield
        return
    process = subprocess.Popen(
        ["taskset", "-c", str(options.cores[1]), options.load, "--protocol", NAME,
         "--port", str(server.port), "--conns", str(count), "--size", str(BODY), "work"])
    try:
        wait_for_workers(server, count)
        yield
        if process.poll() is not None:
            raise Failure(f"a worker of {server.name} gave up\n{server.log_text()}")
    finally:
        process.terminate()
        process.wait()


def wait_for_workers(server, count):
    give_up_at = time.monotonic() + BOOKS_SECONDS
    while gearman.workers(server.port) < count:
        if time.monotonic() > give_up_at:
            raise Failure(f"{server.name} does not get its workers")
        time.sleep(POLL_SECONDS)


def post(options, server, case, first_body, seconds):
    """Runs wrk for `seconds`, rounded up because wrk takes whole seconds only."""
    command = ["taskset", "-c", str(options.cores[1]), options.wrk, "-t1", f"-c{case.connections}",
               f"-d{math.ceil(seconds)}s", "-s", str(SCRIPT),
               f"http://127.0.0.1:{server.ports[1]}/bench-0", "--", str(case.body),
               str(first_body)] + case.headers
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                          timeout=seconds + LOAD_SECONDS)
    lines = [line for line in done.stdout.splitlines() if line.startswith("measured ")]
    if done.returncode != 0 or len(lines) != 1:
        raise Failure(f"wrk against {server.name} failed\n{done.stdout}{server.log_text()}")
    return parse_line(lines[0].partition(" ")[2])


def measure(options, server, case, seconds):
    """One measurement. Each request that was answered must have been a job."""
    with workers(options, server, case.workers):
        posted = 0
        if options.warmup:
            posted = post(options, server, case, 0, options.warmup)["requests"]
        before = server.threads()
        result = post(options, server, case, AT_MOST, seconds)
        threads = server.cpu_since(before, result["requests"])
        if server.protocol.books:
            check_books(server, case, posted + result["requests"])
    rate = result["requests"] / result["seconds"]
    cpu_us = sum(of_thread for _, of_thread in threads)
    return {"rate": rate, "server_cpu_us": cpu_us, "threads": threads,
            "server_busy": cpu_us * rate / 1e6, "p50_us": result["p50_us"],
            "p99_us": result["p99_us"], "p999_us": result["p999_us"],
            "resident": server.resident(), "errors": sum(result[kind] for kind in ERRORS)}


def check_books(server, case, posted):
    """Without workers, all jobs wait, also jobs of requests that wrk did not see answered."""
    unseen = 2 * case.connections
    fewest, most = (posted, posted + unseen) if case.workers == 0 else (0, 0)
    give_up_at = time.monotonic() + (DRAIN_SECONDS if case.workers else BOOKS_SECONDS)
    while not fewest <= (left := server.books()["left"]) <= most:
        if time.monotonic() > give_up_at:
            raise Failure(f"{server.name} has {left} jobs, instead of {fewest} to {most}")
        time.sleep(POLL_SECONDS)
