# SPDX-License-Identifier: MIT
"""The cases of the benchmark, by the names that goals.py looks for."""

import floor
from measure import Case
from neighbours import blocked_reserves, delayed_jobs, idle_tubes, waiting_functions

FUNCTIONS = 5000  # of one worker
SIZE = ["--size", str(floor.BODY)]
FIFTY = ["--conns", "50"]

PUT_1 = "put, 50 connections, 1 in flight"
PUT_16 = "put, 50 connections, 16 in flight"
CYCLE_50 = "put-reserve-delete, 50 conns"
CYCLE_1000 = "put-reserve-delete, 1,000 conns"
PAIRS = "25 producers, 25 waiting workers"
DRAIN_EQUAL = "drain, equal priorities"
DRAIN_RANDOM = "drain, random priorities"

SUBMIT_1 = "background, 50 conns, 1 in flight"
SUBMIT_16 = "background, 50 conns, 16 in flight"
WORKERS_50 = "grab and complete, 50 workers"
TRIPS_50 = "foreground, 50 clients, 10 workers"
TRIPS_1 = "foreground, 1 client, 1 worker"

ALONE = "nothing else"


def speed_cases(options):
    drain = ["drain", "--conns", "10", "--jobs", str(options.drain), *SIZE]
    put = ["put", *SIZE]
    return [
        Case("put, 1 connection, 1 in flight", put, floor=floor.BEANSTALK_PUT),
        Case(PUT_1, put + FIFTY, floor=floor.BEANSTALK_PUT),
        Case(PUT_16, put + FIFTY + ["--depth", "16"], floor=floor.BEANSTALK_PUT),
        Case(CYCLE_50, ["cycle", *FIFTY, *SIZE], floor=floor.BEANSTALK_CYCLE),
        Case(CYCLE_1000, ["cycle", "--conns", "1000", *SIZE], floor=floor.BEANSTALK_CYCLE),
        Case(PAIRS, ["pairs", "--producers", "25", "--workers", "25", *SIZE],
             floor=floor.BEANSTALK_PAIRS),
        Case(DRAIN_EQUAL, drain, floor=floor.BEANSTALK_DRAIN),
        Case(DRAIN_RANDOM, drain + ["--priorities", "random"], floor=floor.BEANSTALK_DRAIN),
    ]


def neighbour_cases(options):
    """The cases, and the servers of each."""
    loads = {
        "put": ["put", *FIFTY, *SIZE],
        "cycle": ["cycle", *FIFTY, *SIZE],
        "pairs": ["pairs", "--producers", "25", "--workers", "25", *SIZE],
    }
    beside = {
        ALONE: (None, 0),
        "10,000 idle tubes": (idle_tubes, 10000),
        "5,000 blocked reserves elsewhere": (blocked_reserves, 5000),
        f"{options.delayed:,} delayed jobs elsewhere": (delayed_jobs, options.delayed),
    }
    return [Case(f"{load}: {title}", arguments, *neighbour)
            for load, arguments in loads.items() for title, neighbour in beside.items()]


def gearman_cases(options):
    some = max(options.drain // 5, 1)
    one_worker = ["drain", "--jobs", str(max(options.drain // 50, FUNCTIONS)), *SIZE]
    trips = ["trips", *SIZE]
    return [
        Case("background, 1 conn, 1 in flight", ["put", *SIZE], floor=floor.GEARMAN_PUT),
        Case(SUBMIT_1, ["put", *FIFTY, *SIZE], floor=floor.GEARMAN_PUT),
        Case(SUBMIT_16, ["put", *FIFTY, "--depth", "16", *SIZE], floor=floor.GEARMAN_PUT),
        Case(WORKERS_50, ["drain", *FIFTY, "--jobs", str(some), *SIZE], floor=floor.GEARMAN_GRAB),
        Case(TRIPS_50, trips + ["--producers", "50", "--workers", "10"],
             floor=floor.GEARMAN_BUSY_TRIPS),
        Case(TRIPS_1, trips + ["--producers", "1", "--workers", "1"],
             floor=floor.GEARMAN_LONE_TRIPS),
        Case("1 worker, 1 function", one_worker),
        Case("1 worker, 5,000 of 20,000 functions",
             one_worker + ["--queues", str(FUNCTIONS)], waiting_functions, 15000),
    ]
