#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Migrations in which a process is killed at a random moment, round by round: tandemctl, the server
that jobs come from, or the one that they go to; each of the two is a beanstalkd or a tandemd. The
command is called again until it ends well. Then every job stands at the target as it stood at the
source, nothing stands at the source, and each that stands at the target twice was named as in
doubt, or as a duplicate. At a tandemd as the source, an attempt that is spent ends a job.

migrate_kills.py ROUNDS [SEED]; TANDEMCTL, TANDEMD and BEANSTALKD name the programs.
"""

import collections
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

import moving
import program

JOBS = 1200
BURIED = 12
TRIES = 20
NAMED = re.compile(r"(?:in doubt|duplicate): job (\d+) of ")
VICTIMS = "tool", "source", "target"
PAIRS = [("beanstalkd", "tandemd"), ("tandemd", "tandemd"), ("tandemd", "beanstalkd"),
         ("beanstalkd", "beanstalkd")]
# Longer than a copy waits for the deletion at the source.
STAGED_SECONDS = 300


class Round:
    def __init__(self, folder, chance, pair, victim, delay):
        self.folder, self.chance, self.pair = folder, chance, pair
        self.victim, self.delay = victim, delay
        self.source = self.serve(pair[0], "old")
        self.target = self.serve(pair[1], "new")
        self.named = set()
        self.runs = 0

    def serve(self, kind, name):
        if kind == "beanstalkd":
            return moving.beanstalkd(self.folder / name)
        return moving.tandemd(self.folder / name, "[queue *]\nmax_attempts = 1\non_exhausted = drop\n")

    def address(self, server):
        return getattr(server, "api", None) or server.address()

    def fill(self):
        """The jobs of the source, by id."""
        with moving.Client(self.source.port) as client:
            for tube, count in (("mail", JOBS // 2), ("thumbs", JOBS // 4), ("x", JOBS // 4)):
                client.say(f"use {tube}")
                client.say_all([
                    (f"put {self.chance.randrange(9)} {self.chance.choice([0, 0, 0, 90000])} "
                     f"{self.chance.choice([60, 600])} {len(body)}", body)
                    for body in (b"%s %d %s" % (tube.encode(), number,
                                                self.chance.randbytes(self.chance.randrange(200)))
                                 for number in range(count))])
            client.bury("thumbs", BURIED)
            last = client.put(b"last")
        return moving.jobs_of(self.source.port, last)

    def run_once(self, dies):
        """Its exit code."""
        self.runs += 1
        tool = subprocess.Popen([program.PROGRAM, "migrate", self.address(self.source), "--to",
                                 self.address(self.target), "--state-file",
                                 str(self.folder / "state"), "--timeout", "60"],
                                env=program.environment(), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        killer = threading.Thread(target=self.kill, args=(tool,))
        if dies:
            killer.start()
        said, _ = tool.communicate(timeout=moving.SECONDS)
        if dies:
            killer.join()
        self.named |= {int(job) for job in NAMED.findall(said)}
        if "damaged" in said or "AddressSanitizer" in said:
            raise AssertionError(said)
        return tool.returncode, said

    def kill(self, tool):
        time.sleep(self.delay)
        if self.victim == "tool":
            tool.kill()
            return
        server = self.source if self.victim == "source" else self.target
        server.kill()
        server.start()

    def at_target(self):
        """Without the copies that still wait for a deletion that was never confirmed."""
        give_up_at = time.monotonic() + STAGED_SECONDS
        while True:
            jobs = moving.everything(self.target)
            if not any(job["state"] == "delayed" and int(job["delay"]) < 1000 for job in jobs):
                return jobs
            if time.monotonic() > give_up_at:
                raise AssertionError("copies wait for ever")
            time.sleep(0.5)

    def check(self, before):
        def looks(job):
            return job["tube"], job["state"], job["pri"], job["ttr"], job["body"]

        after = collections.Counter(looks(job) for job in self.at_target())
        expected = {looks(job): number for number, job in before.items()}
        lost = [number for job, number in expected.items() if job not in after]
        made = [job for job in after if job not in expected]
        twice = {expected[job] for job, count in after.items() if count > 1 and job in expected}
        left = moving.jobs_of(self.source.port, max(before))
        faults = {"lost": lost, "changed": made, "twice and not named": twice - self.named,
                  "left": list(left)}
        if self.pair[1] == "tandemd":
            # The target knows what it has: none comes twice.
            faults["twice at a target that remembers"] = twice
        for what, jobs in faults.items():
            if jobs:
                raise AssertionError(f"{what}: {len(jobs)} jobs, as {jobs[:3]}"
                                     if isinstance(jobs, list) else f"{what}: {sorted(jobs)[:9]}")
        return len(twice)

    def play(self):
        before = self.fill()
        code, said = self.run_once(True)
        cut = code != 0
        while code != 0:
            if self.runs > TRIES:
                raise AssertionError(f"it does not end: {said}")
            code, said = self.run_once(False)
        twice = self.check(before)
        print(f"{' to '.join(self.pair)}: {self.victim} killed after {self.delay * 1000:.0f} ms: "
              f"{'under way' if cut else 'too late'}, {len(before)} jobs, "
              f"{len(self.named)} named, {twice} twice", flush=True)
        return cut, twice

    def close(self):
        self.source.close()
        self.target.close()


def measure(chance, pair):
    """The duration of a migration without a kill."""
    with tempfile.TemporaryDirectory() as folder:
        one = Round(pathlib.Path(folder), chance, pair, "tool", 0)
        try:
            one.fill()
            began = time.monotonic()
            code, said = one.run_once(False)
            if code != 0:
                raise AssertionError(said)
            return time.monotonic() - began
        finally:
            one.close()


def main(rounds, seed):
    chance = random.Random(seed)
    lengths = {}
    print(f"seed {seed}", flush=True)
    cut = twice = 0
    for number in range(rounds):
        pair = PAIRS[number % len(PAIRS)]
        victim = VICTIMS[number // len(PAIRS) % len(VICTIMS)]
        if pair not in lengths:
            lengths[pair] = measure(chance, pair)
            print(f"{' to '.join(pair)}: undisturbed {lengths[pair] * 1000:.0f} ms", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            one = Round(pathlib.Path(folder), chance, pair, victim,
                        chance.uniform(0, lengths[pair]))
            try:
                was_cut, doubled = one.play()
            finally:
                one.close()
            cut += was_cut
            twice += doubled
    print(f"{rounds} rounds, {cut} killed under way, {twice} jobs twice, all of them named")


if __name__ == "__main__":
    os.environ.setdefault("BEANSTALKD", "beanstalkd")
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10 ** 6))
