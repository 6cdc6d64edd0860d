# SPDX-License-Identifier: MIT
"""Operators: they ask the admin API, and have queues of their own, so that the book is exact.

Each has a worker beside it, which holds jobs while they are changed.
"""

import base64
import dataclasses
import json
import time

import wire
from book import BURIED, DELAYED, GONE, IMPOSED, READY, Job, State
from family import kicked, place
from party import Party, Step, fitting

SOON_SECONDS = 10  # longer than an operation takes
PATIENCE_SECONDS = 2  # then an operation is cancelled
SHARE = 4  # multiple of a family's jobs: operations have several slices
PRIORITIES = (0, 1, 1000, 65536, 2**32 - 1)
DELAYS = (0, 0, 1, 30, 3600)


class Operator(Party):
    """Adds jobs, changes and moves them one by one and many at once."""

    def begin(self):
        self.tubes = [f"{self.book.name}.{letter}" for letter in "abc"]
        self.held = {}
        self.last = 0  # id of an operation
        self.admin = wire.Web(self.trial.port("admin"))
        self.bean = wire.Bean(self.trial.port("beanstalk"))
        for command in [f"watch {tube}" for tube in self.tubes] + ["ignore default"]:
            self.bean.ask(command)

    def turn(self):
        luck = self.rng.random()
        if luck < 0.6:
            self.use_api()
        elif luck < 0.9:
            self.operate()
        elif luck < 0.98:
            self.reserve()
        else:
            self.give_back()

    def is_full(self):
        return len(self.book.live) > SHARE * self.trial.disk.jobs[1]

    def reserve(self):
        def reserved(answer):
            words, body = answer
            if words[0] == "RESERVED":
                job = self.received(int(words[1]), None, body)
                if job:
                    self.check_takable(job)
                    self.held[job.id] = job
            return True
        self.exchange(self.bean, [Step(b"reserve-with-timeout 0\r\n", reserved)] *
                      self.rng.randint(1, 5))

    def give_back(self):
        """All that the worker holds."""
        self.exchange(self.bean, [self.giving_back(job) for job in list(self.held.values())])

    def giving_back(self, job):
        def answered(answer):
            words, _ = answer
            if words[0] == "RELEASED":
                del self.held[job.id]
            elif words[0] == "NOT_FOUND":
                self.complain(f"{job} was not held any more")
            else:
                self.trial.refused(words[0])
            return words[0] == "RELEASED"
        after = dataclasses.replace(place(job.state.pri, 0), tube=job.state.tube)
        return Step(f"release {job.id} {after.pri} 0\r\n".encode(), answered, [(job, after)])

    def may_be_ready(self, job):
        """Whether it was delayed, and is ready now or soon."""
        return job.state.kind == DELAYED and (
            job.state.loose or job.state.due - time.time() < SOON_SECONDS)

    #
    # One job at a time, in batches, each about another one
    #

    def use_api(self):
        steps, taken = [], set()
        for _ in range(1 if self.rng.random() < 0.3 else self.rng.randint(2, 12)):
            jobs = self.book.quiet(READY, DELAYED, BURIED)
            job = self.rng.choice(jobs) if jobs else None
            if not job or (self.rng.random() < 0.5 and not self.is_full()):
                steps.append(self.add())
            elif job.id not in taken:
                taken.add(job.id)
                steps.append(self.rng.choice(self.acts(job))(job))
        self.exchange(self.admin, fitting(steps))

    def acts(self, job):
        acts = [self.delete, self.prioritise]
        if job.id in self.held:
            return acts + [self.bury, self.release, self.move]
        acts += [self.move] * 3
        if job.state.kind != BURIED:
            acts += [self.bury, self.delay]
        if job.state.kind != READY:
            acts.append(self.kick)
        if job.state.kind == DELAYED:
            acts.append(self.release)
        return acts

    def add(self):
        tube = self.rng.choice(self.tubes)
        pri, delay = self.rng.choice(PRIORITIES), self.rng.choice(DELAYS)
        job = Job(tube, self.new_tag(), self.body_size(), place(pri, delay),
                  self.rng.randint(60, 300))
        new = {"queue": tube, "body_base64": base64.b64encode(job.body()).decode(),
               "priority": pri, "delay_seconds": delay, "ttr_seconds": job.ttr}
        if self.rng.random() < 0.3:
            new["key"] = job.key = job.tag  # which no other job has

        def id_in(answer):
            job_id = self.added(answer)
            if job_id is not None and job.key:
                self.book.holders[tube, job.key] = job
            return job_id
        return self.submission(job, wire.api("POST", "jobs", new), id_in)

    def added(self, answer):
        status, _, body = answer
        if status == 201:
            return json.loads(body)["id"]
        self.trial.refused(f"admin {status}")
        return None

    def act(self, method, path, job, after, change=None):
        """One request about one job."""
        def answered(answer):
            status, _, body = answer
            if status == 200:
                shown = json.loads(body)
                if (shown["id"], shown["queue"], shown["priority"]) != (
                        job.id, after.tube or job.tube, after.pri):
                    self.complain(f"{path} of {job} is answered with {shown}")
            elif status == 404 or (status == 409 and job.id not in self.held
                                   and not self.may_be_ready(job)):
                self.complain(f"{path} of {job} is answered with {status} {body}")
            elif status not in (204, 409):
                self.trial.refused(f"admin {status}")
            if status in (200, 204) and path in ("", "/bury", "/release"):
                self.held.pop(job.id, None)
            return status in (200, 204)
        return Step(wire.api(method, f"jobs/{job.id}{path}", change), answered, [(job, after)])

    def delete(self, job):
        return self.act("DELETE", "", job, State(GONE))

    def kick(self, job):
        return self.act("POST", "/kick", job, dataclasses.replace(
            kicked(job), tube=job.state.tube))

    def bury(self, job):
        pri = self.rng.choice(PRIORITIES)
        return self.act("POST", "/bury", job, self.buried(
            dataclasses.replace(job.state, pri=pri), self.book.next_burial()), {"priority": pri})

    @staticmethod
    def buried(state, burial):
        return State(BURIED, state.pri, state.delay, burial=burial, tube=state.tube)

    def prioritise(self, job):
        pri = self.rng.choice(PRIORITIES)
        return self.act("POST", "/change", job, prioritised(job.state, pri),
                        {"priority": pri})

    def delay(self, job):
        delay = self.rng.choice(DELAYS)
        return self.act("POST", "/change", job, delayed(job.state, delay),
                        {"delay_seconds": delay})

    def release(self, job):
        return self.act("POST", "/release", job, dataclasses.replace(
            place(job.state.pri, 0), tube=job.state.tube))

    def move(self, job):
        to = self.rng.choice(self.tubes)
        step = self.act("POST", "/move", job, self.moved(job, to, self.book.next_burial()),
                        {"queue": to})
        if to != job.tube and job.id in self.held:
            about = step.answered

            def answered(answer):
                if answer[0] in (200, 204):
                    self.complain(f"{job} was moved while it was held")
                return about(answer)
            step.answered = answered
        return step

    @staticmethod
    def moved(job, to, burial):
        """As it is, but behind the jobs that are buried there."""
        if to == job.tube:
            return job.state
        return dataclasses.replace(job.state, tube=to, burial=burial)

    #
    # Many at once
    #

    def operate(self):
        tube = self.rng.choice(self.tubes)
        jobs = [job for job in self.book.live.values()
                if job.id not in self.held and tube in (job.tube, job.latest().tube)]
        if any(job.maybe for job in jobs):
            return
        plan = {"queue": tube, "action": self.rng.choice(
            ["move"] * 4 + ["kick", "bury", "bury", "change", "change", "release", "delete"])}
        if self.rng.random() < 0.3 or plan["action"] == "delete":
            plan["filter"] = {"max_bytes": self.rng.choice([50, 100, 1000])}
            jobs = [job for job in jobs if job.size <= plan["filter"]["max_bytes"]]
        self.carry_out(plan, self.changes(plan, jobs))

    def changes(self, plan, jobs):
        """The effect on each job. Adds the remaining choices to the plan."""
        kinds, burial = (READY, DELAYED, BURIED), self.book.next_burial()
        if plan["action"] == "move":
            plan["to"] = self.rng.choice([tube for tube in self.tubes if tube != plan["queue"]])
            burials = {old: self.book.next_burial()
                       for old in sorted({job.state.burial for job in jobs})}
            after = lambda job: self.moved(job, plan["to"], burials[job.state.burial])
        elif plan["action"] == "bury":
            kinds = (READY, DELAYED)
            after = lambda job: self.buried(job.state, burial)
        elif plan["action"] in ("kick", "release"):
            kinds = (BURIED, DELAYED) if plan["action"] == "kick" else (DELAYED,)
            kinds = (self.rng.choice(kinds),)
            plan.setdefault("filter", {})["states"] = list(kinds)
            keep = plan["action"] == "kick"
            after = lambda job: State(READY, job.state.pri, job.state.delay if keep else 0,
                                      tube=job.state.tube)
        elif plan["action"] == "change" and self.rng.random() < 0.5:
            plan["priority"] = self.rng.choice(PRIORITIES)
            after = lambda job: prioritised(job.state, plan["priority"])
        elif plan["action"] == "change":
            plan["delay_seconds"], kinds = self.rng.choice(DELAYS), (READY, DELAYED)
            after = lambda job: delayed(job.state, plan["delay_seconds"])
        else:
            after = lambda job: State(GONE)
        changes = [(job, after(job)) for job in jobs if job.state.kind in kinds]
        # Jobs that already have the state are not changed.
        return [(job, state) for job, state in changes if state is not job.state]

    def carry_out(self, plan, changes):
        """Waits for its end. What came of it is looked up where it is not said."""
        some = self.rng.random() < 0.1
        if some:
            plan["max"] = self.rng.randint(1, 20)
        asked_at = time.time()
        operation = self.begun(plan, changes)
        if not operation:
            return
        self.last = operation["id"]
        operation = self.wait_for(operation)
        all_done = operation["state"] == "done" and not (
            some or operation["skipped"]["refused"]
            or any(self.may_be_ready(job) for job, _ in changes))
        if all_done and operation["touched"] == len(changes):
            self.settle(Step(b"", changes=changes), True, time.time() - asked_at)
            return
        if all_done:
            self.complain(f"{plan}: {operation} touched others than {len(changes)} jobs")
        self.look_up([job for job, _ in changes])

    def begun(self, plan, changes):
        """The operation as it was when it began; None where it was refused."""
        told = []

        def answered(answer):
            status, _, body = answer
            if status == 202:
                told.append(json.loads(body))
                return None
            if status != 404:
                self.trial.refused(f"admin {status}")
            elif changes:  # otherwise the queue has gone with its last job
                self.complain(f"{plan} is answered with {body}: there are {len(changes)} jobs")
            return False
        steps = [Step(wire.api("POST", "operations", plan), answered, changes)]
        if self.rng.random() < 0.1:
            # Cancelled at once, by whomever it was begun.
            cancel = wire.api("DELETE", f"operations/{self.last + 1}")
            steps.append(Step(cancel, lambda answer: True))
        self.exchange(self.admin, steps)
        return told[0] if told else None

    def wait_for(self, operation):
        """As it was when it had ended."""
        cancels = self.rng.random() < 0.1
        until = time.monotonic() + PATIENCE_SECONDS
        while operation["state"] == "running":
            method = "DELETE" if cancels or time.monotonic() > until else "GET"
            self.requests += 1
            self.admin.send(wire.api(method, f"operations/{operation['id']}"))
            status, _, body = self.admin.answer()
            if status != 200:
                raise wire.Odd(f"{method} of {operation} is answered with {status} {body}")
            operation = json.loads(body)
        return operation

    def look_up(self, jobs):
        """Each is as it was before the operation, or as it is after it. What fits both is left
        open until the next restart."""
        asked_at = time.time()
        answers = self.bean.ask_all([f"stats-job {job.id}" for job in jobs])
        for job, (words, text) in zip(jobs, list(answers)):
            seen = wire.figures(text) if words[0] == "OK" else None
            after, now = job.maybe[0], time.time()
            fits = [not state.differences(seen, now, job.tube, now - asked_at)
                    for state in (job.state, after)]
            if not any(fits):
                self.complain(f"after an operation, {job} is {seen}")
            elif not all(fits):
                self.book.settle(job, after, fits[1])


def prioritised(state, pri):
    return state if state.pri == pri else dataclasses.replace(state, pri=pri)


def delayed(state, delay):
    """After a change of the delay. One that is ready keeps the delay that it had."""
    after = dataclasses.replace(place(state.pri, delay, IMPOSED), tube=state.tube)
    if delay:
        return after
    if state.kind == READY:
        return state
    return dataclasses.replace(after, delay=None)  # who knows whether it was ready by then
