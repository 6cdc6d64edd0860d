# SPDX-License-Identifier: MIT
"""A tandemd on a free port of the loopback interface, and what it costs the machine."""

import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import time

START_SECONDS = 60
STOP_SECONDS = 60
POLL_SECONDS = 0.01
LISTENING = r" listening address=127\.0\.0\.1:(\d+) protocol="


class Broker:
    """A running broker. `settings` are as for --set; `open_files` is its limit of descriptors."""

    def __init__(self, path, settings, open_files):
        command = [path, "--config", os.devnull, "--set", "beanstalk.listen=127.0.0.1:0",
                   "--set", "gearman.listen=", "--set", "http.listen=",
                   "--set", "admin.listen="]
        for setting in settings:
            command += ["--set", setting]
        # A file, not a pipe, which would fill up: the test does not read all of it.
        with tempfile.NamedTemporaryFile(prefix="tandem-bounds-", delete=False) as log:
            self.log_path = pathlib.Path(log.name)
            self.process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=log,
                preexec_fn=lambda: allow_open_files(open_files))
        self.port = self.port_in_log()

    def port_in_log(self):
        give_up_at = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < give_up_at:
            found = re.search(LISTENING + "beanstalk", self.log())
            if found:
                return int(found.group(1))
            time.sleep(POLL_SECONDS)
        self.process.kill()
        self.process.wait()
        raise RuntimeError(f"tandemd does not start:\n{self.log()}")

    def port_of(self, protocol):
        """That of a protocol that is listened for, too; the first line may be there before it."""
        give_up_at = time.monotonic() + START_SECONDS
        while not (found := re.search(LISTENING + protocol, self.log())):
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"{protocol} is not listened for:\n{self.log()}")
            time.sleep(POLL_SECONDS)
        return int(found.group(1))

    def log(self):
        return self.log_path.read_text(errors="replace")

    def complaints(self, event=""):
        """The lines of the log at levels warn and error, of one event if it is named."""
        wanted = re.compile(r" (warn|error) " + event)
        return [line for line in self.log().splitlines() if wanted.search(line)]

    def resident(self):
        """Resident bytes."""
        return self.status("VmRSS")

    def virtual(self):
        """Bytes of address space."""
        return self.status("VmSize")

    def status(self, key):
        for line in self.proc("status").splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
        raise RuntimeError(f"tandemd has gone:\n{self.log()}")

    def ticks(self):
        """Processor time used so far, in hundredths of a second."""
        # The second word, the program's name, may have spaces in it.
        words = self.proc("stat").rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) * 100 // os.sysconf("SC_CLK_TCK")

    def proc(self, name):
        return pathlib.Path(f"/proc/{self.process.pid}/{name}").read_text()

    def stop(self):
        """Ends it and returns its exit code; a sanitizer that found something makes it not 0."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def forget_log(self):
        self.log_path.unlink()


def allow_open_files(number):
    """Sets the limit of descriptors, by default to the most there may be."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    number = number or hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
