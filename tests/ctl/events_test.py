# SPDX-License-Identifier: MIT
"""tandemctl events: a stream of changes."""

import json
import os
import select
import signal
import subprocess
import threading
import unittest

import program
import samples

EVENTS = "/api/v1/events"


class Events(program.WithApi):
    def setUp(self):
        super().setUp()
        self.held = threading.Event()
        self.addCleanup(self.held.set)

    def send(self, *events, stay=False):
        """Answers with a stream of these events, in pieces of three bytes."""
        raw = b": hello\n\n" + b"".join(
            b"event: %s\ndata: %s\n\n" % (name.encode(), json.dumps(data).encode())
            for name, data in events)

        def pour(handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Connection", "close")
            handler.end_headers()
            handler.close_connection = True
            for at in range(0, len(raw), 3):
                handler.wfile.write(raw[at:at + 3])
            handler.wfile.flush()
            if stay:
                self.held.wait(60)
        self.api.overrides["GET", EVENTS] = (999, pour)

    def both(self):
        queues = self.api.queues
        return (("process", samples.process(queues)), ("queue", samples.detail(queues[0])),
                ("queues", {"queues": queues[:2], "total": 3, "matched": 3, "next": None}),
                ("gone", {"name": "old\x1b", "path": "old%1B"}),
                ("operation", samples.operation(4, {"action": "kick", "queue": "mail"})))

    def test_each_event_is_said_in_words(self):
        self.send(*self.both(), stay=True)
        lines = self.good("events", "--count", "5").splitlines()
        self.assertRegex(lines[0], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  process    15 ready, ")
        self.assertRegex(lines[1], r"  queue      mail: 12 ready, 0 delayed, 1 reserved, 2 buried")
        self.assertRegex(lines[4], r"^    idle: 0 ready")
        self.assertTrue(lines[5].endswith(r"  gone       old\x1b"))
        self.assertRegex(lines[6], r"  operation  4: kick in mail done, ")

    def test_as_json_each_event_is_a_line(self):
        self.send(*self.both(), stay=True)
        lines = self.good("events", "--count=5", "--json").splitlines()
        self.assertEqual([tuple(json.loads(line).values()) for line in lines], list(self.both()))

    def test_the_name_of_an_event_is_a_json_string(self):
        for name in ('quo"ted', "back\\slash", "bell\a", "größe"):
            with self.subTest(name=name):
                self.send((name, {}), stay=True)
                line = self.good("events", "--count=1", "--json")
                self.assertEqual(json.loads(line), {"event": name, "data": {}})

    def test_what_is_wanted_is_asked_for(self):
        self.send(("process", samples.process([])), stay=True)
        for arguments, query in (([], {}), (["--queue", "a b"], {"queue": "a b"}),
                                 (["--search", "m", "--sort", "-ready"],
                                  {"queues": "200", "search": "m", "sort": "-ready"})):
            self.good("events", "--count", "1", *arguments)
            self.assertEqual(self.api.requests[-1].query, query)

    def test_it_goes_on_until_a_signal_ends_it(self):
        self.send(*self.both(), stay=True)
        ctl = subprocess.Popen([program.PROGRAM, "events", "--json", "--timeout", "8s"],
                               env=program.environment(self.api.address), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        for _ in self.both():
            self.assertTrue(ctl.stdout.readline())
        # Longer than --timeout.
        self.assertEqual(select.select([ctl.stdout], [], [], 8.5)[0], [])
        os.kill(ctl.pid, signal.SIGINT)
        self.assertEqual(ctl.communicate(timeout=60), (b"", b""))
        self.assertEqual(ctl.returncode, program.INTERRUPTED)

    def test_a_broker_that_stops_is_said(self):
        self.send(self.both()[0], ("bye", {}))
        self.assertIn("has stopped", self.bad(program.UNREACHABLE, "events"))
        self.send(self.both()[0])
        self.assertIn("closed the connection", self.bad(program.UNREACHABLE, "events"))

    def test_a_refusal_is_one(self):
        self.api.overrides["GET", EVENTS] = (403, {"error": "not for you"})
        self.assertIn("not for you", self.bad(program.FORBIDDEN, "events", "--queue", "x"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
