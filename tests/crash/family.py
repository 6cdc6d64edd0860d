# SPDX-License-Identifier: MIT
"""A family: one connection of each protocol, used in turn, and tubes that no other client uses.

So the family knows the order of all that happens to its jobs, and what must come of it.
"""

import dataclasses
import time

import wire
from book import BURIED, DELAYED, GONE, IMPOSED, READY, SUBMITTER, Job, Pause, State
from gear_acts import GearActs
from party import Party, Step, fitting
from web_acts import WebActs

# The choice of the next action, of 20: below the first number a put, then a reserve, then something
# about a job that is held, and the rest about any.
LUCK_CALM, LUCK_FULL = (8, 12, 17), (3, 8, 13)
ALL = 10000


class Family(GearActs, WebActs, Party):
    """Works in two tubes, and has a third that is paused, and where jobs are only put aside."""

    def begin(self):
        self.worked = [f"{self.book.name}.a", f"{self.book.name}.b"]
        self.aside = f"{self.book.name}.p"
        self.held = {}
        super().begin()
        self.watch()
        self.acts = [(self.use_beanstalk, 10), (self.kick, 1), (self.pause, 0.5),
                     (self.hang_up, 0.2)]
        if self.trial.speaks_all:
            self.begin_gearman()
            self.acts += self.gearman_acts() + self.http_acts()

    def watch(self):
        for command in [f"watch {tube}" for tube in self.worked] + ["ignore default"]:
            self.bean.ask(command)

    def turn(self):
        acts, weights = zip(*self.acts)
        self.rng.choices(acts, weights)[0]()

    def is_full(self):
        return len(self.book.live) > self.trial.disk.jobs[1]

    def any_tube(self):
        return self.rng.choice([*self.worked, *self.worked, self.aside])

    def hang_up(self):
        """Comes back as somebody else; what it held is ready."""
        self.bean.close()
        self.held.clear()
        self.bean = self.connect(wire.Bean, "beanstalk")
        self.watch()

    #
    # Batches of commands, each about another job
    #

    def use_beanstalk(self):
        tube = self.any_tube()
        steps = [Step(f"use {tube}\r\n".encode(), lambda answer: True)]
        taken = set()
        for _ in range(1 if self.rng.random() < 0.4 else self.rng.randint(2, 16)):
            step = self.some_step(tube, taken)
            if step:
                steps.append(step)
        self.exchange(self.bean, fitting(steps))

    def some_step(self, tube, taken):
        puts, reserves, abouts = LUCK_FULL if self.is_full() else LUCK_CALM
        luck = self.rng.randrange(20)
        if luck < puts:
            return self.put(tube)
        if luck < reserves:
            return Step(b"reserve-with-timeout 0\r\n", self.reserved)
        if luck < abouts and self.held:
            return self.about_held(taken)
        if len(self.book.live) < self.trial.disk.jobs[0]:
            return None
        return self.about_any(taken)

    def put(self, tube):
        pri = self.rng.choice([0, 1, 1000, 1024, 5000, 2**31, 2**32 - 1])
        delay = self.rng.choice([0, 0, 0, 0, 0, 1, 2, 30, 3600])
        ttr = 1 if self.rng.random() < 0.03 else self.rng.randint(60, 300)
        job = Job(tube, self.new_tag(), self.body_size(), place(pri, delay), ttr, buries=True)
        return self.submission(job, wire.put(pri, delay, ttr, job.body()), self.inserted)

    def reserved(self, answer):
        words, body = answer
        if words[0] != "RESERVED":
            return False
        job = self.received(int(words[1]), None, body)
        if job:
            self.held[job.id] = job
            self.check_takable(job)
        return True

    def about_held(self, taken):
        job = self.rng.choice(list(self.held.values()))
        if job.id in taken or job.maybe:
            return None
        taken.add(job.id)
        luck = self.rng.randrange(10)
        if luck < 4:
            return self.delete(job)
        if luck < 7:
            return self.release(job)
        if luck < 9:
            return self.bury(job)
        return Step(f"touch {job.id}\r\n".encode(), lambda answer: True)

    def about_any(self, taken):
        jobs = self.book.quiet(READY, DELAYED, BURIED)
        job = self.rng.choice(jobs) if jobs else None
        if job is None or job.id in taken or job.id in self.held:
            return None
        taken.add(job.id)
        luck = self.rng.randrange(10)
        if luck < (6 if self.is_full() else 4):
            return self.delete(job)
        return self.kick_job(job) if luck < 7 else self.reserve_job(job)

    def step(self, command, word, job, state):
        """A command about a job; `word` answers that it was carried out."""
        def answered(answer):
            if answer[0][0] not in (word, "NOT_FOUND"):
                self.trial.refused(answer[0][0])
            return answer[0][0] == word
        return Step(f"{command}\r\n".encode(), answered, [(job, state)])

    def delete(self, job):
        self.held.pop(job.id, None)
        return self.step(f"delete {job.id}", "DELETED", job, State(GONE))

    def release(self, job):
        del self.held[job.id]
        pri = self.rng.randrange(100000)
        delay = self.rng.choice([0, 0, 1, 3, 300])
        return self.step(f"release {job.id} {pri} {delay}", "RELEASED", job, place(pri, delay, IMPOSED))

    def bury(self, job):
        del self.held[job.id]
        pri = self.rng.randrange(100000)
        return self.step(f"bury {job.id} {pri}", "BURIED", job, self.buried_state(job, pri))

    def buried_state(self, job, pri):
        return State(BURIED, pri, job.state.delay, burial=self.book.next_burial())

    def kick_job(self, job):
        return self.step(f"kick-job {job.id}", "KICKED", job, kicked(job))

    def reserve_job(self, job):
        state = job.state
        after = (kicked(job) if state.kind == BURIED else dataclasses.replace(state, loose=True))

        def answered(answer):
            if answer[0][0] != "RESERVED":
                return False
            self.received(job.id, job.tube, answer[1])
            self.held[job.id] = job
            return True
        return Step(f"reserve-job {job.id}\r\n".encode(), answered, [(job, after)])

    #
    # Operations on a whole tube
    #

    def in_tube(self, tube):
        return [job for job in self.book.live.values() if job.tube == tube]

    def kick(self):
        """A few of the buried jobs, or all delayed ones where none is buried."""
        tube = self.any_tube()
        jobs = self.in_tube(tube)
        if any(job.maybe or job.state.kind == BURIED and not job.state.burial for job in jobs):
            return  # their order is unknown
        bound = self.rng.randint(1, 5)
        kicks = self.book.buried(tube)[:bound]
        expected = len(kicks)
        if not kicks:
            bound, expected = ALL, None
            # One that is loose is ready, or held.
            kicks = [job for job in jobs if job.state.kind == DELAYED and not job.state.loose]
        # Or it is delayed all the same, and kicked in the place of another.
        loose = expected is None and any(job.state.loose for job in jobs)

        def answered(answer):
            words, _ = answer
            if self.trial.disk.fails and (loose or words != ["KICKED", str(len(kicks))]):
                return None  # there was no room for all of them, perhaps
            if words[0] != "KICKED" or expected not in (None, int(words[1])):
                self.complain(f"{words} after a kick of {bound}, expected {expected}")
            return True
        self.exchange(self.bean, [
            Step(f"use {tube}\r\n".encode(), lambda answer: True),
            Step(f"kick {bound}\r\n".encode(), answered, [(job, kicked(job)) for job in kicks])])

    def pause(self):
        tube = self.any_tube()
        seconds = self.rng.randint(60, 600) if tube == self.aside else 1
        pause = Pause(seconds, time.time())

        def answered(answer):
            if answer[0][0] == "PAUSED":
                self.book.pauses[tube] = [
                    dataclasses.replace(pause, slack=time.time() - pause.since)]
            else:
                self.book.pauses[tube].remove(pause)
            return True
        # It may be the first of the tube, and never come about.
        self.book.pauses.setdefault(tube, [Pause(0, pause.since)]).append(pause)
        self.exchange(self.bean, [Step(f"pause-tube {tube} {seconds}\r\n".encode(), answered)])


def place(pri, delay, by=SUBMITTER):
    """Ready or delayed, as it was asked for."""
    if delay:
        return State(DELAYED, pri, delay, due=time.time() + delay, by=by)
    return State(READY, pri, 0)


def kicked(job):
    return State(READY, job.state.pri, job.state.delay)
