#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says the same to Debian's beanstalkd 1.12 and to tandemd and compares what they answer.

Without a choice, both the scripts and the random sessions are run.
"""

import argparse
import concurrent.futures
import pathlib
import random
import shutil
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import allowed
from pair import Mismatch, Stage
from peers import Peers, Silence
from random_sessions import run_random
from scripts import all_scripts

# Scripts mostly wait, so more of them run at once than there are processors.
SCRIPTS_AT_ONCE = 6


def run_script(options, script):
    """None and the number of exchanges, or what went wrong."""
    name, function, server_options = script
    try:
        with Peers(options, **server_options) as peers:
            stage = Stage(peers)
            function(stage)
            stage.finish()
            return None, stage.exchanges
    except (Mismatch, Silence) as problem:
        return f"{name}: {problem}", 0


def run_scripts(options):
    scripts = [script for script in all_scripts() if options.only in script[0]]
    with concurrent.futures.ThreadPoolExecutor(SCRIPTS_AT_ONCE) as pool:
        results = list(pool.map(lambda script: run_script(options, script), scripts))
    problems = [problem for problem, _ in results if problem]
    if not options.only:
        problems += [f"allowed difference that no script meets: {why}"
                     for why in allowed.REPLIES if why not in allowed.used]
    for problem in problems:
        print(problem)
    failed = sum(1 for problem, _ in results if problem)
    exchanges = sum(count for _, count in results)
    print(f"scripts: {len(results)}, exchanges: {exchanges}, mismatches: {len(problems)}")
    # Read by scripts/count-tests.awk.
    print(f"# pass {len(results) - failed}\n# fail {len(problems)}")
    return not problems


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tandemd", required=True, help="our broker")
    parser.add_argument("--beanstalkd", default="beanstalkd", help="the reference")
    parser.add_argument("--scripts", action="store_true", help="the scripts alone")
    parser.add_argument("--random", action="store_true", help="the random sessions alone")
    parser.add_argument("--only", default="", help="scripts with this in their name")
    parser.add_argument("--steps", type=int, default=100000, help="of the random sessions")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32),
                        help="of the random sessions")
    options = parser.parse_args()
    if not shutil.which(options.beanstalkd):
        parser.exit(2, f"{options.beanstalkd} is not installed, so there is nothing to compare "
                       "with: name another with --beanstalkd, or install Debian's package\n")
    return options


def main():
    options = parse_options()
    both = options.scripts == options.random
    good = True
    began_at = time.monotonic()
    if both or options.scripts:
        good = run_scripts(options)
    if both or options.random:
        good = run_random(options) and good
    print(f"compat: {'passed' if good else 'FAILED'} in {time.monotonic() - began_at:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
