#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits on the cost of one client to the broker and the other clients, by experiment.

Without areas, all are run: an area is a file test_AREA.py beside this one.
"""

import argparse
import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", dest="pattern", help="only tests whose names have this in them")
    parser.add_argument("areas", nargs="*", help="as descriptors, for test_descriptors.py")
    parser.add_argument("--tandemd", default=str(ROOT / "build/release/server/tandemd"))
    parser.add_argument("--jobs", type=int, default=1000000, help="how many stand for a million")
    parser.add_argument("--seconds", type=float, default=0.5, help="of a measurement, for "
                        "test_latency.py")
    parser.add_argument("--rounds", type=int, default=1, help="of measurements")
    parser.add_argument("--sanitized", action="store_true", help="tandemd is slow, and its size "
                        "says nothing")
    return parser.parse_args()


def load(areas, pattern):
    loader = unittest.defaultTestLoader
    loader.testNamePatterns = [f"*{pattern}*"] if pattern else None
    patterns = [f"test_{area}.py" for area in areas] or ["test_*.py"]
    return unittest.TestSuite(loader.discover(str(HERE), pattern) for pattern in patterns)


def main():
    options = parse_options()
    os.environ.update(TANDEMD=options.tandemd, BOUNDS_JOBS=str(options.jobs),
                      BOUNDS_SECONDS=str(options.seconds), BOUNDS_ROUNDS=str(options.rounds),
                      BOUNDS_SANITIZED="yes" if options.sanitized else "")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(load(options.areas, options.pattern))
    # One test can fail twice: by itself, and when what it started is stopped.
    failed = len({test.id() for test, _ in result.failures + result.errors})
    # Read by tests/tools/count-tests.awk.
    skipped = len(result.skipped)
    print(f"# pass {result.testsRun - failed - skipped}\n# fail {failed}\n# skipped {skipped}")
    return 0 if failed == 0 and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
