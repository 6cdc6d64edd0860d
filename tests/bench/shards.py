#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rates that shards would reach, simulated with the figures of the part `cluster` of
tests/bench/run.

There are no shards: this is the reckoning of docs/SHARDS.md. It has no clock and no chance but a
generator that begins the same each time, so that it prints the same on every machine.

The first table is of puts. Each shard has clients that put one job after the other, a broker with
a core that takes so long for each, and one commit under way at a time; what arrives meanwhile is
the next batch. The database has cores, which take so long for a commit and for each job in it, and
one log: a sync of it serves all commits that wait for one.

The second table is of workers that watch queues of several shards (shards_watch.py)."""

import argparse
import dataclasses
import heapq
import json
import pathlib
import sys

sys.dont_write_bytecode = True

from shards_watch import print_watches

US = 1e-6
# Measured on the machine of docs/CLUSTER.md at rest: syncs a second, and microseconds of processor
# time: of a put in the broker, of a commit in the database, and of each job in it.
FIGURES = {"syncs": 3132, "put_us": 14.7, "commit_us": 449, "row_us": 1.4}
WARMUP, SECONDS = 0.05, 0.25  # of the simulation
PATIENCE = 0.5  # of the last commit: so long a batch waits for those who were just answered
SHARDS = (1, 2, 4, 8, 16)
CLIENTS = 500  # of each shard
NETWORK = 200 * US  # there and back


@dataclasses.dataclass
class Costs:
    """Seconds."""

    job: float  # of a broker's core
    commit: float  # of a core of the database
    row: float  # the same for each job of a commit
    sync: float
    clients_away: float = 0  # from an answer until the next put is there
    database_away: float = 0
    standby_away: float = 0  # of the database's standby; 0: there is none

    def sync_for(self):
        """The standby syncs at the same time, but hears of it later."""
        return self.sync + self.standby_away


class Shard:
    """A broker and its clients."""

    def __init__(self, costs, clients):
        self.costs = costs
        self.puts = []  # when the broker will have each, in order
        self.core_free_at = 0.0
        self.batch = 0
        self.began_at = 0.0
        self.took_for = 0.0
        self.answer(0.0, clients)

    def answer(self, now, count):
        """Answers `count` clients, which then put again."""
        first = max(now + self.costs.clients_away, self.core_free_at)
        self.puts += [first + number * self.costs.job for number in range(1, count + 1)]
        self.core_free_at = first + count * self.costs.job

    def next_begin(self, now):
        """When the next batch is handed over: once as many are there as were answered, or the
        patience is over."""
        expected = self.puts[min(max(self.batch, 1), len(self.puts)) - 1]
        return max(now, self.puts[0], min(expected, now + PATIENCE * self.took_for))

    def begin(self, now):
        """The batch that goes to the database."""
        self.batch = sum(1 for at in self.puts if at <= now)
        del self.puts[:self.batch]
        self.began_at = now
        return self.batch

    def end(self, now):
        self.took_for = now - self.began_at
        self.answer(now, self.batch)


class Database:
    """Its cores, and its log."""

    def __init__(self, costs, cores):
        self.costs = costs
        self.cores = [0.0] * cores  # from when each is free
        self.syncing = False
        self.waiting = []  # shards whose commits wait for a sync

    def worked_at(self, now, jobs):
        """When a core has done its part of a commit."""
        begun = max(now + self.costs.database_away / 2, heapq.heappop(self.cores))
        done = begun + self.costs.commit + jobs * self.costs.row
        heapq.heappush(self.cores, done)
        return done


def simulate(costs, shards, cores, clients=CLIENTS, databases=1):
    """Puts a second that are answered."""
    stores = [Database(costs, cores) for _ in range(databases)]
    brokers = [Shard(costs, clients) for _ in range(shards)]
    order, answered, end_at = 0, 0, WARMUP + SECONDS
    events = []

    def later(at, what, store, who):
        nonlocal order
        order += 1
        heapq.heappush(events, (at, order, what, store, who))

    def sync(now, store):
        if store.waiting and not store.syncing:
            store.syncing = True
            later(now + costs.sync_for(), "synced", store, store.waiting)
            store.waiting = []

    for number, broker in enumerate(brokers):
        later(broker.next_begin(0.0), "begin", stores[number % databases], broker)
    while events[0][0] < end_at:
        now, _, what, store, who = heapq.heappop(events)
        if what == "begin":
            later(store.worked_at(now, who.begin(now)), "worked", store, who)
        elif what == "worked":
            store.waiting.append(who)
            sync(now, store)
        elif what == "synced":
            store.syncing = False
            for broker in who:
                later(now + costs.database_away / 2, "ended", store, broker)
            sync(now, store)
        else:
            who.end(now)
            answered += who.batch if now > WARMUP else 0
            later(who.next_begin(now), "begin", store, who)
    return answered / SECONDS


def costs_of(figures):
    return Costs(job=figures["put_us"] * US, commit=figures["commit_us"] * US,
                 row=figures["row_us"] * US, sync=1 / figures["syncs"])


def places(costs):
    """{title: (costs, cores of a database, whether each shard has its own)}"""
    apart = dataclasses.replace(costs, clients_away=NETWORK, database_away=NETWORK)
    kept_twice = dataclasses.replace(apart, standby_away=NETWORK)
    return {
        "one machine for each, 2 cores": (apart, 2, False),
        "... 8 cores": (apart, 8, False),
        "... 8 cores, a standby": (kept_twice, 8, False),
        "... 32 cores, a standby": (kept_twice, 32, False),
        "a database each, a standby": (kept_twice, 8, True),
    }


def print_puts(costs):
    print("microseconds: " + ", ".join(f"{name} {at / US:.1f}" for name, at in (
        ("a put in the broker", costs.job), ("a commit in the database", costs.commit),
        ("each job of it", costs.row), ("a sync", costs.sync))))
    print("one machine for all of it, a core each: " + ", ".join(
        f"{simulate(costs, 1, 1, clients):,.0f} a second by {clients}" for clients in (1, 50, 500))
        + "\n")
    print(f"{f'puts a second, {CLIENTS} clients a shard':36}"
          + "".join(f"{f'{count} shards':>12}" for count in SHARDS))
    for title, (place, cores, own) in places(costs).items():
        print(f"{title:36}" + "".join(
            f"{simulate(place, count, cores, databases=count if own else 1):12,.0f}"
            for count in SHARDS))
    print()


def figures_of(path):
    """The output of the benchmark with --json."""
    # Here, as nothing else needs the bench's other parts.
    import cluster
    return cluster.figures_for_shards(json.loads(pathlib.Path(path).read_text())["cluster"])


def report(figures):
    print_puts(costs_of(figures))
    print_watches()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="figures of another run, as tests/bench/run --json writes "
                        "them")
    options = parser.parse_args()
    report(figures_of(options.json) if options.json else FIGURES)


if __name__ == "__main__":
    main()
