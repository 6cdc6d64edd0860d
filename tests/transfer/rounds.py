#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Imports binlogs of a beanstalkd that was killed under a random load. The jobs in tandemd are
compared with the jobs in a beanstalkd that replays a copy of the binlogs."""

import argparse
import contextlib
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time

import books
import load
from beans import Reference, Tandem


def play(args, seed, directory):
    """How many jobs there were, how many of them were torn, and how many files."""
    rng = random.Random(seed)
    old, copy = directory / "old", directory / "copy"
    top = load.generate(rng, args.reference, old, args.requests)
    shutil.copytree(old, copy)
    before = {path.name: path.read_bytes() for path in old.iterdir()}
    # One that was killed just as it made a file leaves zeros there, and records in the next ones.
    blank = any(not any(data) for name, data in before.items() if name != "lock")
    with contextlib.ExitStack() as stack:
        theirs = Reference(args.reference, copy)
        stack.callback(theirs.kill)
        ours = Tandem(args.tandemd, directory / "journal", old, "journal.fsync=never",
                      options=["--repair"] if blank else [])
        stack.callback(ours.kill)
        again = {int(found[1]) for line in ours.broker.log()
                 if (found := re.search("import_torn.*a change of job ([0-9]+)", line))}
        jobs, left_out = compare(theirs.client(), ours.client(), top, again)
        assert {path.name: path.read_bytes() for path in old.iterdir()} == before, "files changed"
        assert ours.stop() == 0, "tandemd did not end well"
    return jobs, left_out, len(before) - 1


def compare(theirs, ours, top, again):
    """`again`: jobs whose last record may be a deletion or torn; both are right then."""
    jobs, shown = ({job: of[job] for job in of if job not in again}
                   for of in (books.gather(theirs, top), books.gather(ours, top)))
    left_out = books.compare(jobs, shown)
    tubes = {job["tube"] for job in jobs.values()}
    expected, order = ({place: [job for job in ids if job not in left_out | again]
                        for place, ids in books.drain(client, tubes).items()}
                       for client in (theirs, ours))
    for place, ids in expected.items():
        assert order[place] == ids, f"{place}: {order[place]}, not {ids}"
    theirs.close()
    ours.close()
    return len(jobs), len(left_out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tandemd", required=True)
    parser.add_argument("--reference", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=600)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1000000)
    args = parser.parse_args()
    jobs = left_out = files = 0
    for seed in range(args.seed, args.seed + args.rounds):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="tandem-import-"))
        try:
            result = play(args, seed, directory)
        except Exception as error:
            print(f"--seed {seed} --rounds 1: {error}; its files: {directory}", file=sys.stderr)
            raise
        shutil.rmtree(directory)
        jobs, left_out, files = (sum(pair) for pair in zip((jobs, left_out, files), result))
    print(f"{args.rounds} rounds from seed {args.seed}: {files} files, {jobs} jobs, {left_out} left "
          "out as torn")


if __name__ == "__main__":
    main()
