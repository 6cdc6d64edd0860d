# SPDX-License-Identifier: MIT
"""The replies to clients, and their requests without a reply.

A job in a book has a `state`, which was acknowledged, and `maybe`: the states that it may have
instead, because somebody asked for them and has no answer yet. A crash decides: afterwards the job
must be in one of them.
"""

import dataclasses
import random
import threading
import time
import zlib

READY, DELAYED, BURIED, GONE = "ready", "delayed", "buried", "gone"
SUBMITTER, CALENDAR, IMPOSED = "submitter", "calendar", "imposed"
LARGEST = 65535
FILLING = random.Random(1).randbytes(4 * LARGEST)
SURE_SECONDS = 1.5  # whole seconds are shown, and asking takes time
UNANSWERED_SECONDS = 5  # within which the broker has carried out what it never answered
GONE_KEPT = 200000
ANY_SECONDS = 10 * 86400


def body_of(tag, size):
    """The body that goes with the tag."""
    start = zlib.crc32(tag.encode()) % (len(FILLING) - 2 * LARGEST)
    return (tag.encode() + b" " + FILLING[start:start + size])[:size]


@dataclasses.dataclass(frozen=True, eq=False)
class State:
    """How a job stands, or would stand after a request."""

    kind: str
    pri: int = 0
    delay: int = None  # seconds, as last given; None: not known
    due: float = 0  # DELAYED: the earliest moment at which it is ready
    slack: float = UNANSWERED_SECONDS  # by how much that may be later
    loose: bool = False  # DELAYED, but somebody took it: it may be ready as well
    # DELAYED: who has the job wait: its SUBMITTER, until a CALENDAR moment of the submitter's, or
    # something that no submission ends; None: not known.
    by: str = SUBMITTER
    burial: int = 0  # BURIED: the place in the order, which those of one operation share
    tube: str = ""  # to which it was moved; empty: the one that it was in
    dead: str = ""  # the tube from which a policy took it
    attempts: int = 0  # that were spent to the knowledge of a policy

    def differences(self, seen, now, tube, old_for=0):
        """Why what stats-job shows (None: nothing) is not this state of a job of `tube`. The answer
        is of any moment of the last `old_for` seconds before `now`."""
        if seen is None or self.kind == GONE:
            return [] if seen is None and self.kind == GONE else [
                f"{'missing' if seen is None else seen['state']}, expected {self.kind}"]
        found = self.kind_differences(seen["state"], float(seen["time-left"]), now, old_for)
        if seen["tube"] != (self.tube or tube):
            found.append(f"tube {seen['tube']}, expected {self.tube or tube}")
        past = seen.get("dead-from", ""), int(seen.get("dead-attempts", 0))
        if past != ((self.dead, self.attempts) if self.dead else ("", 0)):
            found.append(f"taken from {past}, expected {self.dead} {self.attempts}")
        if int(seen["pri"]) != self.pri:
            found.append(f"priority {seen['pri']}, expected {self.pri}")
        if self.delay is not None and int(seen["delay"]) != self.delay:
            found.append(f"delay {seen['delay']}, expected {self.delay}")
        return found

    def kind_differences(self, kind, left_for, now, old_for):
        if self.kind != DELAYED:
            return [] if kind == self.kind else [f"{kind}, expected {self.kind}"]
        due_for = self.due - now
        if kind == READY:
            early = due_for - SURE_SECONDS
            return [] if self.loose or early <= 0 else [f"ready {early:.1f} s too early"]
        if kind != DELAYED:
            return [f"{kind}, expected delayed"]
        latest = due_for + self.slack + old_for
        if not due_for - SURE_SECONDS <= left_for <= latest + SURE_SECONDS:
            return [f"delayed for {left_for} s, expected {due_for:.1f}"]
        return []


class Job:
    """A job, or what was to be one."""

    __slots__ = ("id", "tube", "tag", "size", "ttr", "key", "created", "slack", "state", "maybe",
                 "buries", "known")

    def __init__(self, tube, tag, size, state, ttr=0, key="", buries=False):
        self.id = None
        self.tube, self.tag, self.size, self.ttr, self.key = tube, tag, size, ttr, key
        self.buries = buries  # where a worker fails it
        self.known = False  # the id was given before, when the job was not to be kept
        self.created, self.slack = time.time(), UNANSWERED_SECONDS
        self.state, self.maybe = state, []

    def body(self):
        return body_of(self.tag, self.size)

    def mark(self):
        """The common state of jobs with the same body in the same tube."""
        return self.tube, self.size, body_of(self.tag, min(self.size, 64))

    def latest(self):
        return self.maybe[-1] if self.maybe else self.state

    def differences(self, seen, now, old_for=0):
        """Why what stats-job shows cannot be this job; the answer may be so old."""
        if seen is None:
            return []
        found = []
        if int(seen["ttr"]) != self.ttr:
            found.append(f"ttr {seen['ttr']}, expected {self.ttr}")
        age = now - (self.created or 0)
        youngest = age - self.slack - old_for
        if self.created and not youngest - SURE_SECONDS <= int(seen["age"]) <= age + SURE_SECONDS:
            found.append(f"age {seen['age']}, expected {age:.1f}")
        return found

    def __str__(self):
        asked = "".join(f" or {state.kind}" for state in self.maybe)
        return (f"job {self.id} ({self.tag}, {self.size} bytes, {self.state.kind}{asked}"
                f"{', key ' + self.key if self.key else ''}) of {self.tube}")


