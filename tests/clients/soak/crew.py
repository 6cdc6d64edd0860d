# SPDX-License-Identifier: MIT
"""The parties of a soak: processes that are started, listened to, killed and replaced."""

import os
import selectors
import subprocess
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = {"node": "party.js", "php": "party.php", "perl": "party.pl"}
# The parties: language, role, number.
ROSTER = [
    ("node", "bean-producer", 1), ("php", "bean-producer", 1),
    ("node", "bean-worker", 1), ("php", "bean-worker", 1),
    ("node", "gearman-client", 1), ("php", "gearman-client", 1), ("perl", "gearman-client", 1),
    ("node", "gearman-worker", 1), ("php", "gearman-worker", 2), ("perl", "gearman-worker", 2),
]


class Party:
    def __init__(self, number, language, role, process):
        self.number = number
        self.language = language
        self.role = role
        self.process = process
        self.rest = b""
        self.holds_a_job = False

    def is_worker(self):
        return self.role.endswith("-worker")

    def __str__(self):
        return f"{self.number} ({self.language} {self.role})"


class Crew:
    """Stops are asked for by a file, which producers and clients look for between two jobs."""

    def __init__(self, book, stop_file, choice):
        self.book = book
        self.stop_file = stop_file
        self.choice = choice
        self.parties = []
        self.count = 0
        self.selector = selectors.DefaultSelector()

    def start_all(self):
        for language, role, count in ROSTER:
            for _ in range(count):
                self.start(language, role)

    def start(self, language, role):
        self.count += 1
        seed = self.choice.randrange(1 << 30)
        command = [language, os.path.join(FOLDER, SCRIPTS[language]), role, str(self.count),
                   str(seed), self.stop_file]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        party = Party(self.count, language, role, process)
        self.parties.append(party)
        self.selector.register(process.stdout, selectors.EVENT_READ, party)
        return party

    def listen(self, seconds):
        """Writes down what was said, for at most so long, until something was said."""
        for key, _ in self.selector.select(max(0, seconds)):
            self.hear(key.data)

    def hear(self, party):
        data = os.read(party.process.stdout.fileno(), 65536)
        *lines, party.rest = (party.rest + data).split(b"\n")
        for line in lines:
            self.book.write(party.number, line.decode())
            party.holds_a_job = line.startswith(b"took ")
        if not data:
            self.gone(party)

    def gone(self, party):
        self.selector.unregister(party.process.stdout)
        party.process.stdout.close()
        code = party.process.wait()
        self.parties.remove(party)
        if party.number not in self.book.killed and (code != 0 or party.is_worker()):
            self.book.problems.append(f"party {party} ended with {code}")

    def replace_one(self, deadline):
        """Kills one and starts another in its place. A worker dies with a job in its hands."""
        party = self.choice.choice(self.parties)
        while party.is_worker() and not party.holds_a_job and time.monotonic() < deadline:
            self.listen(deadline - time.monotonic())
        if party in self.parties:
            self.kill(party)
        self.start(party.language, party.role)

    def kill(self, party):
        party.process.kill()
        self.book.killed.add(party.number)
        while party in self.parties:
            self.hear(party)

    def producers(self):
        return [party for party in self.parties if not party.is_worker()]

    def dismiss(self):
        """Ends the workers. They no longer hold jobs, so none is lost."""
        for party in list(self.parties):
            party.process.kill()
            party.process.wait()
            self.selector.unregister(party.process.stdout)
            party.process.stdout.close()
        self.parties.clear()


