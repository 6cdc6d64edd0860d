#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says the same to Debian's reference server and to tandemd and compares what they answer.

PROTOCOL is beanstalk, gearman or http, gearmand's plug-in. Without a choice, all that there is for
it is run.
"""

import argparse
import concurrent.futures
import importlib
import pathlib
import random
import shutil
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]

from beanstalk.random_sessions import run_random
from shared.actors import Mismatch
from shared.bytestream import Silence
from shared.scripts import scripts_in

REFERENCES = {"beanstalk": "beanstalkd", "gearman": "gearmand", "http": "gearmand"}
# Scripts mostly wait, so more of them run at once than there are processors.
SCRIPTS_AT_ONCE = 6


class Protocol:
    """The parts of a comparison that are a protocol's own."""

    def __init__(self, name):
        self.allowed = importlib.import_module(f"{name}.allowed")
        self.start_peers = importlib.import_module(f"{name}.peers").Peers
        self.stage_type = importlib.import_module(f"{name}.pair").Stage
        self.scripts = scripts_in(importlib.import_module(f"{name}.scripts"))


def run_script(options, protocol, script):
    """None and the number of exchanges, or what went wrong."""
    name, function, server_options = script
    try:
        with protocol.start_peers(options, **server_options) as peers:
            stage = protocol.stage_type(peers)
            function(stage)
            stage.finish()
            return None, stage.exchanges
    except (Mismatch, Silence) as problem:
        return f"{name}: {problem}", 0


def run_scripts(options, protocol):
    scripts = [script for script in protocol.scripts if options.only in script[0]]
    with concurrent.futures.ThreadPoolExecutor(SCRIPTS_AT_ONCE) as pool:
        results = list(pool.map(lambda script: run_script(options, protocol, script), scripts))
    problems = [problem for problem, _ in results if problem]
    if not options.only:
        problems += [f"allowed difference that no script meets: {why}"
                     for why in protocol.allowed.REPLIES if why not in protocol.allowed.used]
    for problem in problems:
        print(problem)
    failed = sum(1 for problem, _ in results if problem)
    exchanges = sum(count for _, count in results)
    print(f"scripts: {len(results)}, exchanges: {exchanges}, mismatches: {len(problems)}")
    # Read by tests/tools/count-tests.awk.
    print(f"# pass {len(results) - failed}\n# fail {len(problems)}")
    return not problems


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("protocol", choices=sorted(REFERENCES))
    parser.add_argument("--tandemd", required=True, help="our broker")
    parser.add_argument("--reference", help="Debian's beanstalkd or gearmand")
    parser.add_argument("--scripts", action="store_true", help="the scripts alone")
    parser.add_argument("--only", default="", help="scripts with this in their name")
    parser.add_argument("--random", action="store_true",
                        help="the random sessions alone, which only beanstalk has")
    parser.add_argument("--steps", type=int, default=100000, help="of the random sessions")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32),
                        help="of the random sessions")
    options = parser.parse_args()
    options.reference = options.reference or REFERENCES[options.protocol]
    if not shutil.which(options.reference):
        parser.exit(2, f"{options.reference} is not installed, so there is nothing to compare "
                       "with: name another with --reference, or install Debian's package\n")
    if options.random and options.protocol != "beanstalk":
        parser.error("--random is for beanstalk")
    return options


def main():
    options = parse_options()
    all_parts = options.scripts == options.random
    good = True
    began_at = time.monotonic()
    if all_parts or options.scripts:
        good = run_scripts(options, Protocol(options.protocol))
    if options.protocol == "beanstalk" and (all_parts or options.random):
        good = run_random(options) and good
    print(f"compat: {'passed' if good else 'FAILED'} in {time.monotonic() - began_at:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
