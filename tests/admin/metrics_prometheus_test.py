# SPDX-License-Identifier: MIT
"""Prometheus itself reads a real broker, in both formats; its values are those of the
broker, and it accepts each expression of the dashboard and each rule.

PROMETHEUS in the environment is Debian's prometheus."""

import http.client
import http.server
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

from metrics_world import ROOT, World

sys.path.append(str(ROOT / "tests" / "support"))
import ports  # noqa: E402

GIVE_UP = 60  # seconds; only a hang takes longer


class Between(http.server.BaseHTTPRequestHandler):
    """A proxy between Prometheus and the broker: at /plain it drops the Accept header."""

    world = None
    scrapes = {"/plain": [], "/open": []}
    more = threading.Condition()

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        kind, text = self.world.fetch(self.headers["Accept"] if path == "/open" else None)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        with self.more:
            self.scrapes[path].append(kind)
            self.more.notify_all()

    def log_message(self, *_):
        pass

    @classmethod
    def wait_for(cls, count):
        """Waits for `count` more scrapes of each path; all but the last are stored then."""
        with cls.more:
            wanted = {path: len(kinds) + count for path, kinds in cls.scrapes.items()}
            assert cls.more.wait_for(lambda: all(len(cls.scrapes[path]) >= most
                                                 for path, most in wanted.items()), GIVE_UP)


CONFIG = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
scrape_configs:
  - job_name: tandem
    metrics_path: /open
    static_configs: [{{targets: ["{between}"]}}]
  - job_name: plain
    metrics_path: /plain
    static_configs: [{{targets: ["{between}"]}}]
"""


class Prometheus:
    def __init__(self, folder, between):
        config = pathlib.Path(folder, "prometheus.yml")
        config.write_text(CONFIG.format(rules=ROOT / "conf" / "tandem-alerts.yml", between=between))
        self.held = ports.reserve()
        self.port = ports.number(self.held)
        self.process = subprocess.Popen(
            [os.environ["PROMETHEUS"], f"--config.file={config}", "--log.level=warn",
             f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{self.port}"])

    def ask(self, path, **parameters):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        answer = json.loads(connection.getresponse().read())
        connection.close()
        assert answer["status"] == "success", (parameters, answer)
        return answer["data"]

    def values(self, query):
        """Job -> value."""
        found = self.ask("query", query=query)["result"]
        return {sample["metric"].get("job"): float(sample["value"][1]) for sample in found}

    def wait_for(self, query, values):
        """Scraped values are stored a moment later."""
        give_up_at = time.monotonic() + GIVE_UP
        while (found := self.values(query)) != values:
            assert time.monotonic() < give_up_at, (query, found)
            Between.wait_for(1)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.held.close()


class Reads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.world = Between.world = World(f"journal.dir={cls.folder.name}/journal",
                                          "admin.metrics_names=beanstalkd, gearman",
                                          "admin.max_series_queues=3")
        cls.world.put(b"mail", 9)
        cls.world.work(b"mail")
        for i in range(6):
            cls.world.put(b"q%d" % i, i)
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
        # If the setup fails, it must not block the end of the process.
        cls.thread = threading.Thread(target=cls.server.serve_forever, daemon=True)
        cls.thread.start()
        cls.prometheus = Prometheus(cls.folder.name, "%s:%d" % cls.server.server_address)
        Between.wait_for(2)

    @classmethod
    def tearDownClass(cls):
        cls.prometheus.stop()
        cls.server.shutdown()
        cls.thread.join()
        cls.server.server_close()
        assert cls.world.stop() == 0
        cls.folder.cleanup()

    def test_it_reads_both_formats(self):
        self.prometheus.wait_for("up", {"tandem": 1, "plain": 1})
        self.assertRegex(Between.scrapes["/open"][0], "^application/openmetrics-text")
        self.assertRegex(Between.scrapes["/plain"][0], "^text/plain")

    def test_it_has_the_values_of_the_broker(self):
        both = lambda value: {"tandem": value, "plain": value}  # noqa: E731
        wait_for = self.prometheus.wait_for
        wait_for('tandem_jobs{queue="mail",state="ready"}', both(8))
        wait_for("sum by (job) (tandem_jobs_submitted_total)", both(9 + 15))
        wait_for("tandem_broker_jobs_submitted_total", both(9 + 15))
        wait_for('tandem_jobs_submitted_total{rest="true"}', both(1 + 2 + 3))
        wait_for('tandem_run_seconds_count{queue="mail"}', both(1))
        wait_for('count by (job) (tandem_jobs{queue!="",state="ready"})', both(3))
        wait_for('tube_current_jobs_ready{tube="mail"}', both(8))
        wait_for('gearman_jobs{function="mail"}', both(8))
        self.world.put(b"mail", 2)
        wait_for('tandem_jobs{queue="mail",state="ready"}', both(10))

    def test_it_understands_the_dashboard(self):
        board = json.loads((ROOT / "conf" / "grafana-tandem.json").read_text())
        for panel in board["panels"]:
            for target in panel.get("targets", []):
                query = target["expr"].replace("$__rate_interval", "1m")
                self.prometheus.ask("query", query=re.sub(r"\$\w+", ".*", query))

    def test_it_understands_the_alerts(self):
        give_up_at = time.monotonic() + GIVE_UP
        while True:
            rules = [rule for group in self.prometheus.ask("rules")["groups"]
                     for rule in group["rules"]]
            self.assertGreater(len(rules), 15)
            if all(rule["health"] == "ok" for rule in rules):
                break
            self.assertLess(time.monotonic(), give_up_at, rules)
            Between.wait_for(1)
        self.assertEqual([rule["name"] for rule in rules if rule["state"] == "firing"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
