# SPDX-License-Identifier: MIT
"""The jobs of a broker as the protocol shows them, and their differences."""

import time

from beans import SECONDS, yaml

COMPARED = "tube", "state", "pri", "delay", "ttr", "reserves", "timeouts", "releases", "buries", \
    "kicks"
LONG = 1000  # seconds that no delay that is short lasts


def gather(client, top):
    """id -> what stats-job tells, with the body and the moments between which it is due, once all
    short delays are over."""
    give_up_at = time.monotonic() + SECONDS
    while True:
        jobs = look(client, top)
        if not any(job["state"] == "delayed" and int(job["time-left"]) < LONG
                   for job in jobs.values()):
            return jobs
        assert time.monotonic() < give_up_at, "a delay does not end"
        time.sleep(0.05)


def look(client, top):
    jobs = {}
    began_at = time.time()
    answers = client.ask_all([b"stats-job %d\r\n" % job for job in range(1, top + 1)])
    ended_at = time.time()
    for job, (_, body) in enumerate(answers, 1):
        if body is not None:
            jobs[job] = yaml(body)
            left = int(jobs[job]["time-left"])
            jobs[job]["due"] = (began_at + left - 1, ended_at + left + 1)
            age = int(jobs[job]["age"])
            jobs[job]["created"] = (began_at - age - 1, ended_at - age + 1)
    bodies = client.ask_all([b"peek %d\r\n" % job for job in jobs])
    for job, (_, body) in zip(jobs, bodies):
        jobs[job]["body"] = body
    return jobs


def drain(client, tubes):
    """(tube, state) -> ids, in the order in which they come."""
    order = {}
    for tube in sorted(tubes):
        client.ask(b"use %s\r\n" % tube.encode())
        for state in "ready", "delayed", "buried":
            ids = order[tube, state] = []
            while (words := client.ask(b"peek-%s\r\n" % state.encode())[0])[0] == b"FOUND":
                ids.append(int(words[1]))
                client.ask(b"delete %s\r\n" % words[1])
    return order


def overlap(a, b):
    return a[0] <= b[1] and b[0] <= a[1]


def was_torn(job):
    """beanstalkd takes a body that it did not get to write for one of zeros."""
    return not job["body"].endswith(b"\r\n")


def compare(theirs, ours):
    """The ids that are left out, or an AssertionError."""
    torn = {job for job in theirs if was_torn(theirs[job])}
    lost = theirs.keys() - ours.keys() - torn
    assert not lost, f"lost: {sorted(lost)}"
    assert not ours.keys() - theirs.keys(), f"too many: {sorted(ours.keys() - theirs.keys())}"
    for job in ours:
        compare_job(job, dict(theirs[job]), ours[job], job in torn)
    return theirs.keys() - ours.keys()


def compare_job(job, theirs, ours, torn):
    # It counts once more, at its start, that a job was buried, and tells no one.
    if theirs["state"] == "buried":
        theirs["buries"] = str(int(theirs["buries"]) - 1)
    for key in COMPARED:
        assert theirs[key] == ours[key], f"job {job}: {key} is {ours[key]}, not {theirs[key]}"
    assert torn or theirs["body"] == ours["body"], f"job {job}: another body"
    assert not was_torn(ours), f"job {job}: no body"
    assert overlap(theirs["created"], ours["created"]), f"job {job}: age"
    if theirs["state"] == "delayed":
        assert overlap(theirs["due"], ours["due"]), f"job {job}: time-left"
