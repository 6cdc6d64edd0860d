# SPDX-License-Identifier: MIT
"""The actions of a family by the Gearman protocol."""

import dataclasses
import time

import wire
from book import BURIED, CALENDAR, DELAYED, GONE, IMPOSED, READY, SURE_SECONDS, Job, State
from party import BARRIER, Step, fitting

KEYS = 30
UNKNOWN = object()


class GearActs:
    """Background jobs, with a unique and without, and a worker; foreground jobs beside them."""

    def gearman_acts(self):
        return [(self.work, 4), (self.submit, 4), (self.promote, 0.5), (self.watch_one, 1),
                (self.make_noise, 0.5), (self.leave_as_worker, 0.1)]

    def begin_gearman(self):
        self.assigned = {}
        self.gear.send(b"".join(wire.request(wire.CAN_DO, tube.encode()) for tube in self.worked))
        # Foreground jobs have a connection of their own: what is told of them comes at any time.
        self.noise = self.connect(wire.Gear, "gearman")

    def leave_as_worker(self):
        """Its job is ready again, or was done: the family does not know."""
        self.gear.close()
        self.gear = self.connect(wire.Gear, "gearman")
        self.unsure = []
        self.noise.close()
        self.begin_gearman()

    #
    # Workers
    #

    def work(self):
        steps = [self.report(job) for job in list(self.assigned.values())
                 if self.rng.random() < 0.8 and not job.maybe]
        # Where jobs are failed, the order in which they are buried must be known at once.
        if any(job.state.kind == BURIED or state.kind == BURIED
               for step in steps for job, state in step.changes) or self.rng.random() < 0.7:
            steps.append(self.background(self.rng.choice(self.worked), ""))
        steps += [Step(wire.request(wire.GRAB_JOB), self.grabbed)
                  for _ in range(self.rng.randint(0, 6))]
        self.exchange(self.gear, steps)
        self.noise.poll()
        self.hear()

    def report(self, job):
        """Complete or failed: neither is answered."""
        del self.assigned[job.id]
        handle = wire.handle(job.id).encode()
        if self.rng.random() < 0.8:
            return Step(wire.request(wire.WORK_COMPLETE, handle, b"done"), silent=True,
                        changes=[(job, State(GONE))])
        after = self.buried_state(job, job.state.pri) if job.buries else State(GONE)
        return Step(wire.request(wire.WORK_FAIL, handle), silent=True, changes=[(job, after)])

    def grabbed(self, answer):
        kind, arguments = answer
        if kind != wire.JOB_ASSIGN:
            return False
        handle, tube, body = arguments
        job = self.received(wire.id_of(handle.decode()), tube.decode(), body)
        if job:
            self.check_takable(job)
            self.assigned[job.id] = job
        return True

    def hear(self):
        """Those who wait for a job that is kept are told of its end when that is safe."""
        for kind, handle in self.noise.told:
            job = self.book.live.get(wire.id_of(handle))
            if job and kind == wire.WORK_COMPLETE:
                for state in [state for state in job.maybe if state.kind == GONE]:
                    self.book.settle(job, state, True)
        self.noise.told.clear()

    #
    # Submissions
    #

    def submit(self):
        tube, taken, steps = self.any_tube(), set(), []
        for _ in range(self.rng.randint(1, 2 if self.is_full() else 8)):
            key = self.some_key() if self.rng.random() < 0.4 else ""
            if not key or key not in taken:
                taken.add(key)
                steps.append(self.background(tube, key))
        self.exchange(self.gear, fitting(steps))

    def some_key(self):
        return f"key-{self.rng.randrange(KEYS)}"

    def background(self, tube, key):
        band = self.rng.choice(list(wire.BACKGROUND))
        if self.rng.random() < 0.15:
            band, seconds = "normal", self.rng.randint(1, 40)
            state = State(DELAYED, wire.PRIORITIES[band], due=int(time.time()) + seconds,
                          by=CALENDAR)
            moment = int(self.trial.disk.wall()) + seconds
            extra, kind = [b"%d" % moment], wire.SUBMIT_JOB_EPOCH
        else:
            state = State(READY, wire.PRIORITIES[band])
            extra, kind = [], wire.BACKGROUND[band]
        job = Job(tube, self.new_tag(), self.body_size(), state, key=key)
        data = wire.request(kind, tube.encode(), key.encode(), *extra, job.body())
        return self.keyed(job, data, self.created)

    def keyed(self, job, data, id_in):
        """A submission that joins the job that has its key."""
        if not job.key:
            return self.submission(job, data, id_in)
        mine = (job.tube, job.key)
        holder = self.book.holders.get(mine, UNKNOWN)
        if holder not in (None, UNKNOWN) and holder.maybe:
            holder = UNKNOWN  # it may be gone
        after = (joined(holder, job.state, self.trial.disk.steps)
                 if holder not in (None, UNKNOWN) else None)

        def answered(answer):
            job_id = id_in(answer)
            if job_id is None:
                self.book.withdraw(job)
                return False
            if holder not in (None, UNKNOWN) and job_id != holder.id:
                self.complain(f"a submission got id {job_id} and did not join {holder}")
            return self.joined_or_not(job, job_id, holder)
        return Step(data, answered, [(holder, after)] if after else [], submits=job)

    def joined_or_not(self, job, job_id, holder):
        """Enters the answer to a submission with a key."""
        other = self.book.live.get(job_id)
        if other is None:
            if not self.book.accept(job, job_id):
                self.complain(f"id {job_id} of {job.tag} was given before")
            self.book.holders[job.tube, job.key] = job
            return BARRIER
        self.book.withdraw(job)
        if other.key != job.key or holder is None:
            self.complain(f"{job.tag} with {job.key} joined {other}")
        if other is not holder:
            self.book.holders[job.tube, job.key] = other
            after = joined(other, job.state, self.trial.disk.steps)
            if after:
                self.book.propose(other, after)
        return True

    def watch_one(self):
        """Waits for a job that others have handed in."""
        jobs = [job for job in self.book.quiet(READY)
                if job.key and job.id not in self.held and job.id not in self.assigned
                and self.book.holders.get((job.tube, job.key)) is job]
        if not jobs:
            return
        job = self.rng.choice(jobs)

        def answered(answer):
            job_id = self.created(answer)
            if job_id != job.id:
                self.complain(f"a request to wait got id {job_id} and did not join {job}")
            return True
        self.exchange(self.noise, [Step(wire.request(
            wire.SUBMIT_JOB, job.tube.encode(), job.key.encode(), b"waits"), answered)])

    def make_noise(self):
        """Foreground jobs without a worker."""
        steps = [self.foreground(f"{self.book.name}.n", "", b"noise", [])
                 for _ in range(self.rng.randint(1, 10))]
        self.exchange(self.noise, steps)

    def foreground(self, tube, key, body, ids):
        def answered(answer):
            job_id = self.created(answer)
            ids.append(job_id)
            if job_id is not None and not self.book.ids.take(job_id):
                self.complain(f"id {job_id} of a foreground job was given before")
            return True
        return Step(wire.request(wire.SUBMIT_JOB, tube.encode(), key.encode(), body), answered)

    def promote(self):
        """A foreground job that somebody wants to be kept."""
        job = Job(self.aside, self.new_tag(), self.body_size(),
                  State(READY, wire.PRIORITIES["normal"]))
        job.key, job.known = job.tag, True
        ids = []
        self.exchange(self.noise, [self.foreground(job.tube, job.key, job.body(), ids)])
        if ids[0] is None:
            return

        def answered(answer):
            job_id = self.created(answer)
            if job_id is None:
                self.book.withdraw(job)
                return False
            if job_id != ids[0]:
                self.complain(f"a duplicate of foreground job {ids[0]} got id {job_id}")
            self.book.accept(job, job_id)
            self.book.holders[job.tube, job.key] = job
            return BARRIER
        self.exchange(self.gear, [Step(
            wire.request(wire.BACKGROUND["normal"], job.tube.encode(), job.key.encode(), b"keep"),
            answered, submits=job)])


def joined(job, wanted, clock_steps):
    """The state after a submission that wants `wanted` joined the job; None: as it was."""
    state = job.state
    if state.kind != DELAYED or (state.loose and not clock_steps) or state.by == IMPOSED:
        return None
    if state.by == CALENDAR and wanted.kind == READY:
        return None
    if state.by is None:
        return dataclasses.replace(state, loose=True)
    if clock_steps and (state.loose or state.due - SURE_SECONDS <= time.time()):
        # When it would have started, or whether it has, is unknown: no record says so, and if the
        # clock goes back, so does the delay.
        due = min(state.due, wanted.due or time.time())
        return dataclasses.replace(state, delay=None, due=due, slack=state.slack + state.due - due,
                                   loose=True)
    if wanted.kind == READY:
        return State(READY, state.pri)
    if wanted.due < state.due:
        return dataclasses.replace(wanted, pri=state.pri, delay=None)
    return None
