#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A tandemd with jobs of all protocols answers every path and method of its API as the document
says, whether it is asked well or not."""

import json
import os
import socket
import struct
import tempfile
import time
import unittest
import urllib.request

from admin_contract import CHANGES, SECONDS, Contract, Operator, objects_in, read_document
from broker import Broker, loopback

API = "/api/v1"
QUEUES, QUEUE, JOBS_OF = f"{API}/queues", f"{API}/queues/{{name}}", f"{API}/queues/{{name}}/jobs"
JOBS, JOB = f"{API}/jobs", f"{API}/jobs/{{id}}"
OPERATIONS, OPERATION = f"{API}/operations", f"{API}/operations/{{id}}"
CONNECTIONS, CONNECTION = f"{API}/connections", f"{API}/connections/{{id}}"
WORKERS = f"{API}/workers"
SCHEDULES, SCHEDULE = f"{API}/schedules", f"{API}/schedules/{{name}}"
IMPORT, EXPORT, DELETE = f"{API}/import", f"{API}/export", f"{API}/delete"
HANDOVER = f"{API}/cluster/handover"
POLICIES, POLICY = f"{API}/policies", f"{API}/policies/{{glob}}"
# The bodies for paths that need more than {}.
DOCUMENTS = {f"{JOB}/move": {"queue": "x"}, f"{JOB}/change": {"priority": 1}, f"{QUEUE}/pause": {"seconds": 1},
             f"{QUEUE}/limits": {"high": 1, "normal": 1, "low": 1}, JOBS: {"queue": "x"},
             OPERATIONS: {"action": "kick", "queue": "nowhere"}, SCHEDULE: {"cron": "@daily", "queue": "x"}, f"{API}/drain": {"draining": False},
             f"{API}/log-commands": {"log_commands": ""}}
# An id that does not exist.
MISSING_ID = 999999999
# A name with characters that a URL must escape.
FUNCTION = "bilder/größe 1%"


class Lines:
    """A beanstalk client."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), SECONDS)
        self.file = self.socket.makefile("rb")

    def ask(self, line):
        self.socket.sendall(line.encode() + b"\r\n")
        return self.file.readline().decode().rstrip()

    def put(self, tube, body="body", delay=0, pri=10):
        self.ask(f"use {tube}")
        return int(self.ask(f"put {pri} {delay} 600 {len(body)}\r\n{body}").split()[1])

    def reserve(self, tube):
        self.ask(f"watch {tube}")
        self.ask("ignore default")
        head = self.ask("reserve-with-timeout 10")
        self.file.readline()
        return int(head.split()[1])

    def close(self):
        self.file.close()
        self.socket.close()


def packet(kind, *args):
    data = b"\0".join(args)
    return b"\0REQ" + struct.pack(">II", kind, len(data)) + data


