# SPDX-License-Identifier: MIT
"""The disk and the clock that the broker has: good ones, or such that fail and step by chance.

The latter are made by a library that the broker is started with: faults.c beside this file.
"""

import os
import pathlib
import time

from book import LARGEST

ONE_IN = (10, 30, 100)  # calls, of which one fails
STEPS = (0, 60, -60, 86400, -86400)  # seconds
# The log events of a disk that fails.
COMPLAINTS = ("journal_failed", "journal_recovered", "journal_full", "journal_care_failed",
              "journal_kept", "journal_unsure", "journal_incomplete", "not_started")


class Good:
    """Nothing fails, and the clock goes on."""

    fails = False
    steps = False
    segment_sizes = (262144, 262144, 1048576, 8388608)
    largest_workload = 131072  # small ones, so that segments may be small
    largest_body = LARGEST
    jobs = (150, 350)  # of a family: below, it takes fewer away, above, more
    # Never given up: ends and burials that are carried out then may be lost.
    settings = ("journal.fail_timeout=86400",)
    complaints = ()

    def begin_round(self):
        """A process will be started."""

    def rage(self):
        """From now on things fail."""

    def rest(self):
        """And no longer."""

    def wall(self):
        """The time that the broker's clock shows."""
        return time.time()

    def environment(self, _directory):
        """Of the broker; None: ours."""
        return None


class Faults(Good):
    """Small segments, and jobs that stay for long, so that there is much to go wrong with."""

    fails = True
    segment_sizes = (24576, 32768, 65536, 262144)
    largest_workload = 8192
    largest_body = 4000
    jobs = (30, 70)
    complaints = COMPLAINTS

    def __init__(self, library, base, rng, steps):
        self.library, self.rng, self.steps = str(pathlib.Path(library).resolve()), rng, steps
        self.switch = pathlib.Path(base) / "faults"
        self.one_in, self.clock = ONE_IN[-1], 0

    def begin_round(self):
        self.one_in = self.rng.choice(ONE_IN)
        self.clock = self.rng.choice(STEPS) if self.steps else 0
        if self.rng.random() < 0.5:
            self.rage()

    def rage(self):
        self.switch.touch()

    def rest(self):
        self.switch.unlink(missing_ok=True)

    def wall(self):
        return time.time() + self.clock

    def environment(self, directory):
        # The sanitizer would rather be the first library.
        options = "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")
        return {**os.environ, "LD_PRELOAD": self.library, "ASAN_OPTIONS": options,
                "FAULTS_DIR": str(directory), "FAULTS_SWITCH": str(self.switch),
                "FAULTS_ONE_IN": str(self.one_in), "FAULTS_CLOCK": str(self.clock),
                "FAULTS_SEED": str(self.rng.randrange(1 << 32))}
