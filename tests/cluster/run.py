#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes owners, standbys and databases away from a cluster of two brokers while clients work, and
compares what it still knows with what they were told. README.md beside this file says what is
checked.
"""

import argparse
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "crash"))

import database
import link
import member
import postgres
import roamer
import wire
from acts import Acts
from book import Book, Ids
from comparison import Comparison
from faults import Good
from history import History

OWNER_SECONDS = 180
LOOK_SECONDS = 2
JOIN_SECONDS = 120
TRIES = 10  # of a comparison, during which the owner may change on a machine that is slow
NEAR = 1000  # rows behind the owner, who is at work
SHOWN = 20
SHARD = "rounds"


class Disk(Good):
    """Things may be refused while there is no owner, or the database is away."""

    fails = True
    jobs = (80, 200)
    largest_body = 16000


class Trial:
    """All rounds, and what the clients of the present one must know."""

    speaks_all = True
    segment_size = 0

    def __init__(self, options, base):
        self.options, self.base = options, base
        self.rng = random.Random(options.seed)
        self.ttl = options.ttl
        self.disk = Disk()
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.history = History()
        self.violations, self.refusals, self.acks = [], {}, 0
        self.round_number = 0
        self.took = {}  # act: seconds until the next owner served
        self.pair = database.Pair(base, self.rng, options.synced)
        self.net = link.Net()
        self.members, self.links = [], {}
        ids = Ids()
        self.books = [Book(f"f{number}", ids) for number in range(options.families)]
        self.books.append(Book("crowd", ids))
        self.owner = None

    #
    # For clients and comparisons
    #

    def port(self, protocol):
        return self.owner.ports[protocol]

    def complain(self, text):
        with self.lock:
            self.violations.append(text)

    def refused(self, word):
        with self.lock:
            self.refusals[word] = self.refusals.get(word, 0) + 1

    def acknowledged(self, _step):
        with self.lock:
            self.acks += 1

    #
    # The cluster
    #

    def start(self):
        self.pair.start()
        for name in ("a", "b"):
            links = [link.Link(self.net, server.port) for server in self.pair.servers]
            self.links[name] = links
            self.members.append(member.Member(
                name, self.base, self.options.tandemd, self.settings(links), self.disk.largest_body))
        self.make_store()
        for one in self.members:
            one.start()
        self.settle_down()

    def settings(self, links):
        ports = ",".join(str(one.port) for one in links)
        return {"journal.store": "postgres", "journal.shard": SHARD, "journal.dir": "",
                "journal.postgres": f"host=127.0.0.1,127.0.0.1 port={ports} dbname=postgres "
                                    f"user={self.pair.user} connect_timeout=2 "
                                    "target_session_attrs=read-write",
                "journal.lease_ttl": self.ttl, "journal.segment_size": 1 << 20}

    def make_store(self):
        command = [*self.members[0].command(), "--init-store"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise member.Failure(f"no store: {done.stdout}{done.stderr}")

    def find_owner(self):
        """The broker that answers, by any address."""
        until = time.monotonic() + OWNER_SECONDS
        while time.monotonic() < until:
            for one in self.members:
                pid = answering(one)
                owners = [other for other in self.members
                          if other.is_alive() and other.pid() == pid]
                if owners:
                    return owners[0]
            time.sleep(0.05)
        raise member.Failure("no broker owns the journal: " + "".join(
            f"\n{one.name}: {one.last_words()}" for one in self.members))

    def settle_down(self):
        """Until one owns, as its log says too, and the other one could take over."""
        until = time.monotonic() + OWNER_SECONDS
        while True:
            self.owner = self.find_owner()
            if self.has_told(self.owner) and all(
                    self.is_ready(one) for one in self.members if one is not self.owner):
                return
            if time.monotonic() > until:
                raise member.Failure("no broker follows: " + "".join(
                    f"\n{one.name}: {one.last_words()}" for one in self.members))
            time.sleep(0.05)

    @staticmethod
    def has_told(owner):
        """A thread of its own writes the log, and may come to that after the first answers."""
        status, told = owner.ask("GET", "/api/v1/cluster")
        return status == 200 and any(reign.epoch >= told["epoch"]
                                     for reign in owner.process().reigns())

    @staticmethod
    def is_ready(one):
        status, told = one.ask("GET", "/api/v1/cluster")
        return status == 200 and told["role"] == "standby" and told["behind"] <= NEAR

    #
    # Rounds
    #

    def run(self):
        """Returns how many rounds had violations."""
        self.start()
        bad, kinds = 0, []
        acts = Acts(self, self.rng)
        while self.round_number < self.options.rounds:
            self.round_number += 1
            kinds = kinds or [kind for kind in acts.kinds()
                              if not self.options.only or kind.__name__ in self.options.only]
            bad += not self.run_round(kinds.pop())
            if bad and self.options.stop:
                break
        for one in self.members:
            one.stop()
        return bad

    def run_round(self, act):
        self.violations, self.refusals, acks = [], {}, self.acks
        self.over.clear()
        self.history.begin_round()
        epoch = max(reign.epoch for reign in self.reigns())
        begun = time.monotonic()
        roamers = self.roamers()
        for one in roamers:
            one.start()
        time.sleep(self.rng.uniform(0.3, 1) * self.options.seconds)
        event = act(self.owner)
        self.settle_down()
        time.sleep(self.rng.uniform(0.1, 0.5) * self.options.seconds)
        self.over.set()
        for one in roamers:
            one.join(JOIN_SECONDS)
            if one.is_alive():
                self.complain(f"{one.name} hangs")
        worked = time.monotonic() - begun
        self.violations += self.history.judge(self.reigns())
        happened = self.compare()
        took = self.note_takeover(act, event, epoch)
        self.look_at_logs()
        print(f"round {self.round_number} epoch={epoch} {event.text}{took}: {worked:.1f} s, "
              f"{self.acks - acks} acknowledged, {happened} unanswered but done, "
              f"{sum(len(book.live) for book in self.books)} live; {self.verdict()}", flush=True)
        return not self.violations

    def roamers(self):
        def rng(name):
            return random.Random(f"{self.options.seed} {self.round_number} {name}")
        found = [roamer.Roamer(self, roamer.SeatedFamily, book, book.name, rng(book.name))
                 for book in self.books[:-1]]
        names = [f"crowd-{number}" for number in range(self.options.crowd)]
        found += [roamer.Roamer(self, roamer.SeatedCrowd, self.books[-1], name, rng(name))
                  for name in names]
        # One that looks everywhere all the time, so that the first job is not long in coming.
        found.append(roamer.Roamer(self, roamer.SeatedCrowd, self.books[-1], "restless",
                                   rng("restless"), self.options.restless))
        return found

    def reigns(self):
        return [reign for one in self.members for reign in one.reigns()]

    def compare(self):
        """Once more, where the owner changes meanwhile."""
        happened = 0
        for _ in range(TRIES):
            self.settle_down()
            try:
                comparison = Comparison(self, self.books, self.rng)
                comparison.wait_until_quiet()
                comparison.run()
                return happened + comparison.happened
            except (wire.Lost, BrokenPipeError):
                happened += comparison.happened
        raise member.Failure("no owner stays for long enough")

    def note_takeover(self, act, event, epoch):
        """How long no broker served."""
        later = sorted(one for one in self.history.by_epoch if one > epoch)
        served = later and self.history.first_of(later[0])[1]
        if not served or not event.at:
            return ""
        self.took.setdefault(act.__name__, []).append(served - event.at)
        return f", epoch {later[0]} serves after {served - event.at:.2f} s"

    def look_at_logs(self):
        for one in self.members:
            self.violations += one.complaints()
            if not one.is_alive():
                raise member.Failure(f"{one.name} has ended by itself: {one.last_words()}")

    def verdict(self):
        lines = [f"  VIOLATION {text}" for text in self.violations[:SHOWN]]
        if len(self.violations) > SHOWN:
            lines.append(f"  and {len(self.violations) - SHOWN} more")
        refusals = f", refused {self.refusals}" if self.refusals else ""
        return "\n".join([f"{len(self.violations)} violations{refusals}"] + lines)

    def close(self):
        for one in self.members:
            one.close()
        for links in self.links.values():
            for one in links:
                one.close()
        self.net.close()
        self.pair.close()


def answering(one):
    """The process that answers where that member listens, or None."""
    try:
        bean = wire.Bean(one.ports["beanstalk"])
    except wire.Lost:
        return None
    try:
        bean.sock.settimeout(LOOK_SECONDS)
        words, text = bean.ask("stats")
        return int(wire.figures(text)["pid"]) if words[0] == "OK" else None
    except (wire.Lost, wire.Odd):
        return None
    finally:
        bean.close()


def distribution(took):
    """Of seconds."""
    took = sorted(took)
    ninth = took[min(len(took) - 1, len(took) * 9 // 10)]
    return (f"{len(took)} times, {took[0]:.2f} to {took[-1]:.2f} s, median "
            f"{statistics.median(took):.2f}, nine of ten within {ninth:.2f}")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tandemd", required=True, help="path of the broker")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2,
                        help="that clients work before something happens, at most")
    parser.add_argument("--ttl", type=int, default=5, help="of the lease, in seconds")
    parser.add_argument("--families", type=int, default=3)
    parser.add_argument("--crowd", type=int, default=4)
    parser.add_argument("--restless", type=float, default=0.3,
                        help="seconds of patience of the client that measures takeovers")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--dir", help="where the databases' directories are made")
    parser.add_argument("--only", action="append", metavar="ACT", help="of acts.py")
    parser.add_argument("--stop", action="store_true", help="after a round with violations")
    parser.add_argument("--keep", metavar="DIR", help="logs are copied there in the end")
    parser.add_argument("--no-fsync", dest="synced", action="store_false",
                        help="the databases do not wait for their disks")
    return parser.parse_args()


def run(options, base):
    trial = Trial(options, base)
    try:
        bad = trial.run()
    except (member.Failure, subprocess.CalledProcessError, TimeoutError) as failure:
        bad = 1
        print(f"in round {trial.round_number}: {failure}\n{trial.verdict()}", flush=True)
    finally:
        trial.close()
        if options.keep:
            keep(base, options.keep)
    for name, took in sorted(trial.took.items()):
        print(f"{name}: served again after: {distribution(took)}")
    print(f"{trial.round_number} rounds, {trial.acks} requests acknowledged, "
          f"{sum(book.accepted for book in trial.books)} jobs accepted, {bad} rounds with "
          f"violations (seed {options.seed})")
    return bad


def keep(base, to):
    folder = pathlib.Path(to)
    folder.mkdir(parents=True, exist_ok=True)
    for log in base.glob("*.log"):
        (folder / log.name).write_bytes(log.read_bytes())


def main():
    options = parse_options()
    if not postgres.INITDB:
        print("there is no PostgreSQL")
        sys.exit(77)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that all others end, too
    with tempfile.TemporaryDirectory(prefix="cluster-", dir=options.dir) as base:
        os.chmod(base, 0o755)  # the databases run as somebody else
        bad = run(options, pathlib.Path(base))
    print(f"# pass {int(not bad)}\n# fail {int(bad > 0)}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
