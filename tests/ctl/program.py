# SPDX-License-Identifier: MIT
"""tandemctl, run by tests; TANDEMCTL names it."""

import os
import subprocess
import unittest

import fake_api

PROGRAM = os.environ["TANDEMCTL"]
DONE, FAILED, USAGE, UNREACHABLE, NOT_FOUND, FORBIDDEN, NOT_NOW, UNCONFIRMED = range(8)
INTERRUPTED = 130


def environment(address=None, **more):
    """Nothing of that of who runs the tests that could matter."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("TANDEM_") and key not in ("NO_COLOR", "http_proxy", "TERM")}
    kept["TERM"] = "xterm"
    kept["TZ"] = "UTC"
    if address:
        kept["TANDEM_ADDRESS"] = address
    return {**kept, **more}


def run(*arguments, address=None, stdin=b"", env=None):
    """What it says, without a terminal."""
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, timeout=60,
                          env=environment(address, **(env or {})), check=False)


class WithApi(unittest.TestCase):
    """Tests that have a broker's API of their own, whose contract must have been kept."""

    def setUp(self):
        self.api = fake_api.FakeApi()
        self.addCleanup(self.api.close)

    def tearDown(self):
        self.assertEqual(self.api.faults, [])

    def run_ctl(self, *arguments, **more):
        return run(*arguments, address=self.api.address, **more)

    def good(self, *arguments, **more):
        """Its output, where it ends well and complains of nothing."""
        done = self.run_ctl(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (DONE, b""), done)
        return done.stdout.decode()

    def bad(self, code, *arguments, **more):
        """Its complaint, where it ends with that code."""
        done = self.run_ctl(*arguments, **more)
        self.assertEqual(done.returncode, code, done)
        complaint = done.stderr.decode()
        self.assertRegex(complaint, r"^tandemctl: ")
        return complaint
