#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A migration in which a process is killed at a random moment, round by round: tandemctl, the
beanstalkd that jobs come from, or the tandemd that they go to. It is called again until it ends
well. Then every job stands at the target as it stood at the source, nothing stands at the source,
and each that stands at the target twice was named as in doubt, or as a duplicate.

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


class Round:
    def __init__(self, folder, chance, victim, delay):
        self.folder, self.chance, self.victim, self.delay = folder, chance, victim, delay
        self.source = moving.beanstalkd(folder / "old")
        self.target = moving.tandemd(folder / "new")
        self.named = set()
        self.runs = 0

    def fill(self):
        """What stands at the source, by id."""
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
        tool = subprocess.Popen([program.PROGRAM, "migrate", self.source.address(),
                                 "--state-file", str(self.folder / "state"), "--timeout", "60"],
                                env=program.environment(self.target.api), stdout=subprocess.PIPE,
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

    def check(self, before):
        def looks(job):
            return job["tube"], job["state"], job["pri"], job["ttr"], job["body"]

        after = collections.Counter(looks(job) for job in moving.exported(self.target))
        expected = {looks(job): number for number, job in before.items()}
        lost = [number for job, number in expected.items() if job not in after]
        made = [job for job in after if job not in expected]
        twice = {expected[job] for job, count in after.items() if count > 1 and job in expected}
        left = moving.jobs_of(self.source.port, max(before))
        faults = {"lost": lost, "changed": made, "twice and not named": twice - self.named,
                  "left": list(left)}
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
        print(f"{self.victim} killed after {self.delay * 1000:.0f} ms: "
              f"{'under way' if cut else 'too late'}, {len(before)} jobs, "
              f"{len(self.named)} named, {twice} twice", flush=True)
        return cut, twice

    def close(self):
        self.source.close()
        self.target.close()


def measure(chance):
    """How long a migration takes here that nobody disturbs."""
    with tempfile.TemporaryDirectory() as folder:
        one = Round(pathlib.Path(folder), chance, "tool", 0)
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
    length = measure(chance)
    print(f"seed {seed}, undisturbed {length * 1000:.0f} ms", flush=True)
    cut = twice = 0
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            one = Round(pathlib.Path(folder), chance, VICTIMS[number % len(VICTIMS)],
                        chance.uniform(0, length))
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