class Packets:
    """A Gearman client."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), SECONDS)
        self.file = self.socket.makefile("rb")

    def send(self, kind, *args):
        self.socket.sendall(packet(kind, *args))

    def hear(self):
        head = self.file.read(12)
        kind, length = struct.unpack(">II", head[4:])
        return kind, self.file.read(length)

    def close(self):
        self.file.close()
        self.socket.close()


CAN_DO, GRAB_JOB, JOB_ASSIGN, WORK_STATUS = 1, 9, 11, 12
JOB_CREATED, SUBMIT_JOB, SUBMIT_JOB_BG, SET_CLIENT_ID = 8, 7, 18, 22


class World(unittest.TestCase):
    """A broker with a journal, and jobs in every state."""

    RULES = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        config = os.path.join(cls.folder.name, "tandemd.conf")
        with open(config, "w", encoding="ascii") as file:
            file.write(f"[journal]\ndir = {cls.folder.name}/journal\n"
                       "[queue bean/*]\nmax_jobs = 1000\nbackoff = fixed\nkeep_result = 1h\n"
                       "[queue pushed]\npush = https://localhost:9/secret\n"
                       "push_secret = whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        settings = loopback()
        if cls.RULES:
            path = os.path.join(cls.folder.name, "access")
            with open(path, "w", encoding="ascii") as file:
                file.write(cls.RULES)
            settings.append(f"server.access_file={path}")
        cls.broker = Broker(os.environ["TANDEMD"], settings, config)
        cls.addClassCleanup(cls.end)
        cls.contract = Contract(read_document())

    @classmethod
    def end(cls):
        ended = cls.broker.stop()
        assert ended == 0, f"tandemd ended with {ended}"

    @classmethod
    def connect(cls, client, protocol):
        made = client(cls.broker.addresses[protocol][0])
        cls.addClassCleanup(made.close)
        return made

    @classmethod
    def operator(cls, headers=()):
        made = Operator(cls.contract, cls.broker.addresses["admin"][0], headers)
        cls.addClassCleanup(made.close)
        return made


class Document(unittest.TestCase):
    def test_no_object_may_have_more_than_its_members(self):
        for place, schema in objects_in(read_document()):
            with self.subTest(place=place):
                if "properties" not in schema and place.endswith("openapi.json/get/responses/"
                                                                  "200/content/application/json/"
                                                                  "schema"):
                    continue # a document of another kind
                self.assertIn("additionalProperties", schema)
                self.assertIsNot(schema["additionalProperties"], True)

    def test_every_change_needs_the_header_that_no_form_can_send(self):
        contract = Contract(read_document())
        for path, method in contract.visited:
            if method in CHANGES:
                operation = contract.document["paths"][path][method]
                names = [contract.resolve(each)["name"] for each in operation["parameters"]]
                self.assertIn("X-Tandem-Request", names, f"{method} {path}")


class Answers(World):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jobs = {}
        bean = cls.connect(Lines, "beanstalk")
        holder = cls.connect(Lines, "beanstalk")
        for state in "ready", "buried", "held":
            cls.jobs[state] = bean.put(f"bean/{state}")
        cls.jobs["delayed"] = bean.put("bean/ready", "later", delay=600)
        cls.jobs["bytes"] = bean.put("bean/ready", "\0\1\2")
        for _ in range(30):
            bean.put("many")
        holder.reserve("bean/held")
        holder.ask(f"bury {holder.reserve('bean/buried')} 10")
        cls.begin_gearman()
        cls.begin_http()

    @classmethod
    def begin_gearman(cls):
        worker, client = (cls.connect(Packets, "gearman") for _ in range(2))
        worker.send(SET_CLIENT_ID, b"clerk")
        worker.send(CAN_DO, b"resize")
        client.send(SUBMIT_JOB, b"resize", b"key", b"foreground")
        assert client.hear()[0] == JOB_CREATED
        client.send(SUBMIT_JOB_BG, b"resize", b"", b"background")
        assert client.hear()[0] == JOB_CREATED
        client.send(SUBMIT_JOB_BG, FUNCTION.encode(), b"", b"background")
        assert client.hear()[0] == JOB_CREATED
        worker.send(GRAB_JOB)
        kind, said = worker.hear()
        assert kind == JOB_ASSIGN
        worker.send(WORK_STATUS, said.split(b"\0")[0], b"1", b"3")
        assert client.hear()[0] == WORK_STATUS

    @classmethod
    def begin_http(cls):
        request = urllib.request.Request(
            f"http://{cls.broker.addresses['http'][0]}/pages", b"by http", method="POST",
            headers={"X-Gearman-Background": "true", "Content-Type": "text/plain"})
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            assert answer.status in (200, 201, 202)

    def setUp(self):
        self.asker = self.operator()
        self.ask = self.asker.ask

    def ask_ok(self, path, *args, **query):
        return self.ask("get", path, 200, args, query)

    def test_01_process_and_what_it_shows(self):
        self.ask_ok(f"{API}/process")
        process = self.ask_ok(f"{API}/process")
        by_name = {each["name"]: each for each in process["protocols"]}
        self.assertEqual(set(by_name), {"beanstalk", "gearman", "http", "admin"})
        for name, each in by_name.items():
            self.assertEqual(each["listening"], self.broker.addresses[name])
            self.assertGreater(each["accepted"], 0)
            self.assertGreater(each["commands"], 0)
            self.assertGreater(each["received_bytes"], 0)
            self.assertGreater(each["sent_bytes"], 0)
        self.assertEqual(by_name["beanstalk"]["connections"], 2)
        self.assertGreater(process["loop"]["turns"], 10)
        self.assertGreater(process["memory"]["resident_bytes"], process["memory"]["used_bytes"] / 2)
        self.assertEqual(sum(process["memory"]["kinds"].values()), process["memory"]["used_bytes"])
        self.assertGreater(process["descriptors"]["open"], 10)
        self.assertEqual(process["jobs"]["reserved"], 2)
        self.assertEqual(process["jobs"]["buried"], 1)
        journal = self.ask_ok(f"{API}/journal")
        self.assertTrue(journal["enabled"])
        self.assertGreater(journal["batches"], 0)
        self.assertGreater(journal["syncs"]["count"], 0)
        self.assertEqual(sum(each["count"] for each in journal["syncs"]["buckets"]),
                         journal["syncs"]["count"])
        self.assertGreater(journal["free_bytes"], 0)

    def test_02_a_journal_of_files_is_not_shared(self):
        cluster = self.ask_ok(f"{API}/cluster")
        self.assertEqual(cluster["role"], "alone")
        self.assertEqual(cluster["members"], [])
        self.ask("post", HANDOVER, 409)

    def test_02_configuration_is_what_check_config_prints(self):
        config = self.ask_ok(f"{API}/config")
        self.assertEqual(config["file"], f"{self.folder.name}/tandemd.conf")
        found = {(each["section"], each["key"]): each for each in config["settings"]}
        self.assertEqual(found["journal", "dir"]["value"], f"{self.folder.name}/journal")
        self.assertEqual(found["journal", "dir"]["default"], "")
        self.assertEqual(found["admin", "listen"]["value"], "127.0.0.1:0")
        self.assertTrue(found["server", "log_level"]["live"])
        section, other = config["sections"]
        self.assertEqual((section["kind"], section["name"], section["settings"]),
                         ("queue", "bean/*", {"max_jobs": 1000, "backoff": "fixed", "keep_result": "1h"}))
        self.assertEqual(section["origin"], f"{self.folder.name}/tandemd.conf:3")
        self.assertEqual((other["name"], other["settings"]), ("pushed", {}))

    def test_02_endpoints_are_shown_by_themselves_and_with_their_queues(self):
        endpoint, = self.ask_ok(f"{API}/push")["endpoints"]
        self.assertEqual(endpoint["section"], "pushed")
        resume = f"{API}/push/{{section}}/resume"
        self.assertEqual(self.ask("post", resume, 200, ["pushed"])["section"], "pushed")
        self.ask("post", resume, 404, ["nowhere"])
        self.assertEqual(endpoint["endpoint"], "https://localhost:9")
        self.assertEqual(endpoint["state"], "open")
        self.connect(Lines, "beanstalk").ask("use pushed")
        self.assertEqual(self.ask_ok(QUEUE, "pushed")["push"], endpoint)
        self.assertIsNone(self.ask_ok(QUEUE, "many")["push"])

    def test_03_queues_and_their_jobs(self):
        names = {each["name"] for each in self.ask_ok(QUEUES)["queues"]}
        self.assertLessEqual({"bean/ready", "many", "resize", "pages", FUNCTION}, names)
        for column in "name", "-ready", "oldest_ready_seconds", "-waiting":
            self.ask_ok(QUEUES, sort=column, limit=2)
        self.ask_ok(QUEUES, search="bean", **{"with": "ready"}, name="b*")
        page = self.ask_ok(QUEUES, limit=2)
        self.assertEqual(len(self.ask_ok(QUEUES, limit=2, cursor=page["next"])["queues"]), 2)
        self.assertEqual(self.ask_ok(QUEUE, "bean/ready")["policy"]["glob"], "bean/*")
        self.assertIsNone(self.ask_ok(QUEUE, "resize")["policy"])
        self.assertEqual(self.ask_ok(QUEUE, FUNCTION)["jobs"]["ready"], 1)
        self.assertEqual(self.ask_ok(JOBS_OF, FUNCTION)["jobs"][0]["queue"], FUNCTION)
        self.assertEqual(self.ask_ok(QUEUE, "resize")["wait"]["count"], 1)
        for state in "ready", "delayed", "reserved", "buried":
            self.ask_ok(JOBS_OF, "bean/ready", state=state)
        page = self.ask_ok(JOBS_OF, "many", limit=20)
        self.assertEqual(len(page["jobs"]), 20)
        page = self.ask_ok(JOBS_OF, "many", limit=20, cursor=page["next"])
        self.assertEqual(len(page["jobs"]), 10)
        for query in ({"limit": 0}, {"sort": "colour"}, {"with": "ice"}, {"cursor": "?"},
                      {"nonsense": 1}):
            self.ask("get", QUEUES, 400, query=query)
        self.ask("get", QUEUE, 404, ["nowhere"])
        self.ask("get", QUEUE, 400, ["many"], {"nonsense": 1})
        self.ask("get", JOBS_OF, 404, ["nowhere"])
        self.ask("get", JOBS_OF, 400, ["many"], {"state": "lost"})

    def test_04_one_job(self):
        for job in self.jobs.values():
            self.ask_ok(JOB, job)
        self.assertIsNone(self.ask_ok(JOB, self.jobs["ready"], body=0)["body"])
        self.assertEqual(self.ask_ok(f"{JOB}/body", self.jobs["bytes"]), b"\0\1\2")
        for path in JOB, f"{JOB}/body":
            self.ask("get", path, 404, [MISSING_ID])
            self.ask("get", path, 400, [self.jobs["ready"]], {"nonsense": 1})

    def test_04_what_a_job_ended_with(self):
        worker = self.connect(Lines, "beanstalk")
        job = worker.put("bean/done")
        self.assertIsNone(self.ask_ok(JOB, job)["result"])
        worker.reserve("bean/done")
        self.assertEqual(worker.ask(f"complete {job} 3\r\n\0ok"), "DELETED")
        ended = self.ask_ok(JOB, job)
        self.assertEqual((ended["state"], ended["queue"]), ("ended", "bean/done"))
        self.assertEqual((ended["result"]["end"], ended["result"]["bytes"]), ("complete", 3))
        self.assertEqual(ended["data"],
                         {"encoding": "base64", "data": "AG9r", "truncated": False})
        self.assertIsNone(self.ask_ok(JOB, job, body=0)["data"])
        self.assertEqual(self.ask_ok(f"{JOB}/result", job), b"\0ok")
        self.ask("get", f"{JOB}/result", 404, [self.jobs["ready"]])
        self.ask("get", f"{JOB}/result", 400, [job], {"nonsense": 1})
        self.ask("delete", JOB, 404, [job])
        clients = self.ask_ok(CONNECTIONS, protocol="beanstalk")["total"]
        worker.close()
        # The next requests count them.
        give_up_at = time.monotonic() + SECONDS
        while self.ask_ok(CONNECTIONS, protocol="beanstalk")["total"] == clients:
            self.assertLess(time.monotonic(), give_up_at)

    def test_05_connections_and_workers(self):
        connections = self.ask_ok(CONNECTIONS)["connections"]
        numbers = [each["id"] for each in connections]
        self.assertEqual(numbers, sorted(numbers))
        self.assertEqual({each["protocol"] for each in connections},
                         {"beanstalk", "gearman", "admin"})
        page = self.ask_ok(CONNECTIONS, limit=1)
        self.assertEqual(page["connections"][0]["id"], numbers[0])
        page = self.ask_ok(CONNECTIONS, limit=1, cursor=page["next"])
        self.assertEqual(page["connections"][0]["id"], numbers[1])
        clerk, = (each for each in connections if each["client_id"] == "clerk")
        self.assertEqual(self.ask_ok(CONNECTIONS, protocol="gearman")["total"], 2)
        detail = self.ask_ok(CONNECTION, clerk["id"])
        self.assertEqual(detail["queues"], ["resize"])
        held, = detail["jobs"]
        self.assertEqual(held["holder"], clerk["id"])
        self.assertEqual(held["progress"], {"numerator": 1, "denominator": 3})
        host, port = clerk["peer"].rsplit(":", 1)
        self.assertEqual(host, "127.0.0.1")
        self.assertGreater(int(port), 0)
        self.assertEqual(len(self.ask_ok(WORKERS)["connections"]), 2)
        worker, = self.ask_ok(WORKERS, queue="resize")["connections"]
        self.assertEqual(worker["id"], clerk["id"])
        self.ask("get", CONNECTION, 404, [MISSING_ID])
        self.ask("get", CONNECTIONS, 400, query={"protocol": "gopher"})
        self.ask("get", WORKERS, 400, query={"limit": "many"})

    def test_06_a_job_is_added_and_changed(self):
        added = self.ask("post", JOBS, 201, document={
            "queue": "made", "body_base64": "AAEC", "priority": 7, "ttr_seconds": 5, "key": "k",
            "max_attempts": 2, "on_failure": "bury"})
        again = self.ask("post", JOBS, 201, document={"queue": "made", "body": "x", "key": "k"})
        self.assertEqual((again["id"], again["joined"]), (added["id"], True))
        job = [added["id"]]
        self.ask("post", f"{JOB}/change", 200, job, document={"priority": 9, "delay_seconds": 60})
        self.ask("post", f"{JOB}/kick", 200, job)
        self.ask("post", f"{JOB}/bury", 200, job, document={"priority": 3})
        self.ask("post", f"{JOB}/kick", 200, job)
        self.ask("post", f"{JOB}/move", 200, job, document={"queue": "moved"})
        held = [self.jobs["held"]]
        self.ask("post", f"{JOB}/touch", 200, held)
        self.ask("post", f"{JOB}/release", 200, held, document={"delay_seconds": 600})
        self.ask("post", f"{JOB}/touch", 409, job)
        self.ask("post", f"{JOB}/release", 409, job, document={})
        self.ask("post", f"{JOB}/kick", 409, job)
        self.ask("delete", JOB, 204, job)
        self.ask("delete", JOB, 404, job)

    def test_06_jobs_are_taken_out_and_brought_in_as_they_are(self):
        lines = [json.loads(line) for line in self.ask_ok(EXPORT, queue="bean/*").splitlines()]
        self.assertEqual(lines.pop(), {"next": None})
        self.assertEqual({line["id"] for line in lines}, set(self.jobs.values()))
        for line in lines:
            self.contract.check_component("JobLine", line)
            line["queue"] = "brought/" + line["queue"]
        text = "\n".join(map(json.dumps, [*lines, {"colour": 1}]))
        said = self.ask("post", IMPORT, 200, body=text.encode())
        self.assertEqual(said["counts"],
                         {"imported": len(lines), "joined": 0, "repeated": 0, "refused": 1})
        self.assertEqual(said["lines"][-1]["status"], 400)
        for before, after in zip(lines, said["lines"]):
            shown = self.ask_ok(JOB, after["id"])
            self.assertEqual((shown["queue"], shown["state"], shown["priority"]),
                             (before["queue"], before["state"], before["priority"]))
            self.assertEqual((shown["body"], shown["counts"]), (before["body"], before["counts"]))
        self.ask("post", OPERATIONS, 202, document={"action": "delete", "queues": "brought/*"})
        page = self.ask_ok(EXPORT, queue="many", limit=20).splitlines()
        self.assertEqual(len(page), 21)
        rest = self.ask_ok(EXPORT, queue="many", cursor=json.loads(page[-1])["next"]).splitlines()
        self.assertEqual(len({*page[:-1], *rest[:-1]}), 30)
        for query in {"queue": "["}, {"limit": 0}, {"cursor": "1.x"}:
            self.ask("get", EXPORT, 400, query=query)

    def test_06_jobs_are_moved_under_the_name_of_a_source(self):
        source = {"source": "other"}
        line = {"id": 7, "queue": "moved/in", "body": "once"}
        for counts in {"imported": 1, "repeated": 0}, {"imported": 0, "repeated": 1}:
            said = self.ask("post", IMPORT, 200, query=source, body=json.dumps(line).encode())
            self.assertEqual(said["counts"], {"joined": 0, "refused": 0, **counts})
        moved = said["lines"][0]["id"]
        given = self.ask("post", EXPORT, 200, body=str(moved).encode())
        if isinstance(given, (bytes, str)):
            given = json.loads(given.splitlines()[0])
        for outcome in "deleted", "missing":
            said = self.ask("post", DELETE, 200,
                            document={"id": moved, "version": given["version"]})
            self.assertEqual(said["lines"][0]["outcome"], outcome)
        self.ask("post", f"{IMPORT}/end", 200, query=source)
        self.ask("delete", IMPORT, 200, query=source)
        self.ask("post", DELETE, 400, query={"colour": 1}, body=b"")
        self.ask("post", EXPORT, 400, query={"colour": 1}, body=b"")
        self.ask("post", f"{IMPORT}/end", 400)
        self.ask("delete", IMPORT, 400)

    def test_07_a_queue_is_kept_paused_limited_and_let_go(self):
        self.ask("put", QUEUE, 200, ["kept/ü"])
        self.ask("post", f"{QUEUE}/pause", 200, ["kept/ü"], document={"seconds": 60})
        self.assertTrue(self.ask_ok(QUEUE, "kept/ü")["paused"])
        self.ask("post", f"{QUEUE}/resume", 200, ["kept/ü"])
        self.ask("put", f"{QUEUE}/limits", 200, ["kept/ü"],
                 document={"high": 1, "normal": 2, "low": 3})
        self.ask("delete", QUEUE, 204, ["kept/ü"])
        self.ask("delete", QUEUE, 404, ["nowhere"])
        # A queue that is not there yet is paused for what comes.
        self.assertTrue(self.ask("post", f"{QUEUE}/pause", 200, ["later"],
                                 document={"seconds": 60})["paused"])
        self.ask("post", f"{QUEUE}/resume", 204, ["later"])
        self.ask("get", QUEUE, 404, ["later"])
        self.ask("post", f"{QUEUE}/resume", 404, ["nowhere"])

    def test_07_a_schedule_is_made_run_and_taken_back(self):
        nightly = {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "queue": "reports",
                   "body": "now", "priority": 5, "ttr_seconds": 60, "missed": "once",
                   "overlap": "skip"}
        made = self.ask("put", SCHEDULE, 200, ["nightly"], document=nightly)
        self.assertEqual({key: made[key] for key in nightly}, nightly)
        self.assertGreater(made["next_at"], time.time())
        self.assertEqual([one["name"] for one in self.ask_ok(SCHEDULES)["schedules"]], ["nightly"])
        self.ask("post", f"{SCHEDULE}/replan", 200, ["nightly"])
        job = self.ask("post", f"{SCHEDULE}/run", 201, ["nightly"])["id"]
        self.assertRegex(self.ask_ok(JOB, job)["key"], r"^nightly@20\d\d-\d\d-\d\dT[\d:]{8}Z$")
        shown = self.ask_ok(SCHEDULE, "nightly")
        self.assertEqual((shown["last"]["outcome"], shown["last"]["job"]), ("fired", job))
        self.assertIn(b"tandem_schedule_firings_total 1\n", self.ask_ok("/metrics"))
        for wrong in {"cron": "31 2 31 2 *"}, {"timezone": "Berlin"}, {"queue": ""}, {"missed": "no"}:
            self.ask("put", SCHEDULE, 400, ["nightly"], document={**nightly, **wrong})
        self.ask("put", SCHEDULE, 400, ["a b"], document=nightly)
        self.ask("delete", SCHEDULE, 204, ["nightly"])
        self.ask("get", SCHEDULE, 404, ["nightly"])

    def test_08_many_jobs_are_worked_on_in_the_background(self):
        begun = self.ask("post", OPERATIONS, 202,
                         document={"action": "delete", "queue": "many", "dry_run": True})
        give_up_at = time.monotonic() + SECONDS
        while (now := self.ask_ok(OPERATION, begun["id"]))["state"] == "running":
            self.assertLess(time.monotonic(), give_up_at)
        self.assertEqual((now["state"], now["touched"]), ("done", 30))
        self.ask_ok(OPERATIONS)
        self.ask("delete", OPERATION, 200, [begun["id"]])
        self.ask("get", OPERATION, 404, [MISSING_ID])
        self.ask("delete", OPERATION, 404, [MISSING_ID])
        self.ask("post", OPERATIONS, 400, document={"action": "paint", "queue": "many"})

    def test_09_drain_and_reload(self):
        drain = f"{API}/drain"
        self.assertTrue(self.ask("post", drain, 200, document={"draining": True})["draining"])
        self.ask("get", "/readyz", 503)
        self.ask("post", JOBS, 503, document={"queue": "made", "body": "x"})
        self.assertTrue(self.ask_ok(f"{API}/process")["draining"])
        self.assertFalse(self.ask("post", drain, 200, document={"draining": False})["draining"])
        logs = f"{API}/log-commands"
        self.assertEqual(self.ask("post", logs, 200, document={"log_commands": "192.0.2.1"}),
                         {"log_commands": "192.0.2.1"})
        settings = self.ask_ok(f"{API}/config")["settings"]
        self.assertIn("192.0.2.1", [each["value"] for each in settings
                                    if each["key"] == "log_commands"])
        self.ask("post", logs, 404, document={"log_commands": str(MISSING_ID)})
        self.ask("post", logs, 400, document={"log_commands": "nobody"})
        self.assertTrue(self.ask("post", f"{API}/reload", 200)["reloaded"])
        self.assertIsNotNone(self.broker.expect(" reloaded "))

    def test_09_policies_are_made_at_run_time_over_those_of_the_file(self):
        self.assertEqual([each["glob"] for each in self.ask_ok(POLICIES)["policies"]],
                         ["bean/*", "pushed"])
        made = self.ask("put", POLICY, 200, ["bean/r*"],
                        document={"rate": "5/m", "burst": 2, "count_releases": True,
                                  "backoff": "fixed", "backoff_jitter": 0.5})
        self.assertEqual((made["origin"], made["position"], made["run_time"]), ("api", 10, True))
        self.assertEqual(made["settings"], {"rate": "5/m", "burst": 2, "count_releases": True,
                                            "backoff": "fixed", "backoff_jitter": "0.5"})
        self.assertEqual(self.ask_ok(QUEUE, "bean/ready")["policy"], made)
        self.ask("put", POLICY, 200, ["first"], document={"position": 5})
        self.assertEqual([each["glob"] for each in self.ask_ok(POLICIES)["policies"]],
                         ["first", "bean/r*", "bean/*", "pushed"])
        self.assertEqual(self.ask_ok(POLICY, "bean/r*"), made)
        for wrong in {"burst": 2}, {"rate": "often"}, {"colour": 1}, {"dead_queue": "a\nb"}:
            self.ask("put", POLICY, 400, ["bean/r*"], document=wrong)
        self.ask("put", POLICY, 400, ["bean["], document={})
        self.ask("delete", POLICY, 204, ["first"])
        self.ask("delete", POLICY, 404, ["first"])
        self.ask("delete", POLICY, 204, ["bean/r*"])
        self.assertEqual(self.ask_ok(QUEUE, "bean/ready")["policy"]["glob"], "bean/*")

    def test_10_what_is_for_machines(self):
        self.assertEqual(self.ask_ok("/healthz"), b"ok\n")
        self.assertEqual(self.ask_ok("/readyz"), b"ok\n")
        self.assertIn(b"tandem_jobs", self.ask_ok("/metrics"))
        self.ask("get", "/metrics", 200, headers={"Accept": "application/openmetrics-text"})
        self.assertEqual(self.ask_ok(f"{API}/openapi.json"), read_document())

    def test_11_events_are_documents_of_the_api(self):
        path = f"{API}/events"
        self.ask("get", path, 400, query={"nonsense": 1})
        host, port = self.broker.addresses["admin"][0].rsplit(":", 1)
        kinds = {"process": "Process", "queues": "Queues", "queue": "QueueDetail"}
        with socket.create_connection((host, int(port)), SECONDS) as stream:
            stream.sendall(f"GET {path}?queues=3&queue=many HTTP/1.0\r\nHost: localhost\r\n\r\n"
                           .encode())
            with stream.makefile("rb") as lines:
                self.assertIn(b" 200 ", lines.readline())
                event = None
                while kinds:
                    word, _, said = lines.readline().decode().rstrip("\r\n").partition(": ")
                    if word == "event":
                        event = said
                    elif word == "data" and event in kinds:
                        self.contract.check_component(kinds.pop(event), json.loads(said))
        self.contract.visited[path, "get"].add(200)

    def test_12_what_is_no_document_is_refused(self):
        bodies = [("post", JOBS, []), ("post", OPERATIONS, []), ("post", f"{API}/drain", []),
                  ("post", f"{API}/log-commands", []),
                  ("post", f"{QUEUE}/pause", ["many"]), ("put", f"{QUEUE}/limits", ["many"]),
                  ("put", POLICY, ["many"]), ("put", SCHEDULE, ["nightly"])]
        bodies += [("post", f"{JOB}/{act}", [self.jobs["ready"]])
                   for act in ("bury", "release", "change", "move")]
        for method, path, args in bodies:
            for body in "{", "[]", '{"nonsense": 1}', '{"queue": 1}', "\xff":
                with self.subTest(path=path, body=body):
                    self.ask(method, path, 400, args, body=body.encode("latin-1"))

    def test_12_what_is_not_there_and_what_means_nothing_is_told(self):
        for path, method in self.contract.visited:
            operation = self.contract.document["paths"][path][method]
            documented = operation["responses"]
            there = [self.jobs["ready"] if "{id}" in path else "many"] * path.count("{")
            nowhere = [MISSING_ID if "{id}" in path else "nowhere"] * path.count("{")
            document = DOCUMENTS.get(path, {}) if "requestBody" in operation else None
            with self.subTest(path=path, method=method):
                if "400" in documented:
                    self.ask(method, path, 400, there, {"nonsense": 1}, document=document)
                if "404" in documented and (there or path == OPERATIONS):
                    self.ask(method, path, 404, nowhere, document=document)

    def test_13_pages_of_others_may_change_nothing(self):
        for path, method in self.contract.visited:
            if method not in CHANGES:
                continue
            with self.subTest(path=path, method=method):
                args = [self.jobs["ready"] if "{id}" in path else "many"] * path.count("{")
                self.ask(method, path, 403, args, headers={"X-Tandem-Request": None})
                self.ask(method, path, 403, args, headers={"Origin": "http://elsewhere.example"})

    def test_99_every_path_and_method_was_visited(self):
        for (path, method), statuses in self.contract.visited.items():
            with self.subTest(path=path, method=method):
                # No standby shares the journal of this broker.
                done = {409} if path == HANDOVER else range(300)
                self.assertTrue(statuses & set(done), sorted(statuses))
                documented = self.contract.document["paths"][path][method]["responses"]
                for status in set(documented) & {"400", "404"}:
                    self.assertIn(int(status), statuses)


class Rules(World):
    """A caller without rights is refused on every path."""

    RULES = "net:127.0.0.0/8 submit jobs\n"

    def test_who_may_nothing_is_refused_everywhere(self):
        operator = self.operator()
        for path, method in self.contract.visited:
            documented = self.contract.document["paths"][path][method]["responses"]
            args = [1 if "{id}" in path else "many"] * path.count("{")
            if "403" not in documented or path in (JOBS, IMPORT, f"{IMPORT}/end"):
                continue
            with self.subTest(path=path, method=method):
                operator.ask(method, path, 401, args,
                             document={} if method in ("post", "put") else None)

    def test_token_that_is_none_is_refused_everywhere(self):
        operator = self.operator({"Authorization": "Bearer nobody-nobody-nobody"})
        operator.ask("get", f"{API}/process", 401)
        operator.ask("get", QUEUES, 401)


if __name__ == "__main__":
    unittest.main(verbosity=2)
