# SPDX-License-Identifier: MIT
"""A broker that shares a journal with another one."""

import datetime
import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import ports
import wire
from history import Reign

PROTOCOLS = ("beanstalk", "gearman", "http", "admin")
STOP_SECONDS = 120
ASK_SECONDS = 30
LAST_WORDS = 3000  # bytes
COMPLAINT = r"^(?:\S+ (?:warn|error) |.*(?:Sanitizer|runtime error|assert)).*$"
ALLOWED = {"jobs_lost", "database_away", "database_care", "lease_kept", "proxy_failed",
           "journal_unsure", "journal_failed", "journal_recovered",
           # The database may be away for longer than fail_timeout, or while a broker starts.
           "journal_given_up", "answers_given_up", "journal_slow"}
TAKEN = re.compile(r"^(\S+) \S+ took_over .*?\bepoch=(\d+)", re.MULTILINE)


class Failure(Exception):
    """A broker does not do as it is told."""


class Process:
    """From a start to its end."""

    def __init__(self, command, log):
        self.log = log
        with open(log, "wb") as output:
            self.popen = subprocess.Popen(command, stdout=output, stderr=output)
        self.pid = self.popen.pid
        self.read_to = 0  # of the log

    def news(self):
        text = self.text()
        new, self.read_to = text[self.read_to:], len(text)
        return new

    def text(self):
        return self.log.read_text(errors="replace")

    def reigns(self):
        return [Reign(self.pid, int(epoch), datetime.datetime.fromisoformat(moment).timestamp())
                for moment, epoch in TAKEN.findall(self.text())]


class Member:
    """Started and ended again and again, with ports that stay its own."""

    def __init__(self, name, base, tandemd, settings, largest):
        self.name, self.tandemd, self.settings = name, tandemd, settings
        self.base = pathlib.Path(base)
        self.held = [ports.reserve() for _ in PROTOCOLS]
        self.ports = dict(zip(PROTOCOLS, map(ports.number, self.held)))
        self.processes = []
        self.largest = largest
        self.config = self.base / f"{name}.conf"
        self.config.write_text("", encoding="ascii")

    def command(self, **more):
        settings = {f"{name}.listen": f"127.0.0.1:{self.ports[name]}" for name in PROTOCOLS}
        settings |= {"gearman.handle_prefix": wire.HANDLE_PREFIX,
                     "beanstalk.max_job_size": self.largest, "gearman.max_job_size": 2 * self.largest,
                     "http.max_body": 2 * self.largest, "journal.address": "127.0.0.1"}
        settings |= self.settings | more
        return [self.tandemd, "--config", str(self.config)] + [
            word for name, value in settings.items() for word in ("--set", f"{name}={value}")]

    def start(self, **more):
        log = self.base / f"{self.name}.{len(self.processes) + 1}.log"
        self.processes.append(Process(self.command(**more), log))

    def process(self):
        return self.processes[-1]

    def pid(self):
        return self.process().pid

    def is_alive(self):
        return bool(self.processes) and self.process().popen.poll() is None

    def signal(self, number):
        self.process().popen.send_signal(number)

    def kill(self):
        self.process().popen.kill()
        self.process().popen.wait()

    def stop(self):
        """As an administrator does."""
        self.signal(signal.SIGTERM)
        self.wait_for_end()

    def wait_for_end(self):
        try:
            code = self.process().popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} does not stop: {self.last_words()}") from None
        if code:
            raise Failure(f"{self.name} ends with {code}: {self.last_words()}")

    def ask(self, method, path):
        """The API's status, and its document."""
        asked = http.client.HTTPConnection("127.0.0.1", self.ports["admin"], timeout=ASK_SECONDS)
        try:
            asked.request(method, path, headers={"X-Tandem-Request": "1"})
            answer = asked.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text.startswith(b"{") else text.decode()
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error)
        finally:
            asked.close()

    def reigns(self):
        return [reign for process in self.processes for reign in process.reigns()]

    def complaints(self):
        """New lines of its logs that say that something is wrong. What is said of a database that
        is away is not, nor of a lease that another one has."""
        return [f"{self.name}: {line}" for process in self.processes
                for line in re.findall(COMPLAINT, process.news(), re.MULTILINE)
                if ALLOWED.isdisjoint(line.split())]

    def last_words(self):
        return self.process().text()[-LAST_WORDS:]

    def close(self):
        if self.is_alive():
            self.kill()
        for sock in self.held:
            sock.close()
