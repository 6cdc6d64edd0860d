#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills the broker while schedules submit jobs, again and again, with a wall clock that is set
between two starts, and looks for moments that were lost, or that submitted two jobs. Schedules make up
for all moments that were missed, so that each start has some dozens of them to do at once.

One schedule stands in the configuration, one was made at run time and is kept in the journal.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import wire
from broker import Broker, Failure, Tandem
from faults import Good

GRAB_JOB_UNIQ, JOB_ASSIGN_UNIQ = 30, 31
CONFIG = "[schedule file]\ncron = * * * * *\ntimezone = UTC\nqueue = s\nmissed = all\n"
GIVEN = {"cron": "*/2 * * * *", "timezone": "UTC", "queue": "s", "missed": "all"}
MINUTES = {"file": 1, "given": 2}  # between two moments of each
# A schedule makes up for a hundred moments.
STEPS = (0, 5 * 60, 10 * 60, 20 * 60, -30 * 60)
POLICIES = ("always", "5", "never")
SEGMENT = 65536
WAIT_SECONDS = 60


class Clock(Good):
    """A good disk, and a wall clock that is set."""

    def __init__(self, library):
        self.library, self.ahead = str(pathlib.Path(library).resolve()), 0

    def wall(self):
        return time.time() + self.ahead

    def environment(self, directory):
        options = "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")
        return {**os.environ, "LD_PRELOAD": self.library, "ASAN_OPTIONS": options,
                "FAULTS_DIR": str(directory), "FAULTS_SWITCH": str(directory / "never"),
                "FAULTS_ONE_IN": "1000", "FAULTS_CLOCK": str(self.ahead), "FAULTS_SEED": "1"}


class Configured(Tandem):
    """tandemd with a schedule in its file."""

    config = CONFIG


class Seen:
    """The jobs of a worker: the jobs of each moment, as (schedule, moment) -> ids."""

    def __init__(self):
        self.jobs = {}

    def take(self, key, job):
        name, _, moment = key.partition("@")
        at = datetime.datetime.strptime(moment, "%Y-%m-%dT%H:%M:%SZ")
        at = at.replace(tzinfo=datetime.timezone.utc).timestamp()
        self.jobs.setdefault((name, int(at)), set()).add(job)

    def faults(self, name, first, last):
        """The errors in moments from `first` to `last`; those behind may be there or not."""
        expected = range(int(first), int(last) + 1, 60 * MINUTES[name])
        for at in expected:
            ids = self.jobs.get((name, at), set())
            if len(ids) != 1:
                yield f"{name}@{at} has the jobs {sorted(ids)}"
        for other, at in self.jobs:
            if other == name and at <= last and at not in expected:
                yield f"{name}@{at} is not one of its times"


class Worker(wire.Gear):
    """Works on what schedules have submitted."""

    def __init__(self, port, seen):
        super().__init__(port)
        self.seen = seen
        self.send(wire.request(wire.CAN_DO, b"s"))

    def work(self):
        """One job, if there is one."""
        self.send(wire.request(GRAB_JOB_UNIQ))
        kind, said = self.answer()
        if kind != JOB_ASSIGN_UNIQ:
            return False
        handle, _, key = said[:3]
        self.seen.take(key.decode(), wire.id_of(handle.decode()))
        self.send(wire.request(wire.WORK_COMPLETE, handle, b""))
        return True


def asked(port, method, path, document=None):
    """The reply of the admin API, when it is complete."""
    give_up_at = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < give_up_at:
        web = wire.Web(port)
        web.send(wire.api(method, path, document))
        status, _, body = web.answer()
        web.close()
        if status == 200:
            return json.loads(body)
    raise Failure(f"{method} {path} is answered {status}: {body}")


class Trial:
    def __init__(self, options, base):
        self.rng = random.Random(options.seed)
        self.clock = Clock(options.faults)
        self.broker = Broker(Configured(options.tandemd), base, self.clock)
        self.seen = Seen()
        self.first, self.start_for, self.latest = {}, 0, 0

    def start(self):
        self.start_for = self.broker.start(self.rng.choice(POLICIES), SEGMENT)

    def begin(self):
        """The first moment of each schedule."""
        self.start()
        port = self.broker.ports["admin"]
        asked(port, "PUT", "schedules/given", GIVEN)
        self.first = {name: asked(port, "GET", f"schedules/{name}")["next_at"] for name in MINUTES}

    def round(self):
        """Killed while it starts, or while a worker works."""
        if self.rng.random() < 0.5:
            self.broker.start_and_kill(self.rng.choice(POLICIES), SEGMENT,
                                       self.rng.uniform(0.5, 1.5) * self.start_for)
            return
        self.start()
        worker = Worker(self.broker.ports["gearman"], self.seen)
        until = time.monotonic() + self.rng.uniform(0, 0.2)
        while time.monotonic() < until:
            worker.work()
        self.broker.kill()
        worker.close()
        self.clock.ahead += self.rng.choice(STEPS)

    def end(self):
        """Everything that is left. Returns what is wrong."""
        self.start()
        worker = Worker(self.broker.ports["gearman"], self.seen)
        give_up_at = time.monotonic() + WAIT_SECONDS
        wanted = [(name, int(self.latest) // (60 * step) * 60 * step)
                  for name, step in MINUTES.items()]
        while worker.work() or (not all(each in self.seen.jobs for each in wanted) and
                                time.monotonic() < give_up_at):
            pass
        worker.close()
        return [fault for name in MINUTES
                for fault in self.seen.faults(name, self.first[name], self.latest)]

    def run(self, rounds):
        self.begin()
        self.broker.kill()
        for _ in range(rounds):
            self.round()
            self.latest = max(self.latest, self.clock.wall())
        # From where the clock was farthest, there is a little more to do.
        self.clock.ahead += max(0, int(self.latest - self.clock.wall())) + STEPS[2]
        self.latest = self.clock.wall()
        faults = self.end()
        self.broker.stop()
        return faults + self.broker.complaints()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tandemd", required=True)
    parser.add_argument("--faults", required=True, help="the library that sets the clock")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--dir", help="where the journal's directory is made")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory(dir=options.dir) as base:
        trial = Trial(options, base)
        try:
            faults = trial.run(options.rounds)
        except (Failure, wire.Lost, wire.Odd) as fault:
            faults = [str(fault), trial.broker.last_words()]
        finally:
            trial.broker.close()
    for fault in faults[:20]:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
