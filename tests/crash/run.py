#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills the broker again and again while clients of all protocols work, and compares what it still
knows with what they were told. README.md beside this file says what is checked.
"""

import argparse
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import wire
from book import Book, Ids
from broker import Beanstalkd, Broker, Failure, Tandem
from check import Check, bytes_needed
from crowd import Crowd
from family import Family
from faults import Faults, Good
from operators import Operator
from retriers import Retrier

POLICIES = ("always", "50", "never")
SHOWN = 20  # violations of a round
JOIN_SECONDS = 60
HEALTH_SECONDS = 60
STARTS = 3  # that a disk may spoil
MIB = 1 << 20


class Trial:
    """All rounds, and what the clients of the present one must know."""

    def __init__(self, options, broker):
        self.options = options
        self.broker, self.disk = broker, broker.disk
        self.rng = random.Random(options.seed)
        self.speaks_all = broker.kind.speaks_all
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.violations = []  # of the round
        self.refusals = {}
        self.round_number = 0
        self.segment_size = 0  # as the broker says
        self.cut = 0  # bytes of the journal, after the last round
        ids = Ids()
        self.books = [Book(f"f{number}", ids) for number in range(options.families)]
        self.operated = [Book(f"o{number}", ids)
                         for number in range(options.operators if self.speaks_all else 0)]
        self.retried = [Book(f"r{number}", ids)
                        for number in range(options.retriers if self.speaks_all else 0)]
        self.books += self.operated + self.retried
        self.books.append(Book("crowd", ids))

    def port(self, protocol):
        return self.broker.ports[protocol]

    def complain(self, text):
        with self.lock:
            self.violations.append(text)

    def refused(self, word):
        """A request that a healthy broker with room on its disk does not refuse."""
        with self.lock:
            self.refusals[word] = self.refusals.get(word, 0) + 1

    def parties(self):
        def rng(number):
            return random.Random(f"{self.options.seed} {self.round_number} {number}")
        families = [Family(self, book, book.name, rng(book.name))
                    for book in self.books[:-1] if book not in self.operated + self.retried]
        operators = [Operator(self, book, book.name, rng(book.name)) for book in self.operated]
        retriers = [Retrier(self, book, book.name, rng(book.name)) for book in self.retried]
        return families + operators + retriers + [Crowd(self, self.books[-1], f"crowd-{number}", rng(number))
                           for number in range(self.options.crowd)]

    def run(self):
        """Returns how many rounds had violations."""
        bad = 0
        while self.round_number < self.options.rounds or self.nothing_was_cut():
            self.round_number += 1
            bad += not self.run_round()
            if bad and self.options.stop:
                break
        self.begin_round()
        last_check, _ = self.restart("always", max(self.disk.segment_sizes))
        self.run_check(last_check)
        self.broker.stop()
        self.hear_complaints()
        print("after the last one: " + self.verdict(), flush=True)
        return bad + bool(self.violations)

    def nothing_was_cut(self):
        return self.options.sabotage and not self.cut

    def begin_round(self):
        self.violations = []
        self.refusals = {}
        self.over.clear()

    def restart(self, fsync, segment_size):
        if self.options.save:
            self.broker.save(self.options.save)
        self.disk.begin_round()
        replayed_for = self.start(fsync, segment_size)
        self.disk.rest()
        if self.disk.steps:
            for book in self.books:
                book.forget_times()
        return Check(self, self.books, self.rng), replayed_for

    def start(self, fsync, segment_size):
        """A disk that fails may keep the broker from starting, now and then."""
        for _ in range(STARTS if self.disk.fails else 0):
            try:
                return self.broker.start(fsync, segment_size)
            except Failure:
                if not self.broker.refused():
                    raise
        self.disk.rest()
        return self.broker.start(fsync, segment_size)

    def run_check(self, check):
        """When it takes jobs again: what has failed is not tried again at once."""
        probes = list(self.probe()) if self.disk.fails else []
        check.run()
        for job_id in probes:
            self.books[0].ids.take(job_id)

    def probe(self):
        """The ids of the jobs that were taken."""
        bean, until = wire.Bean(self.port("beanstalk")), time.monotonic() + HEALTH_SECONDS
        words = []
        while words[:1] != ["INSERTED"] and time.monotonic() < until:
            words, _ = bean.exchange(wire.put(0, 0, 60, b"healthy?"))
            time.sleep(0.01)
        if words[0] == "INSERTED":
            bean.ask(f"delete {words[1]}")
            yield int(words[1])
        else:
            self.complain(f"the broker does not recover: {words}")
        bean.close()

    def run_round(self):
        self.begin_round()
        fsync = self.options.fsync or POLICIES[(self.round_number - 1) % len(POLICIES)]
        segment_size = self.options.segment_size or self.rng.choice(
            self.disk.segment_sizes)
        check, replayed_for = self.restart(fsync, segment_size)
        self.run_check(check)
        self.disk.rage()
        before = self.totals()
        ending, worked_for, requests = self.work()
        space, files = self.measure_disk()
        accepted, ended = (now - then for now, then in zip(self.totals(), before))
        self.hear_complaints()
        between = self.sabotage(fsync, segment_size)
        print(f"round {self.round_number} fsync={fsync} segment={self.segment_size // 1024}K "
              f"replay={1000 * replayed_for:.0f}ms unanswered-but-done={check.happened}: "
              f"worked {worked_for:.1f} s, {requests} requests, {accepted} jobs accepted, "
              f"{ended} ended, {sum(len(book.live) for book in self.books)} live, "
              f"{files} files {space}, {ending}{between}; {self.verdict()}", flush=True)
        return not self.violations

    def hear_complaints(self):
        """The messages of the broker; after sabotage, only losses that the clients see count."""
        if not self.options.sabotage:
            self.violations += self.broker.complaints()

    def totals(self):
        return (sum(book.accepted for book in self.books), sum(book.ended for book in self.books))

    def work(self):
        """Everybody works until the broker ends."""
        parties = self.parties()
        begun = time.monotonic()
        for party in parties:
            party.start()
        time.sleep(self.rng.uniform(0.3, 1) * self.options.seconds_per_round)
        ending = self.end_broker()
        worked_for = time.monotonic() - begun
        self.over.set()
        for party in parties:
            party.join(JOIN_SECONDS)
            if party.is_alive():
                self.complain(f"{party.name} hangs")
        return ending, worked_for, sum(party.requests for party in parties)

    def end_broker(self):
        if self.broker.process.poll() is not None:
            raise Failure(f"the broker ended by itself: {self.broker.last_words()}")
        if self.rng.random() < 0.15:
            self.broker.stop()
            return "stopped"
        self.broker.kill()
        return "killed"

    def measure_disk(self):
        """Its directory must not grow beyond what live jobs need."""
        sizes = self.broker.files()
        total, needed = sum(sizes), bytes_needed(self.books)
        bound = 3 * needed + 3 * self.segment_size
        if self.speaks_all and not self.disk.fails and total > bound:
            self.complain(f"{len(sizes)} files take {total} bytes: more than three times the "
                          f"{needed} of live jobs, and three files of {self.segment_size}")
        return f"{total / MIB:.1f} MiB of at most {bound / MIB:.1f}", len(sizes)

    def sabotage(self, fsync, segment_size):
        """The faults between two rounds: perhaps more crashes, perhaps damage."""
        if self.options.sabotage:
            self.cut = self.broker.cut(self.options.sabotage)
            return f", {self.cut} bytes cut"
        crashes = self.rng.choice([0, 0, 0, 1, 2])
        if self.rng.random() < 0.5:
            self.disk.rest()
        for _ in range(crashes):
            self.broker.start_and_kill(fsync, segment_size, self.rng.uniform(0, 0.05))
        return f" and {crashes} times more at its start" if crashes else ""

    def verdict(self):
        lines = [f"  VIOLATION {text}" for text in self.violations[:SHOWN]]
        if len(self.violations) > SHOWN:
            lines.append(f"  and {len(self.violations) - SHOWN} more")
        refusals = f", refused {self.refusals}" if self.refusals else ""
        return "\n".join([f"{len(self.violations)} violations{refusals}"] + lines)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--tandemd", help="path of the broker")
    who.add_argument("--beanstalkd", help="path of the reference; only one protocol is spoken then")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds-per-round", type=float, default=2,
                        help="that clients work, at most")
    parser.add_argument("--fsync", help="one policy for all rounds (each in turn)")
    parser.add_argument("--segment-size", type=int, help="bytes, for all rounds")
    parser.add_argument("--families", type=int, default=6)
    parser.add_argument("--operators", type=int, default=2)
    parser.add_argument("--retriers", type=int, default=1)
    parser.add_argument("--crowd", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--dir", help="where the journal's directory is made")
    parser.add_argument("--stop", action="store_true", help="after a round with violations")
    parser.add_argument("--save", help="keep a copy of the journal as it was found at each start")
    parser.add_argument("--sabotage", type=int, metavar="BYTES",
                        help="cut this number of bytes off the journal after each round: exits with 0 "
                             "only if that is noticed")
    parser.add_argument("--faults", metavar="LIBRARY", help="the disk fails: faults.c, built")
    parser.add_argument("--clock-steps", action="store_true",
                        help="with --faults: the wall clock is set between two starts")
    return parser.parse_args()


def run(options, base):
    kind = Tandem(options.tandemd) if options.tandemd else Beanstalkd(options.beanstalkd)
    disk = Good()
    if options.faults:
        disk = Faults(options.faults, base, random.Random(f"{options.seed} faults"),
                      options.clock_steps)
    broker = Broker(kind, base, disk)
    trial = Trial(options, broker)
    try:
        bad = trial.run()
    except Failure as failure:
        bad = 1
        print(f"after round {trial.round_number}: {failure}", flush=True)
        print(trial.verdict(), flush=True)
    finally:
        broker.close()
    accepted, ended = trial.totals()
    print(f"{trial.round_number} rounds, {accepted} jobs accepted, {ended} ended, "
          f"{bad} rounds with violations (seed {options.seed})")
    return bad


def main():
    options = parse_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that the broker ends, too
    with tempfile.TemporaryDirectory(prefix="crash-", dir=options.dir) as base:
        bad = run(options, pathlib.Path(base))
    good = bad > 0 if options.sabotage else bad == 0
    print(f"# pass {int(good)}\n# fail {int(not good)}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
