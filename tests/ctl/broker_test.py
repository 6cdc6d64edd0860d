# SPDX-License-Identifier: MIT
"""tandemctl with a real broker and jobs of real clients. TANDEMD is the path of the broker."""

import json
import os
import pathlib
import socket
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "clients"))
import broker
import contract
import program
import terminal


class Beanstalk:
    """A minimal client."""

    def __init__(self, address):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)))
        self.answers = self.socket.makefile("rb")

    def say(self, line, body=None):
        data = line.encode() + b"\r\n"
        self.socket.sendall(data if body is None else data + body + b"\r\n")
        return self.answers.readline().split()

    def put(self, body, priority=1000, delay=0, ttr=60):
        return int(self.say(f"put {priority} {delay} {ttr} {len(body)}", body)[1])

    def reserve(self):
        number, length = map(int, self.say("reserve-with-timeout 30")[1:])
        self.answers.read(length + 2)
        return number

    def close(self):
        self.answers.close()
        self.socket.close()


class WithBroker(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.config = pathlib.Path(folder.name, "tandemd.conf")
        self.config.touch()
        self.broker = broker.Broker(os.environ["TANDEMD"], [
            *broker.loopback(), f"journal.dir={folder.name}/journal"], str(self.config))
        self.addCleanup(self.stop)
        self.address = "http://" + self.broker.addresses["admin"][0]
        self.client = self.connect()
        self.client.say("use mail")
        self.client.say("watch mail")

    def stop(self):
        self.assertEqual(self.broker.stop(), 0)

    def connect(self):
        client = Beanstalk(self.broker.addresses["beanstalk"][0])
        self.addCleanup(client.close)
        return client

    def run_ctl(self, *arguments, **more):
        return program.run(*arguments, address=self.address, **more)

    def good(self, *arguments, **more):
        done = self.run_ctl(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done)
        return done.stdout.decode()

    def json(self, path, *arguments, method="GET", status=200):
        """The output with --json, which must match the contract of that path."""
        value = json.loads(self.good(*arguments, "--json"))
        self.assertTrue(contract.find(method, path)[0], path)
        self.assertEqual(contract.answer_faults(method, path, status, value), [])
        return value


class Looking(WithBroker):
    def test_it_shows_what_clients_have_made(self):
        numbers = [self.client.put(b"hello"), self.client.put(b"\xff\xfe", priority=5),
                   self.client.put(b"later", delay=900)]
        self.assertEqual(self.client.reserve(), numbers[1])
        self.assertIn("1 ready, 1 delayed, 1 reserved, 0 buried", self.good("status"))
        self.assertIn("mail", self.good("queues", "--with", "ready"))
        self.assertRegex(self.good("queue", "mail"), "1 ready, 1 delayed, 1 reserved, 0 buried")
        for state, number in zip(("ready", "reserved", "delayed"), numbers):
            self.assertRegex(self.good("jobs", "mail", "--state", state), rf"\n +{number}  {state}")
        found = self.good("jobs", "mail", "-s", "ready,reserved")
        self.assertRegex(found, rf"\n +{numbers[0]}  ready")
        self.assertRegex(found, rf"\n +{numbers[1]}  reserved")
        self.assertNotIn("  delayed", found)
        self.assertTrue(self.good("show", str(numbers[0])).endswith("\nhello\n"))
        self.assertIn("ff fe", self.good("show", str(numbers[1])))
        self.assertIn("time to run   1m\n", self.good("show", str(numbers[1])))
        self.assertEqual(self.run_ctl("show", str(numbers[1]), "--raw").stdout, b"\xff\xfe")
        self.assertEqual(self.run_ctl("show", "4711").returncode, program.NOT_FOUND)
        self.assertEqual(self.run_ctl("queue", "none").returncode, program.NOT_FOUND)

    def test_it_shows_what_a_job_ended_with(self):
        self.good("policy", "set", "mail", "keep_result=1h")
        number = self.client.put(b"x")
        self.assertEqual(self.client.reserve(), number)
        self.assertEqual(self.client.say(f"complete {number} 4", b"done"), [b"DELETED"])
        self.assertTrue(self.good("result", f"H:here:{number}").endswith("\ndone\n"))
        self.assertEqual(self.good("result", str(number), "--raw"), "done")
        self.assertEqual(self.json(f"/api/v1/jobs/{number}", "result", str(number))["state"],
                         "ended")
        self.assertEqual(self.run_ctl("result", "4711").returncode, program.NOT_FOUND)

    def test_json_is_as_the_contract_says(self):
        number = self.client.put(b"x")
        self.assertEqual(self.json("/api/v1/process", "status")["jobs"]["ready"], 1)
        self.assertEqual(self.json("/api/v1/queues", "queues", "--search", "ai")["matched"], 1)
        self.json("/api/v1/queues/mail", "queue", "mail")
        self.json("/api/v1/queues/mail/jobs", "jobs", "mail")
        self.assertEqual(self.json(f"/api/v1/jobs/{number}", "show", str(number))["queue"], "mail")
        self.assertTrue(self.json("/api/v1/journal", "journal")["enabled"])
        self.json("/api/v1/config", "config")

    def test_all_queues_are_shown_page_by_page(self):
        for number in range(1500):
            self.client.say(f"use q{number:04}")
            self.client.put(b"x")
        lines = self.good("queues", "--name", "q*", "--sort", "-name").splitlines()
        self.assertEqual(len(lines), 1501)
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["q1499", "q1498"])
        found = json.loads(self.good("queues", "--name", "q*", "--json"))
        self.assertEqual((len(found["queues"]), found["next"]), (1500, None))

    def test_the_journal_the_settings_and_metrics_are_shown(self):
        self.client.put(b"x")
        self.assertIn("fsync         always", self.good("journal"))
        self.assertIn("journal.dir", self.good("config", "journal"))
        self.assertRegex(self.good("metrics"), r'\ntandem_jobs\{queue="mail",state="ready"\} 1\n')

    def test_events_tell_of_a_queue(self):
        self.client.put(b"x")
        lines = self.good("events", "--queue", "mail", "--count", "2", "--json").splitlines()
        found = {line["event"]: line["data"] for line in map(json.loads, lines)}
        self.assertEqual(found["queue"]["jobs"]["ready"], 1)
        self.assertEqual(found["process"]["jobs"]["ready"], 1)

    def test_names_of_queues_are_completed(self):
        self.client.put(b"x")
        self.assertEqual(self.good("complete", "3", "tandemctl", "--timeout=60s", "queue", "ma"),
                         "mail\n")


