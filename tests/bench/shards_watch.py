# SPDX-License-Identifier: MIT
"""Workers that watch queues of several shards, simulated.

A worker is connected to one broker, which asks the shards for it. Three ways are compared:
  exact    each shard offers its best job, or says that it has none; the best offer of all is
           taken, and the others are given back. Meanwhile no other broker gets these jobs
  hints    a shard tells the brokers how urgent its best job is, with each answer and when a more
           urgent one has come; the shard is asked that was most urgent when last heard of
  in turn  one shard after the other is asked, each worker beginning where it has ended

Where no shard has a job, the worker waits at all of them, and the first offer is taken. A shard
offers a job to any of those who wait, so that two shards seldom offer to the same."""

import dataclasses
import heapq
import random

WAYS = ("exact", "hints", "in turn")
WAY_FOR = 0.0001  # seconds from a broker to another
WORK_FOR = 0.005
WORKERS = 50
JOBS = 4000
PRIORITIES = 1000
LOADS = (0.3, 0.8, 1.1)  # of what the workers can do
SHARDS = (1, 2, 4, 8)
NOTHING = (PRIORITIES, 0)


@dataclasses.dataclass
class Told:
    """The counters."""

    jobs: int = 0
    messages: int = 0
    returned: int = 0  # offers that were given back
    overtaken: int = 0  # jobs begun although a more urgent one was ready elsewhere
    waited_for: float = 0  # of jobs that a worker waited for, all together
    waiting: int = 0  # how many those were


class Shard:
    def __init__(self, number):
        self.number = number
        self.ready = []
        self.waiters = {}

    def best(self):
        return self.ready[0][0] if self.ready else NOTHING


class Worker:
    def __init__(self, number, shards):
        self.number = number
        self.turn = number % shards
        self.ask = 0  # counts what it has asked for: answers to what went before are late
        self.idle = True
        self.pending = 0
        self.offers = []
        self.tried = 0


class Watch:
    """One simulation."""

    def __init__(self, way, shards, load):
        self.way, self.load = way, load
        self.shards = [Shard(number) for number in range(shards)]
        self.workers = [Worker(number, shards) for number in range(WORKERS)]
        # Each broker's last news of each shard.
        self.hints = [NOTHING] * shards
        self.told = Told()
        self.chance = random.Random(1)
        self.events, self.order, self.now = [], 0, 0.0

    def later(self, after, what, *about):
        self.order += 1
        heapq.heappush(self.events, (self.now + after, self.order, what, about))

    def send(self, what, *about):
        self.told.messages += 1
        self.later(WAY_FOR, what, *about)

    def run(self):
        self.later(0.0, self.submit, 0)
        for worker in self.workers:
            self.ask(worker)
        while self.events and self.told.jobs < JOBS:
            self.now, _, what, about = heapq.heappop(self.events)
            what(*about)
        return self.told

    def submit(self, number):
        """A job, at some shard."""
        shard = self.chance.choice(self.shards)
        key = (self.chance.randrange(PRIORITIES), number)
        self.ready(shard, (key, self.now))
        self.later(self.chance.expovariate(self.load * WORKERS / WORK_FOR), self.submit, number + 1)

    def ready(self, shard, job):
        heapq.heappush(shard.ready, job)
        if shard.waiters:
            worker = self.chance.choice(list(shard.waiters))
            ask = shard.waiters.pop(worker)
            self.send(self.offered, shard, worker, ask, heapq.heappop(shard.ready), shard.best())
        elif self.way == "hints" and shard.ready[0] == job:
            self.send(self.heard, shard, job[0])

    def heard(self, shard, best):
        self.hints[shard.number] = best

    def ask(self, worker):
        worker.ask += 1
        worker.idle, worker.offers, worker.tried = True, [], 0
        if self.way == "exact":
            worker.pending = len(self.shards)
            for shard in self.shards:
                self.send(self.asked, shard, worker, worker.ask, True)
        else:
            worker.pending = 1
            self.ask_one(worker)

    def ask_one(self, worker):
        if self.way == "hints":
            order = sorted(self.shards, key=lambda shard: self.hints[shard.number])
            shard = order[worker.tried]
        else:
            shard = self.shards[(worker.turn + worker.tried) % len(self.shards)]
        self.send(self.asked, shard, worker, worker.ask, False)

    def asked(self, shard, worker, ask, waits):
        """At the shard. Who waits is offered the first job that comes."""
        if ask != worker.ask:
            return
        if shard.ready:
            self.send(self.offered, shard, worker, ask, heapq.heappop(shard.ready), shard.best())
            return
        if waits:
            shard.waiters[worker] = ask
        self.send(self.has_none, shard, worker, ask)

    def has_none(self, shard, worker, ask):
        self.heard(shard, NOTHING)
        if ask != worker.ask or not worker.idle:
            return
        worker.pending -= 1
        if self.way == "exact":
            self.decide(worker)
            return
        worker.tried += 1
        worker.pending = 1
        if worker.tried < len(self.shards):
            self.ask_one(worker)
        elif worker.tried == len(self.shards):
            # None has any: it waits at all of them.
            worker.pending = 0
            for other in self.shards:
                self.send(self.asked, other, worker, ask, True)

    def offered(self, shard, worker, ask, job, next_best):
        self.heard(shard, next_best)
        if ask != worker.ask or not worker.idle:
            self.give_back(shard, job)
            return
        worker.offers.append((job, shard))
        worker.pending -= 1
        self.decide(worker)

    def give_back(self, shard, job):
        self.told.returned += 1
        self.send(self.ready, shard, job)

    def decide(self, worker):
        """Takes the best offer, once no answer is missing that it would have to wait for."""
        if worker.pending > 0 or not worker.offers:
            return
        (job, shard), *others = sorted(worker.offers, key=lambda offer: offer[0])
        for other, its in others:
            self.give_back(its, other)
        for other in self.shards:
            if worker in other.waiters:
                self.send(self.waits_no_more, other, worker, worker.ask)
        self.begin(worker, shard, job)

    def waits_no_more(self, shard, worker, ask):
        if shard.waiters.get(worker) == ask:
            del shard.waiters[worker]

    def begin(self, worker, shard, job):
        key, since = job
        worker.idle = False
        worker.turn = shard.number + 1
        self.told.jobs += 1
        self.told.overtaken += any(other.best()[0] < key[0] for other in self.shards)
        if not any(other.ready for other in self.shards):
            self.told.waiting += 1
            self.told.waited_for += self.now - since
        self.later(WORK_FOR + WAY_FOR, self.ask, worker)


def print_watches():
    print(f"{f'{WORKERS} workers that watch all shards':36}{'load':>6}{'shards':>8}{'messages':>10}"
          f"{'given back':>12}{'overtaken':>11}{'wait, ms':>10}")
    for way in WAYS:
        for load in LOADS:
            for shards in SHARDS:
                told = Watch(way, shards, load).run()
                wait = 1000 * told.waited_for / told.waiting if told.waiting else 0
                print(f"{way if (load, shards) == (LOADS[0], SHARDS[0]) else '':36}{load:6.1f}"
                      f"{shards:8}{told.messages / told.jobs:10.1f}"
                      f"{told.returned / told.jobs:12.2f}{told.overtaken / told.jobs:11.2f}"
                      f"{wait:10.2f}")
    print("messages between brokers, offers given back: for each job. overtaken: the share of jobs\n"
          "that were begun while a more urgent one was ready. wait: of jobs that found no other ready.")
