# SPDX-License-Identifier: MIT
"""The reports of the parties of a soak, and the check whether they add up.

Each party writes a line before and after whatever it does, so that its book is true up to the
moment at which it is killed:

    put JOB        about to hand in a job that must be done
    accepted JOB   the server has it
    call JOB       about to hand in a job and to wait for its answer
    answer JOB ..  the answer; "failed" where the job failed
    took JOB       a worker was given the job
    finishing JOB  about to tell that it is done, or has failed
    released JOB   given back on purpose

A take that ended in finishing counts as finished if its worker lived on. If the worker was killed
so soon afterwards that the server may not have heard of it, the take is in doubt.
"""

import collections

# The maximum number of jobs that a worker requests at a time. When it has received this number of
# jobs after it finished one, the server had processed that result before it assigned the last job.
GRABS_AT_A_TIME = 3


class Job:
    def __init__(self):
        self.party = None     # who handed it in
        self.kind = None      # "put" or "call"
        self.accepted = False
        self.answers = []
        self.takes = []


class Take:
    def __init__(self, party):
        self.party = party
        self.end = None       # None, "finishing" or "released"
        self.ended_after = 0  # takes of its party


class Book:
    def __init__(self):
        self.jobs = collections.defaultdict(Job)
        self.takes_of = collections.Counter()
        self.killed = set()   # numbers of parties
        self.problems = []

    def write(self, party, line):
        word, _, rest = line.partition(" ")
        name, _, text = rest.partition(" ")
        job = self.jobs[name]
        if word in ("put", "call"):
            job.kind, job.party = word, party
        elif word == "accepted":
            job.accepted = True
        elif word == "answer":
            job.answers.append(text)
        elif word == "took":
            job.takes.append(Take(party))
            self.takes_of[party] += 1
        elif word in ("finishing", "released"):
            self.end_take(job, party, word, line)
        else:
            self.problems.append(f"party {party} says {line!r}")

    def end_take(self, job, party, word, line):
        open_takes = [take for take in job.takes if take.party == party and take.end is None]
        if not open_takes:
            self.problems.append(f"party {party} says {line!r} of a job that it never took")
            return
        open_takes[-1].end = word
        open_takes[-1].ended_after = self.takes_of[party]

    def balance(self):
        """The problems found, one line each."""
        for name, job in self.jobs.items():
            problem = self.problem_of(name, job)
            if problem:
                self.problems.append(f"{name}: {problem} ({self.story(job)})")
        return self.problems

    def problem_of(self, name, job):
        if job.kind is None:
            return "worked, but no client submitted it"
        finished = [take for take in job.takes if self.is_finished(take)]
        in_doubt = [take for take in job.takes if self.is_in_doubt(take)]
        if len(finished) > 1:
            return "done twice"
        if self.must_be_done(job) and not finished and not in_doubt:
            return "never done"
        if any(take.end is None and take.party not in self.killed for take in job.takes):
            return "taken and never finished"
        if job.kind == "call" and job.party not in self.killed:
            return problem_of_answers(name, job.answers)
        return None

    def is_finished(self, take):
        return take.end == "finishing" and not self.is_in_doubt(take)

    def is_in_doubt(self, take):
        later = self.takes_of[take.party] - take.ended_after
        return (take.end == "finishing" and take.party in self.killed
                and later < GRABS_AT_A_TIME)

    def must_be_done(self, job):
        if job.kind == "call":
            return job.party not in self.killed
        return job.accepted or bool(job.takes)

    def story(self, job):
        takes = ", ".join(
            f"{take.party}{' killed' if take.party in self.killed else ''} {take.end}"
            for take in job.takes)
        return f"{job.kind} by {job.party}, accepted {job.accepted}, answers {job.answers}, {takes}"

    def summary(self):
        jobs = self.jobs.values()
        takes = [take for job in jobs for take in job.takes]
        lost = [take for take in takes if take.end is None]
        doubt = [take for take in takes if self.is_in_doubt(take)]
        again = [job for job in jobs if sum(take.end == "finishing" for take in job.takes) > 1]
        calls = [job for job in jobs if job.kind == "call"]
        return (f"{len(self.jobs)} jobs, {len(calls)} of them with an answer; "
                f"{len(takes)} takes, of which {len(lost)} were lost with their workers and "
                f"{len(doubt)} are in doubt; {len(again)} jobs done more than once for that; "
                f"{len(self.killed)} parties killed")


def problem_of_answers(name, answers):
    """A worker of the other protocol has no answer to give but that the job is done."""
    wanted = ["failed"] if name.endswith("-fail") else ["", f"done {name}"]
    if len(answers) != 1:
        return f"{len(answers)} answers"
    if answers[0] not in wanted:
        return "a wrong answer"
    return None