class Book:
    """The jobs of those who share tubes. `holders` says which job has a key: one that is not in it
    is not known."""

    def __init__(self, name, ids):
        self.name = name
        self.ids = ids
        self.lock = threading.Lock()
        self.live = {}
        self.asked = {}
        self.holders = {}
        self.pauses = {}  # tube: [Pause] that it may have; the first is the one acknowledged
        self.gone = {}  # id: how it went
        self.accepted = self.ended = 0
        self.burials = 0

    def next_burial(self):
        self.burials += 1
        return self.burials

    def ask(self, job):
        """The job is about to be submitted."""
        with self.lock:
            self.asked.setdefault(job.mark(), []).append(job)

    def withdraw(self, job):
        """It was refused, or has joined another one."""
        with self.lock:
            jobs = self.asked.get(job.mark(), [])
            if job in jobs:
                jobs.remove(job)
                if not jobs:
                    del self.asked[job.mark()]

    def accept(self, job, job_id):
        """It was acknowledged. False where somebody else has the id."""
        self.withdraw(job)
        now = time.time()
        with self.lock:
            if job.id is not None:
                return job.id == job_id  # somebody was faster, and worked on it
            if job_id in self.live or not self.may_have(job, job_id):
                return False
            self.enter(job, job_id)
            job.slack = now - job.created
            job.state = dataclasses.replace(job.state, slack=job.slack)
            return True

    def may_have(self, job, job_id):
        return job.known or self.ids.take(job_id)

    def enter(self, job, job_id):
        """With the lock held."""
        job.id = job_id
        self.live[job_id] = job
        self.accepted += 1

    def adopt(self, job_id, tube, body):
        """The job with an id that no client was told: one that was submitted, or None."""
        with self.lock:
            if job_id in self.live:
                return self.live[job_id]
            jobs = self.asked.get((tube, len(body), body[:64]))
            if not jobs or jobs[0].body() != body or not self.may_have(jobs[0], job_id):
                return None
            job = jobs.pop(0)
            if not jobs:
                del self.asked[job.mark()]
            self.enter(job, job_id)
            return job

    def propose(self, job, state):
        """Somebody is about to ask for that."""
        with self.lock:
            job.maybe.append(state)

    def settle(self, job, state, happened, slack=UNANSWERED_SECONDS):
        """And was answered."""
        with self.lock:
            if state not in job.maybe:
                return
            place = job.maybe.index(state)
            if not happened:
                del job.maybe[place]
                return
            job.maybe = job.maybe[place + 1:]
            if state.slack > UNANSWERED_SECONDS:
                slack = state.slack  # the end of the delay was unknown, and still is
            self.become(job, dataclasses.replace(state, slack=slack))

    def become(self, job, state):
        """That is certain. With the lock held, or while no client works."""
        if state.tube and state.tube != job.tube:
            self.move(job, state.tube)
        mine = (job.tube, job.key)
        if job.key and state.kind in (BURIED, GONE):
            if self.holders.get(mine) is job:
                self.holders[mine] = None
        elif job.key and job.state.kind == BURIED and self.holders.get(mine, job) is None:
            self.holders[mine] = job
        job.state = state
        if state.kind == GONE and job.id in self.live:
            del self.live[job.id]
            self.ended += 1
            if len(self.gone) < GONE_KEPT:
                self.gone[job.id] = str(job)

    def move(self, job, tube):
        """Its key goes with it: no job there has the same one."""
        if job.key and (job.tube, job.key) in self.holders:
            self.holders[tube, job.key] = self.holders.pop((job.tube, job.key))
        job.tube = tube

    def forget_times(self):
        """The clock may have been set. The ends of delays are unknown, except that a delay of known
        length has not grown; so are the ages of jobs and the ends of pauses."""
        for job in self.live.values():
            job.created = None
            job.state = timeless(job.state)
            job.maybe = [timeless(state) for state in job.maybe]
        for jobs in self.asked.values():
            for job in jobs:
                job.created, job.state = None, timeless(job.state)
        self.pauses.clear()

    def quiet(self, *kinds):
        """Jobs of which nothing is asked at present and that have such a state."""
        return [job for job in self.live.values() if not job.maybe and job.state.kind in kinds]

    def buried(self, tube):
        """In their order."""
        return sorted((job for job in self.live.values()
                       if job.tube == tube and job.state.kind == BURIED),
                      key=lambda job: job.state.burial)


def timeless(state):
    """The state where it may have any time left, but no more than its delay."""
    if state.kind != DELAYED:
        return state
    return dataclasses.replace(state, due=time.time(), slack=state.delay or ANY_SECONDS,
                               loose=True)


@dataclasses.dataclass(frozen=True)
class Pause:
    """Of a tube."""

    seconds: int
    since: float
    slack: float = UNANSWERED_SECONDS

    def fits(self, seen, now, old_for):
        """Whether it is the one that stats-tube shows, or over; the answer may be so old."""
        left = self.since + self.seconds - now
        if int(seen["pause"]) == 0:
            return left <= SURE_SECONDS
        return int(seen["pause"]) == self.seconds and (
            left - SURE_SECONDS <= float(seen["pause-time-left"])
            <= left + self.slack + old_for + SURE_SECONDS)


class Ids:
    """Which ids were given, to whomever: none twice, and after a restart only higher ones."""

    def __init__(self):
        self.lock = threading.Lock()
        self.floor = 0  # of earlier rounds
        self.given = set()  # in this round

    def take(self, job_id):
        with self.lock:
            if job_id <= self.floor or job_id in self.given:
                return False
            self.given.add(job_id)
            return True

    def around(self, far):
        """All ids that were given in this round, or may have been: so far below one or above it."""
        last = self.floor
        for job_id in sorted(self.given):
            yield from range(max(last + 1, job_id - far), job_id + far + 1)
            last = job_id + far

    def end_round(self):
        """All that were given so far are behind us."""
        self.floor = max(self.given, default=self.floor)
        self.given = set()
