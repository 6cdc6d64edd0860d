# SPDX-License-Identifier: MIT
"""Runs tandemctl in tests. TANDEMCTL is its path."""

import os
import subprocess
import unittest

import fake_api

PROGRAM = os.environ["TANDEMCTL"]
DONE, FAILED, USAGE, UNREACHABLE, NOT_FOUND, FORBIDDEN, NOT_NOW, UNCONFIRMED = range(8)
INTERRUPTED = 130


def environment(address=None, **more):
    """An environment without the variables of the user that could matter."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("TANDEM_") and key not in ("NO_COLOR", "http_proxy", "TERM")}
    kept["TERM"] = "xterm"
    kept["TZ"] = "UTC"
    if address:
        kept["TANDEM_ADDRESS"] = address
    return {**kept, **more}


def run(*arguments, address=None, stdin=b"", env=None):
    """Runs it without a terminal and returns the completed process."""
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, timeout=60,
                          env=environment(address, **(env or {})), check=False)


class WithApi(unittest.TestCase):
    """Tests with a fake API. Each test fails if a request does not match the contract."""

    def setUp(self):
        self.api = fake_api.FakeApi()
        self.addCleanup(self.api.close)

    def tearDown(self):
        self.assertEqual(self.api.faults, [])

    def run_ctl(self, *arguments, **more):
        return run(*arguments, address=self.api.address, **more)

    def good(self, *arguments, **more):
        """The output of a run that succeeds without messages."""
        done = self.run_ctl(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (DONE, b""), done)
        return done.stdout.decode()

    def bad(self, code, *arguments, **more):
        """The message of a run that ends with this exit code."""
        done = self.run_ctl(*arguments, **more)
        self.assertEqual(done.returncode, code, done)
        complaint = done.stderr.decode()
        self.assertRegex(complaint, r"^tandemctl: ")
        return complaint