class Changing(WithBroker):
    def count(self, queue, **wanted):
        """Whether the queue has these numbers of jobs by state."""
        jobs = json.loads(self.good("queue", queue, "--json"))["jobs"]
        self.assertEqual({state: jobs[state] for state in wanted}, wanted)

    def state(self, number):
        return json.loads(self.good("show", str(number), "--json"))

    def test_a_job_is_added_and_a_client_gets_it(self):
        number = int(self.good("add", "mail", "-", "--priority", "3", "--ttr", "7",
                               stdin=b"\x00\xffbody"))
        self.assertEqual(self.client.reserve(), number)
        shown = self.state(number)
        self.assertEqual((shown["priority"], shown["ttr_seconds"], shown["body_bytes"]),
                         (3, 7, 6))
        first = self.good("add", "mail", "x", "--unique", "k", "--delay", "1h")
        done = self.run_ctl("add", "mail", "y", "--unique", "k")
        self.assertEqual((done.stdout.decode(), b"live job" in done.stderr), (first, True))

    def test_single_jobs_are_acted_on(self):
        number = self.client.put(b"x")
        self.assertEqual(self.good("bury", str(number), "--new-priority", "9"),
                         "1 job buried.\n")
        self.assertEqual((self.state(number)["state"], self.state(number)["priority"]),
                         ("buried", 9))
        self.good("kick", str(number))
        self.good("change", str(number), "--delay", "10m", "--new-priority", "2")
        self.assertEqual(self.state(number)["state"], "delayed")
        self.good("release", str(number))
        self.assertEqual(self.client.reserve(), number)
        self.good("touch", str(number))
        self.good("release", str(number), "--delay", "1m")
        self.assertEqual(self.state(number)["state"], "delayed")
        self.good("move", str(number), "--to", "other")
        self.assertEqual(self.state(number)["queue"], "other")
        self.assertEqual(self.run_ctl("touch", str(number)).returncode, program.FAILED)
        self.good("delete", str(number), "--yes")
        self.assertEqual(self.run_ctl("kick", str(number)).returncode, program.NOT_FOUND)

    def test_all_that_fit_are_acted_on(self):
        for number in range(300):
            self.client.put(b"body %d" % (number % 3), priority=number)
        self.assertEqual(self.good("bury", "--queue", "mail", "--contains", "body 1", "--yes"),
                         "100 jobs buried.\n")
        self.count("mail", ready=200, buried=100)
        self.assertEqual(self.good("kick", "--queue", "mail", "--state", "buried", "--max", "40"),
                         "40 jobs kicked.\n")
        self.assertEqual(self.good("move", "--queue", "mail", "--state", "ready", "--priority",
                                   "0-99", "--to", "b", "--dry-run").split()[1:],
                         ["jobs", "would", "be", "moved."])
        self.assertRegex(self.good("change", "--queues", "ma*", "--new-priority", "7", "--yes"),
                         r"^\d+ jobs changed")
        self.assertEqual(self.run_ctl("clear", "mail").returncode, program.UNCONFIRMED)
        self.count("mail", ready=240, buried=60)
        self.assertEqual(self.good("clear", "mail", "--yes"), "300 jobs deleted.\n")

    def test_what_workers_hold_is_left_and_said(self):
        self.client.put(b"x")
        self.client.put(b"x")
        self.client.reserve()
        self.assertEqual(self.good("clear", "mail", "--yes"),
                         "1 job deleted; 1 skipped: held by a worker.\n")

    def test_what_does_not_go_together_is_refused_by_the_broker(self):
        self.client.put(b"x")
        done = self.run_ctl("bury", "--queue", "mail", "--new-priority", "1", "--yes")
        self.assertEqual(done.returncode, program.FAILED)
        self.assertIn(b"priority is not allowed with bury", done.stderr)

    def test_operations_are_listed_and_cannot_be_cancelled_afterwards(self):
        self.client.put(b"x")
        self.json("/api/v1/operations", "bury", "--queue", "mail", "--yes", method="POST",
                  status=202)
        self.assertRegex(self.good("operations"), r"\n +1  bury +mail +done +1 ")
        self.assertIn("is done: 1 job", self.good("cancel", "1"))

    def test_queues_are_paused_and_go_on(self):
        self.client.put(b"x")
        self.assertRegex(self.good("pause", "mail", "--for", "1h"),
                         r"^mail is paused for (1h|59m 59s)\.$")
        self.assertEqual(self.client.say("reserve-with-timeout 0"), [b"TIMED_OUT"])
        self.assertIn("paused", self.good("queues", "--with", "paused"))
        self.assertEqual(self.good("resume", "mail"), "mail is not paused.\n")
        self.assertEqual(self.good("pause", "--queues", "ma*"), "1 queue paused.\n")
        self.assertEqual(self.good("resume", "--queues", "*"), "1 queue resumed.\n")
        self.assertEqual(self.client.reserve(), 1)

    def test_a_queue_is_kept_and_limited(self):
        self.good("keep", "box")
        self.assertIn("even when it is empty", self.good("queue", "box"))
        self.good("limit", "box", "--normal", "2")
        self.assertIn("high 0, normal 2, low 0", self.good("queue", "box"))
        self.good("forget", "box")
        self.assertEqual(self.run_ctl("queue", "box").returncode, program.NOT_FOUND)

    def test_a_person_is_asked_and_may_look_on(self):
        self.client.put(b"x")
        top = terminal.Terminal("top", address=self.address)
        self.addCleanup(top.close)
        top.expect(r"\nmail +1 ")
        top.type("q")
        self.assertEqual((top.end(), top.is_restored(), top.picture.wrapped), (0, True, 0))
        asked = terminal.Terminal("clear", "mail", address=self.address)
        self.addCleanup(asked.close)
        asked.expect(r"Delete 1 job of mail\? \[y/N\]")
        asked.type("y\n")
        self.assertEqual(asked.end(), 0)
        self.assertIn("1 job deleted.", asked.picture.text())

    def test_the_broker_drains_and_reads_its_settings(self):
        self.good("drain")
        self.assertEqual(self.client.say("put 0 0 60 1", b"x"), [b"DRAINING"])
        self.assertEqual(self.run_ctl("add", "mail", "x").returncode, program.NOT_NOW)
        self.assertIn("draining", self.good("status"))
        self.good("drain", "off")
        self.client.put(b"x")
        self.assertIn("read again", self.good("reload"))
        self.config.write_text("nonsense\n")
        self.assertEqual(self.run_ctl("reload").returncode, program.FAILED)

    def test_health_is_quiet_and_follows_the_broker(self):
        self.assertEqual(self.good("health"), "")
        self.assertEqual(self.good("health", "--ready"), "")
        self.good("drain", "on")
        self.assertEqual(self.good("health"), "")
        done = self.run_ctl("health", "--ready")
        self.assertEqual((done.returncode, done.stdout), (program.NOT_NOW, b""))
        self.assertEqual(done.stderr, b"tandemctl: not ready: the broker drains: it refuses new "
                                      b"jobs\n")
        self.good("drain", "off")
        self.assertEqual(self.good("health", "--ready"), "")

    def test_health_reads_no_token(self):
        done = self.run_ctl("health", "--token-file", "/nowhere", env={"TANDEM_TOKEN": "\x01"})
        self.assertEqual((done.returncode, done.stderr), (program.DONE, b""))

    def test_a_drain_waits_for_workers_and_says_what_they_hold(self):
        number = self.client.put(b"x")
        self.client.reserve()
        done = self.run_ctl("drain", "on", "--wait", "--for", "0")
        self.assertEqual(done.returncode, program.NOT_NOW)
        self.assertIn(b"workers still hold 1 job\n", done.stderr)
        self.client.say(f"delete {number}")
        self.assertIn("Draining", self.good("drain", "on", "--wait"))
        for wrong in (("on", "--for", "1"), ("off", "--wait")):
            self.assertEqual(self.run_ctl("drain", *wrong).returncode, program.USAGE)

    def test_connections_and_workers_are_shown_with_what_they_hold(self):
        number = self.client.put(b"x")
        self.client.reserve()
        found = self.json("/api/v1/workers", "workers", "mail")["connections"]
        self.assertEqual([one["jobs_held"] for one in found], [1])
        self.assertIn(f"{number} of mail, for ", self.good("connections", str(found[0]["id"])))
        self.assertRegex(self.good("connections", "--protocol", "beanstalk"),
                         r"\n +\d+  beanstalk  127\.0\.0\.1:\d+ +- .* worker, producer +2 +1 ")


if __name__ == "__main__":
    unittest.main(verbosity=2)
