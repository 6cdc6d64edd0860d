# SPDX-License-Identifier: MIT
"""Metrics of a real broker, with jobs of real clients: both formats are well-formed, numbers are
exact, counters never fall, and METRICS.md and the files of conf/ use existing names.

PROMTOOL in the environment is Debian's promtool."""

import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import unittest

import open_metrics
from metrics_world import OPEN_METRICS, ROOT, World

REST = (("queue", ""), ("rest", "true"))
COUNTERS = ["jobs_submitted", "jobs_completed", "jobs_failed", "jobs_buried", "jobs_deleted",
            "job_timeouts", "job_retries"]


def promtool(*arguments, text=None):
    return subprocess.run([os.environ["PROMTOOL"], *arguments], input=text, capture_output=True,
                          check=False)


def by_queue(samples, name):
    """Queue -> value; None is the rest."""
    found = {}
    for (sample, labels), value in samples.items():
        if sample == name:
            labels = dict(labels)
            found[None if "rest" in labels else labels["queue"]] = value
    return found


ROW = r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$"


def shared_metrics():
    """The metrics of a shared journal in METRICS.md, with their labels. admin_cluster_test covers
    them."""
    text = (ROOT / "admin" / "METRICS.md").read_text()
    part = text.partition("## Shared journal")[2].partition("\n## ")[0]
    return {name: set(re.findall(r"\w+", labels))
            for name, _, labels, _ in re.findall(ROW, part, re.M)}


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.journal = tempfile.TemporaryDirectory()
        cls.world = World(f"journal.dir={cls.journal.name}",
                          "admin.metrics_names=beanstalkd, gearman")
        cls.world.put(b"mail", 3)
        cls.world.work(b"mail")
        cls.world.submit_gearman(b"resize")
        cls.world.submit_http("hook")

    @classmethod
    def tearDownClass(cls):
        assert cls.world.stop() == 0
        cls.journal.cleanup()

    def own_names(self, text):
        """The text without the names of exporters."""
        lines = text.decode().splitlines(keepends=True)
        return "".join(line for line in lines
                       if re.match(r"(# \w+ )?(tandem|process)_", line)).encode()

    def test_promtool_accepts_our_own_names(self):
        kind, text = self.world.fetch()
        self.assertEqual(kind, "text/plain; version=0.0.4; charset=utf-8")
        checked = promtool("check", "metrics", text=self.own_names(text))
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""))

    def test_promtool_reads_the_names_of_exporters_with_style_warnings(self):
        checked = promtool("check", "metrics", text=self.world.fetch()[1])
        self.assertIn(checked.returncode, (0, 3), checked.stderr)
        for line in checked.stderr.decode().splitlines():
            self.assertRegex(line, r"^(beanstalkd|gearman|tube|current|total|job|binlog|rusage|uptime)"
                                   r"\w* .*(suffix|unit|abbreviated)")

    def test_both_formats_are_valid_and_equivalent(self):
        kind, text = self.world.fetch(OPEN_METRICS)
        self.assertEqual(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8")
        opened = open_metrics.read(text, True)
        plain = open_metrics.read(self.world.fetch()[1], False)
        self.assertEqual({name: (family.type, family.help) for name, family in opened.items()},
                         {name: (family.type, family.help) for name, family in plain.items()})
        for name, family in opened.items():
            if family.type != "histogram":
                self.assertEqual(family.samples.keys(), plain[name].samples.keys())

    def test_jobs_of_all_protocols_are_counted_by_queue(self):
        samples = self.world.samples()
        self.assertEqual(by_queue(samples, "tandem_jobs_submitted_total"),
                         {"mail": 3, "resize": 1, "hook": 1, "default": 0, None: 0})
        self.assertEqual(by_queue(samples, "tandem_jobs_completed_total")["mail"], 1)
        self.assertEqual(samples["tandem_jobs", (("queue", "mail"), ("state", "ready"))], 2)
        self.assertEqual(samples["tandem_run_seconds_count", (("queue", "mail"),)], 1)
        self.assertEqual(samples["tube_current_jobs_ready", (("tube", "mail"),)], 2)
        self.assertEqual(samples["gearman_jobs", (("function", "resize"),)], 1)

    def test_metrics_of_the_process_are_written(self):
        samples = self.world.samples()
        self.assertEqual(samples["tandem_connections", (("protocol", "beanstalk"),)], 1)
        self.assertGreater(samples["tandem_commands_total", (("protocol", "beanstalk"),)], 9)
        self.assertGreater(samples["tandem_received_bytes_total", (("protocol", "http"),)], 40)
        self.assertGreater(samples["tandem_loop_turns_total", ()], 5)
        self.assertGreater(samples["tandem_journal_bytes", ()], 0)
        self.assertGreater(samples["tandem_journal_records_total", ()], 4)
        self.assertGreater(samples["process_resident_memory_bytes", ()], 1 << 20)
        self.assertGreater(samples["process_cpu_seconds_total", ()], 0)
        self.assertGreater(samples["process_open_fds", ()], 5)

    #
    # Documents
    #

    def test_every_metric_is_in_metrics_md_as_it_is(self):
        text = (ROOT / "admin" / "METRICS.md").read_text()
        rows = re.findall(ROW, text, re.M)
        reported = {}
        for name, family in self.world.families().items():
            labels = {label for _, labels in family.samples for label, _ in labels}
            reported[name] = family.type, labels - {"le", "rest"}, family.help
        written = {name: (kind, set(re.findall(r"\w+", labels)), what)
                   for name, kind, labels, what in rows}
        ours = {name: what for name, what in reported.items() if name.startswith(("tandem", "process"))}
        # The journal of this broker is not shared.
        self.assertEqual(written.keys() - shared_metrics().keys(), ours.keys())
        for name, (kind, labels, what) in ours.items():
            # A family without samples has no labels to compare.
            labels = labels or written[name][1]
            self.assertEqual(written[name], (kind, labels, what), name)
        exporters = set(re.findall(r"`(\w+)`", text.partition("## Names of other exporters")[2]))
        self.assertEqual(exporters - {"tube", "function", "beanstalkd", "gearman",
                                      "tandem_commands_total"},
                         reported.keys() - ours.keys())

    def test_metrics_of_a_shared_journal_are_in_metrics_md_as_they_are_in_the_source(self):
        source = (ROOT / "admin" / "metrics" / "metrics_process.c").read_text()
        reported = set()
        for macro, short, name, kind, what in re.findall(
                r'(?:FAMILY\((\w+), "(\w+)"|"(tandem_\w+)", METRIC_(\w+)),\s+"(.*?)"', source):
            name, kind = name or f"tandem_cluster_{short}", (kind or macro).lower()
            if name.startswith("tandem_cluster_"):
                reported.add((name + "_total" * (kind == "counter"), kind, what))
        text = (ROOT / "admin" / "METRICS.md").read_text()
        written = {(name, kind, what) for name, kind, _, what in re.findall(ROW, text, re.M)
                   if name in shared_metrics()}
        self.assertGreater(len(reported), 10)
        self.assertEqual(written, reported)

    def labels_by_name(self):
        """Name of a sample -> the labels that it has."""
        labels = {"up": set()}
        for name, pairs in self.world.samples():
            labels.setdefault(name, set()).update(label for label, _ in pairs)
        return labels | shared_metrics()

    def assert_exists(self, expression, labels):
        """Each metric in the expression exists and has the labels in it."""
        expression = re.sub(r'"[^"]*"', '""', expression)
        names = re.findall(r"\b(?:tandem|process)_\w+\b|\bup\b", expression)
        self.assertTrue(names, expression)
        for name, selector in re.findall(r"\b((?:tandem|process)_\w+|up\b)(\{[^}]*\})?", expression):
            self.assertIn(name, labels)
            for label in re.findall(r"(\w+)\s*[!=]", selector):
                self.assertIn(label, labels[name] | {"job", "instance"}, expression)

    def test_the_dashboard_queries_existing_metrics(self):
        text = (ROOT / "conf" / "grafana-tandem.json").read_text()
        board = json.loads(text)
        targets = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
        self.assertGreater(len(targets), 40)
        labels = self.labels_by_name()
        for expression in targets:
            self.assert_exists(expression.replace("${", "$"), labels)
        for variable in board["templating"]["list"][1:]:
            self.assert_exists(variable["definition"], labels)
        for note in board["annotations"]["list"]:
            self.assert_exists(note["expr"], labels)
        # There are no names elsewhere in it.
        self.assertEqual(set(re.findall(r"tandem_\w+", text)) - set(re.findall(
            r"tandem_\w+", " ".join(targets) + json.dumps(board["templating"]))), set())

    def test_alerts_query_existing_metrics(self):
        text = (ROOT / "conf" / "tandem-alerts.yml").read_text()
        rules = re.findall(r"^ +expr: (\|\n(?: {10,}.*\n)+|.*\n)", text, re.M)
        self.assertEqual(len(rules), len(re.findall(r"- alert:", text)))
        labels = self.labels_by_name()
        for expression in rules:
            self.assert_exists(expression, labels)

    def test_alerts_are_good_rules_and_fire_when_they_should(self):
        rules = str(ROOT / "conf" / "tandem-alerts.yml")
        checked = promtool("check", "rules", rules)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        tests = str(ROOT / "tests" / "admin" / "alerts_test.yml")
        checked = promtool("test", "rules", tests)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


class Rest(unittest.TestCase):
    def setUp(self):
        self.world = World("journal.dir=", "admin.max_series_queues=3")

    def tearDown(self):
        self.assertEqual(self.world.stop(), 0)

    def assert_exact(self, samples):
        for counter in COUNTERS:
            found = by_queue(samples, f"tandem_{counter}_total")
            self.assertEqual(sum(found.values()), samples[f"tandem_broker_{counter}_total", ()])
        for times in "wait", "run":
            found = by_queue(samples, f"tandem_{times}_seconds_count")
            self.assertEqual(sum(found.values()), samples[f"tandem_broker_{times}_seconds_count", ()])
        self.assertLessEqual(len(by_queue(samples, "tandem_paused")), 4)

    def test_named_and_rest_are_exact_and_counters_never_fall(self):
        chance = random.Random(18)
        queues = [f"q{i}".encode() for i in range(10)]
        before = {}
        for _ in range(60):
            self.world.put(chance.choice(queues), chance.randrange(1, 4))
            self.world.work(chance.choice(queues),
                            chance.choice([b"delete %s", b"bury %s 5", b"release %s 5 0"]))
            if chance.randrange(5) == 0:
                self.world.bean(b"use " + chance.choice(queues))
                self.world.bean(b"kick 10")
                self.world.bean(b"use default")
            families = self.world.families()
            samples = open_metrics.samples(families)
            self.assert_exact(samples)
            for name, family in families.items():
                for key, value in family.samples.items():
                    # The counters of a queue that was removed and created again start at 0.
                    if family.type != "gauge" and "queue" not in dict(key[1]) or REST[1] in key[1]:
                        if family.type != "gauge":
                            self.assertGreaterEqual(value, before.get(key, 0), (name, key))
                    before[key] = value
        self.assertGreater(samples["tandem_queues_in_rest", ()], 0)
        self.assertGreater(by_queue(samples, "tandem_jobs_submitted_total")[None], 0)

    def test_names_of_any_bytes_are_labels_and_no_two_are_the_same(self):
        names = [b'a"b', b"a\\b", b"a\nb", b"a{b}", b"\xff\xfe", b"bytes:\\xff\\xfe", b"na\xc3\xafve",
                 b"\xed\xa0\x80", b"x" * 200]
        self.assertEqual(self.world.stop(), 0)
        self.world = World("journal.dir=", "admin.metrics_names=beanstalkd gearman")
        for name in names:
            self.world.submit_gearman(name)
        labels = by_queue(self.world.samples(), "tandem_jobs_submitted_total")
        self.assertEqual(sum(labels.values()), len(names))
        self.assertEqual(len([name for name, value in labels.items() if value == 1]), len(names))
        for name in 'a"b', "a\\b", "a\nb", "a{b}", "naïve", "x" * 200, "bytes:\\xff\\xfe":
            self.assertIn(name, labels)
        checked = promtool("check", "metrics", text=self.world.fetch()[1])
        self.assertIn(checked.returncode, (0, 3), checked.stderr)


class Off(unittest.TestCase):
    def grown(self, *settings):
        """The growth of a broker in bytes while jobs of many queues are taken."""
        world = World("journal.dir=", *settings)
        sizes = []
        for count in 100, 5000:
            for i in range(count):
                name = b"q%d-%d" % (count, i)
                world.put(name)
                world.work(name, b"bury %s 0")
            status = pathlib.Path("/proc", str(world.broker.process.pid), "status").read_text()
            sizes.append(int(re.search(r"VmRSS:\s+(\d+)", status)[1]) << 10)
        self.assertEqual(world.stop(), 0)
        return sizes[1] - sizes[0]

    def test_without_a_listener_no_times_are_measured(self):
        self.assertGreater(self.grown() - self.grown("admin.listen="), 5000 * 1000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
