# SPDX-License-Identifier: MIT
"""A tandemd of the test's own, on ports that the system chooses."""

import os
import re
import subprocess
import sys
import threading
import time

PROTOCOLS = "beanstalk", "gearman", "http", "admin"
LISTENING = re.compile(r" listening address=(\S+) protocol=(\w+)")
STARTED = " started "
SECONDS = 60  # only what hangs takes so long


def loopback(prefix="", protocols=PROTOCOLS):
    """Settings: each protocol listens there; with the prefix `tls:`, by TLS."""
    return [f"{name}.listen={prefix}127.0.0.1:0" for name in protocols]


class Broker:
    """`settings` are as for --set. `addresses` are lists by protocol, as the log has them but for
    the prefix `tls:`."""

    def __init__(self, tandemd, settings, config=os.devnull, options=(), environment=None):
        command = [tandemd, "--config", config, *options]
        for setting in settings:
            command += ["--set", setting]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                                        errors="replace", env=environment)
        self.addresses = {name: [] for name in PROTOCOLS}
        self.lines = []
        self.more = threading.Condition()
        self.reader = threading.Thread(target=self.read_log)
        self.reader.start()
        if not self.expect(STARTED):
            self.reader.join()
            raise RuntimeError("tandemd ended before it listened")

    def read_log(self):
        """Passes it on, too."""
        for line in self.process.stderr:
            sys.stderr.write(line)
            sys.stderr.flush()
            with self.more:
                self.lines.append(line)
                if found := LISTENING.search(line):
                    self.addresses[found[2]].append(found[1].removeprefix("tls:"))
                self.more.notify_all()
        with self.more:
            self.lines.append(None)
            self.more.notify_all()

    def log(self):
        with self.more:
            return [line for line in self.lines if line]

    def expect(self, pattern, after=0):
        """Waits for a line of the log, from a number of lines on, and returns what matches; None
        if tandemd ends before."""
        pattern = re.compile(pattern)
        give_up_at = time.monotonic() + SECONDS
        with self.more:
            while True:
                for line in self.lines[after:]:
                    if line is None:
                        return None
                    if found := pattern.search(line):
                        return found
                after = len(self.lines)
                if not self.more.wait(give_up_at - time.monotonic()):
                    raise AssertionError(f"the log does not say {pattern.pattern}")

    def stop(self):
        """Ends it; returns its exit code, which a sanitizer that found something makes not 0."""
        self.process.terminate()
        ended = self.process.wait()
        self.reader.join()
        self.process.stderr.close()
        return ended
