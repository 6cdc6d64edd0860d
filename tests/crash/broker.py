# SPDX-License-Identifier: MIT
"""The broker under test, with a directory that outlives it."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import ports
import wire
from retriers import POLICY

START_SECONDS = 60
STOP_SECONDS = 60
LAST_WORDS = 2000  # bytes
COMPLAINT = r"^(?:\S+ (?:warn|error) |.*Sanitizer).*$"
PROTOCOLS = ("beanstalk", "gearman", "http", "admin")


class Failure(Exception):
    """The broker does not start, or does not end."""


class Tandem:
    """tandemd."""

    speaks_all = True
    config = POLICY  # what its file says

    def __init__(self, path):
        self.path = path

    def command(self, ports, directory, fsync, segment_size, disk):
        settings = [f"{name}.listen=127.0.0.1:{ports[name]}" for name in PROTOCOLS]
        settings += [f"journal.dir={directory}", f"journal.fsync={fsync}",
                     f"journal.segment_size={segment_size}",
                     f"gearman.handle_prefix={wire.HANDLE_PREFIX}",
                     f"beanstalk.max_job_size={disk.largest_body}",
                     f"gearman.max_job_size={disk.largest_workload}",
                     f"http.max_body={disk.largest_workload}", *disk.settings]
        config = pathlib.Path(directory).parent / "config"
        config.write_text(self.config, encoding="ascii")
        return [self.path, "--config", str(config)] + [
            word for setting in settings for word in ("--set", setting)]


class Beanstalkd:
    """The reference, which has one protocol and faults of its own."""

    speaks_all = False

    def __init__(self, path):
        self.path = path

    def command(self, ports, directory, fsync, segment_size, disk):
        sync = ["-F"] if fsync == "never" else ["-f", "0" if fsync == "always" else fsync]
        return [self.path, "-l", "127.0.0.1", "-p", str(ports["beanstalk"]), "-b", str(directory),
                "-s", str(segment_size)] + sync


class Broker:
    """Started and ended again and again in one directory."""

    def __init__(self, kind, base, disk):
        self.kind, self.disk = kind, disk
        self.directory = pathlib.Path(base) / "journal"
        self.directory.mkdir()
        self.log = open(pathlib.Path(base) / "log", "ab")
        self.read_to = 0  # of the log
        self.process = None
        self.held = []
        self.ports = {}

    def let_ports_go(self):
        for sock in self.held:
            sock.close()

    def spawn(self, fsync, segment_size):
        self.let_ports_go()
        # Held all the time: no other process may get a port before the broker, or while it is down.
        self.held = [ports.reserve() for _ in PROTOCOLS]
        self.ports = dict(zip(PROTOCOLS, map(ports.number, self.held)))
        self.process = subprocess.Popen(
            self.kind.command(self.ports, self.directory, fsync, segment_size, self.disk),
            stdout=self.log, stderr=self.log, env=self.disk.environment(self.directory))

    def start(self, fsync, segment_size):
        """Returns how many seconds it takes until it answers."""
        begun = time.monotonic()
        self.spawn(fsync, segment_size)
        done = wire.wait_for_answer(self.ports["beanstalk"], begun + START_SECONDS,
                                    lambda: self.process.poll() is None)
        if done is None:
            self.kill()
            raise Failure(f"the broker does not start: {self.last_words()}")
        return done - begun

    def start_and_kill(self, fsync, segment_size, after_for):
        """Killed while it reads what was kept, perhaps."""
        self.spawn(fsync, segment_size)
        try:
            self.process.wait(after_for)
        except subprocess.TimeoutExpired:
            self.kill()
            return
        if not self.refused():
            raise Failure(f"the broker does not start: {self.last_words()}")

    def refused(self):
        """Whether it has ended in good order, for a disk that fails."""
        return self.disk.fails and self.process.returncode == 1

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """As an administrator does."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("the broker does not stop") from None
        if self.kind.speaks_all and code != 0 and not self.refused():
            raise Failure(f"the broker ends with {code}: {self.last_words()}")

    def last_words(self):
        words = pathlib.Path(self.log.name).read_bytes()[-LAST_WORDS:]
        return words.decode(errors="replace")

    def complaints(self):
        """New lines of the log that say that something is wrong. A torn tail is not, after a
        kill, nor that foreground jobs end with it, nor that the disk is slow, which others use too,
        nor that schedules are silent where the test sets the clock back, nor what is said of a disk
        that fails."""
        text = pathlib.Path(self.log.name).read_text(errors="replace")
        new, self.read_to = text[self.read_to:], len(text)
        allowed = {"journal_torn", "jobs_lost", "journal_slow", "schedules_silent",
                   *self.disk.complaints}
        return [line for line in re.findall(COMPLAINT, new, re.MULTILINE)
                if allowed.isdisjoint(line.split())]

    def files(self):
        """The sizes of its files on the disk, set aside or used."""
        return [path.stat().st_blocks * 512 for path in self.directory.iterdir()
                if path.is_file() and path.name != "lock"]

    def cut(self, count):
        """Removes the last `count` bytes written, as if the broker had not synced them, and the
        file that would reveal the loss. Returns the number removed, 0 if the file is short."""
        (self.directory / "about").unlink(missing_ok=True)
        newest = max((path for path in self.directory.iterdir() if path.suffix[1:].isdigit()),
                     key=lambda path: int(path.suffix[1:]))
        data = newest.read_bytes().rstrip(b"\0")
        if len(data) < 2 * count:
            return 0
        with open(newest, "r+b") as file:
            file.seek(len(data) - count)
            file.write(bytes(count))
        return count

    def save(self, to):
        """A copy of the directory, for who looks for the cause."""
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self.directory, to)

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        self.let_ports_go()
        self.log.close()
