# SPDX-License-Identifier: MIT
"""tandemd sends jobs to endpoints whose responses are late, missing, incomplete or wrong, or whose
address is not allowed."""

import contextlib
import os
import pathlib
import signal
import socket
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

sys.path[:0] = [str(pathlib.Path(__file__).parents[1] / name) for name in ("clients", "support")]

from broker import SECONDS, Broker, loopback  # noqa: E402
from certificates import Authority  # noqa: E402
from endpoint import Endpoint  # noqa: E402
import ports  # noqa: E402

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER_SECRET = "whsec_" + "A" * 43 + "="


class Beanstalk:
    """A client that submits jobs, and reads their statistics."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=SECONDS)
        self.file = self.socket.makefile("rb")

    def ask(self, line, body=None):
        self.socket.sendall(line.encode() + b"\r\n" + (b"" if body is None else body + b"\r\n"))
        return self.file.readline().decode().strip()

    def put(self, tube, body, ttr=60):
        self.ask(f"use {tube}")
        return int(self.ask(f"put 0 0 {ttr} {len(body)}", body).split()[1])

    def stats(self, job):
        """The statistics of the job; None: it has ended."""
        answer = self.ask(f"stats-job {job}").split()
        if answer[0] == "NOT_FOUND":
            return None
        text = self.file.read(int(answer[1]) + 2).decode()
        return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)

    def close(self):
        self.file.close()
        self.socket.close()


def until(condition):
    """Waits until the condition holds, and returns its value."""
    give_up_at = time.monotonic() + SECONDS
    while not (found := condition()):
        if time.monotonic() > give_up_at:
            raise AssertionError("that does not come about")
        time.sleep(0.01)
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = pathlib.Path(self.stack.enter_context(
            tempfile.TemporaryDirectory(prefix="tandem-")))
        self.config = self.folder / "tandemd.conf"
        self.broker = None

    def endpoint(self, *args, **named):
        endpoint = Endpoint(*args, **named)
        self.stack.callback(endpoint.close)
        return endpoint

    def write(self, url, section="q", private="yes", **keys):
        """A configuration with one section and its endpoint."""
        lines = [f"[queue {section}]", f"push = {url}", f"push_private = {private}"]
        lines += [f"{key} = {value}" for key, value in keys.items()]
        self.config.write_text("\n".join(lines) + "\n")

    def start(self, url, *settings, **keys):
        self.write(url, **keys)
        return self.begin(*settings)

    def begin(self, *settings):
        self.broker = Broker(os.environ["TANDEMD"], [*loopback(), *settings], str(self.config))
        self.stack.callback(self.stop)
        return self.connect()

    def connect(self):
        client = Beanstalk(self.broker.addresses["beanstalk"][0])
        self.stack.callback(client.close)
        return client

    def stop(self):
        if self.broker:
            self.assertEqual(self.broker.stop(), 0)
            self.broker = None

    def is_buried(self, client, job):
        return until(lambda: (client.stats(job) or {}).get("state") == "buried")


class Answers(Case):
    def test_job_is_completed_by_the_response(self):
        endpoint = self.endpoint()
        client = self.start(endpoint.url())
        job = client.put("q", b"a body\r\n")
        request = endpoint.next()
        self.assertEqual(request.body, b"a body\r\n")
        self.assertTrue(request.headers["X-Gearman-Job-Handle"].endswith(f":{job}"))
        self.assertEqual(request.headers["X-Tandem-Queue"], "q")
        self.assertEqual(request.headers["X-Tandem-Attempt"], "1")
        self.assertNotIn("webhook-signature", request.headers)
        until(lambda: client.stats(job) is None)

    def test_result_reaches_waiting_clients(self):
        endpoint = self.endpoint(lambda request: request.reply(201, request.body[::-1]))
        self.start(endpoint.url())
        host, port = self.broker.addresses["http"][0].rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=SECONDS) as web:
            web.sendall(b"POST /q HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                        b"Connection: close\r\n\r\nabc")
            answer = web.makefile("rb").read()
        self.assertTrue(answer.startswith(b"HTTP/1.1 200"), answer)
        self.assertTrue(answer.endswith(b"cba"), answer)

    def test_requests_are_signed_by_all_secrets_which_are_never_shown(self):
        file = self.folder / "secrets"
        file.write_text(f"\n{OTHER_SECRET}\n")
        endpoint = self.endpoint()
        client = self.start(endpoint.url(), push_secret=SECRET, push_secret_file=file)
        client.put("q", b"body")
        request = endpoint.next()
        self.assertTrue(request.is_signed_by(SECRET))
        self.assertTrue(request.is_signed_by(OTHER_SECRET))
        self.assertLess(abs(int(request.headers["webhook-timestamp"]) - time.time()), SECONDS)
        # SIGHUP adds another one.
        self.write(endpoint.url(), push_secret=OTHER_SECRET)
        self.broker.process.send_signal(signal.SIGHUP)
        self.broker.expect(" reloaded ")
        client.put("q", b"body")
        request = endpoint.next()
        self.assertFalse(request.is_signed_by(SECRET))
        self.assertTrue(request.is_signed_by(OTHER_SECRET))
        self.assertNotIn("whsec_", "".join(self.broker.log()))

    def test_busy_endpoint_is_paused_for_as_long_as_it_asks(self):
        came = []

        def answer(request):
            came.append(time.monotonic())
            if len(came) == 1:
                request.reply(429, Retry_After="1")
            elif len(came) == 2:
                request.reply(503, Retry_After=time.strftime(
                    "%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 2)))
            else:
                request.reply(200)

        endpoint = self.endpoint(answer)
        client = self.start(endpoint.url(), max_attempts=1, on_exhausted="bury")
        job = client.put("q", b"body")
        until(lambda: client.stats(job) is None)
        self.assertGreaterEqual(came[1] - came[0], 0.95)
        self.assertGreaterEqual(came[2] - came[1], 0.95)
        self.assertEqual(endpoint.requests.get().headers["X-Tandem-Attempt"], "1")

    def test_operator_ends_the_pause_of_an_endpoint(self):
        def answer(request):
            if first := not came:
                came.append(request)
            request.reply(429 if first else 200, **({"Retry_After": "500"} if first else {}))

        came = []
        client = self.start(self.endpoint(answer).url(), max_attempts=1, on_exhausted="bury")
        job = client.put("q", b"body")
        self.assertTrue(self.broker.expect(r"push_paused .*tandemctl push-resume ends it"))
        address = self.broker.addresses["admin"][0]
        asked = urllib.request.Request(f"http://{address}/api/v1/push/q/resume", b"",
                                       {"X-Tandem-Request": "1"})
        with urllib.request.urlopen(asked, timeout=SECONDS) as answered:
            self.assertEqual(answered.status, 200)
        until(lambda: client.stats(job) is None)
        self.assertTrue(self.broker.expect(r"push_resuming section=q"))
        self.assertTrue(self.broker.expect(r"push_resumed section=q"))

    def test_failed_attempts_are_retried_by_the_policy(self):
        def answer(request):
            request.reply(200 if request.headers["X-Tandem-Attempt"] == "3" else 500)

        endpoint = self.endpoint(answer)
        client = self.start(endpoint.url(), max_attempts=5)
        job = client.put("q", b"body")
        until(lambda: client.stats(job) is None)
        requests = [endpoint.next() for _ in range(3)]
        self.assertEqual(sorted(r.headers["X-Tandem-Attempt"] for r in requests), ["1", "2", "3"])
        self.assertEqual(len({r.headers["webhook-id"] for r in requests}), 1)

    def test_job_goes_to_the_dead_queue_after_its_last_attempt(self):
        endpoint = self.endpoint(lambda request: request.reply(400))
        client = self.start(endpoint.url(), max_attempts=2, on_exhausted="move",
                            dead_queue="dead.{queue}")
        job = client.put("q", b"body")
        until(lambda: client.stats(job)["tube"] == '"dead.q"' or client.stats(job)["tube"] ==
              "dead.q")
        attempts = [endpoint.next().headers["X-Tandem-Attempt"] for _ in range(2)]
        self.assertEqual((sorted(attempts), endpoint.requests.qsize()), (["1", "2"], 0))

    def test_missing_response_is_a_failed_attempt(self):
        gate = threading.Event()
        self.stack.callback(gate.set)
        endpoint = self.endpoint(lambda request: gate.wait())
        client = self.start(endpoint.url(), push_timeout="300ms")
        self.is_buried(client, client.put("q", b"body"))
        self.broker.expect("push_failed .*outcome=timed_out")

    def test_request_ends_before_the_time_to_run(self):
        gate = threading.Event()
        self.stack.callback(gate.set)
        left = []

        def answer(request):
            left.append(int(request.headers["X-Tandem-Deadline"]) / 1000 - time.time())
            gate.wait()

        endpoint = self.endpoint(answer)
        client = self.start(endpoint.url())
        self.is_buried(client, client.put("q", b"body", ttr=4))
        self.assertLessEqual(left[0], 3.9)

    def test_incomplete_response_is_a_failed_attempt(self):
        for text in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", b"nonsense\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"):
            with self.subTest(text=text):
                endpoint = self.endpoint(lambda request, text=text: request.write(text))
                client = self.start(endpoint.url())
                self.is_buried(client, client.put("q", b"body"))
                self.stop()

    def test_huge_response_is_refused(self):
        endpoint = self.endpoint(lambda request: request.reply(200, b"x" * 50_000_000))
        client = self.start(endpoint.url())
        self.is_buried(client, client.put("q", b"body"))
        self.broker.expect("push_failed .*outcome=too_large")

    def test_redirect_is_not_followed(self):
        other = self.endpoint()
        endpoint = self.endpoint(lambda request: request.reply(307, Location=other.url()))
        client = self.start(endpoint.url())
        self.is_buried(client, client.put("q", b"body"))
        self.assertEqual(other.requests.qsize(), 0)

    def test_failing_endpoint_does_not_affect_other_clients(self):
        gate = threading.Event()
        self.stack.callback(gate.set)
        endpoint = self.endpoint(lambda request: gate.wait())
        # Longer than the other clients wait.
        client = self.start(endpoint.url(), push_connections=32, push_timeout="10m")
        for _ in range(100):
            client.put("q", b"x" * 10000, ttr=600)
        for _ in range(200):
            job = client.put("other", b"body")
            self.assertEqual(client.ask(f"delete {job}"), "DELETED")
        self.assertEqual(endpoint.requests.qsize(), 0)


class Addresses(Case):
    def check_unreachable(self, url, why, **keys):
        client = self.start(url, **keys)
        job = client.put("q", b"body")
        self.broker.expect(f"push_failed .*outcome=unreachable why=.*{why}")
        stats = client.stats(job)
        self.assertIn(stats["state"], ("ready", "reserved"))
        self.stop()

    def test_name_of_a_private_address_is_not_connected_to(self):
        endpoint = self.endpoint()
        self.check_unreachable(endpoint.url("localhost"), "not of the public Internet",
                               private="no")
        self.assertEqual(endpoint.requests.qsize(), 0)

    def test_private_address_is_refused_at_the_start(self):
        for host in ("127.0.0.1", "10.1.2.3", "[::1]", "169.254.169.254", "0x7f.1", "[::ffff:7f00:1]"):
            with self.subTest(host=host):
                self.write(f"http://{host}/", private="no")
                with self.assertRaises(RuntimeError):
                    self.begin()

    def test_proxy_of_the_environment_is_not_used(self):
        proxy = self.endpoint()
        endpoint = self.endpoint()
        for name in ("http_proxy", "all_proxy", "ALL_PROXY"):
            os.environ[name] = proxy.url(path="")
            self.stack.callback(os.environ.pop, name)
        client = self.start(endpoint.url())
        client.put("q", b"body")
        endpoint.next()
        self.assertEqual(proxy.requests.qsize(), 0)

    def test_jobs_wait_for_an_endpoint_that_is_down(self):
        # No process listens there, or can.
        closed = self.stack.enter_context(ports.reserve())
        client = self.start(f"http://127.0.0.1:{ports.number(closed)}/", max_attempts=1)
        jobs = [client.put("q", b"body") for _ in range(20)]
        self.broker.expect("push_paused ")
        until(lambda: all(client.stats(job)["state"] == "ready" for job in jobs))

    def test_certificate_must_be_valid_for_the_host(self):
        authority = Authority(self.folder)
        other = Authority(self.folder, "other")
        good = authority.issue("good", "IP:127.0.0.1")
        wrong = authority.issue("wrong", "DNS:elsewhere.example")
        late = authority.issue("late", "IP:127.0.0.1", days=0)
        for pair, ca in ((good, other), (wrong, authority), (late, authority)):
            with self.subTest(pair=pair.certificate.name, ca=ca.certificate.name):
                endpoint = self.endpoint(certificate=pair.both())
                self.check_unreachable(endpoint.url(), "SSL|certificate", push_ca=ca.certificate)
                self.assertEqual(endpoint.requests.qsize(), 0)
        with self.subTest("the system's"):
            endpoint = self.endpoint(certificate=good.both())
            self.check_unreachable(endpoint.url(), "SSL|certificate")
        with self.subTest("good"):
            endpoint = self.endpoint(certificate=good.both())
            client = self.start(endpoint.url(), push_ca=authority.certificate)
            client.put("q", b"body")
            self.assertEqual(endpoint.next().body, b"body")


class Life(Case):
    def test_job_is_sent_again_after_a_crash(self):
        gate = threading.Event()
        came = threading.Event()
        self.stack.callback(gate.set)

        def answer(request):
            came.set()
            if request.headers["X-Tandem-Queue"] == "q" and not gate.is_set():
                gate.wait()
            request.reply(200)

        endpoint = self.endpoint(answer)
        journal = f"journal.dir={self.folder}/journal"
        client = self.start(endpoint.url(), journal)
        job = client.put("q", b"body")
        self.assertTrue(came.wait(SECONDS))
        pid = self.broker.expect(r" started .*pid=(\d+)")[1]
        os.kill(int(pid), signal.SIGKILL)
        self.broker.process.wait()
        self.broker.reader.join()
        self.broker.process.stderr.close()
        self.broker = None
        gate.set()
        first = endpoint.next()
        client = self.begin(journal)
        again = endpoint.next()
        self.assertEqual(again.body, b"body")
        self.assertEqual(again.headers["webhook-id"], first.headers["webhook-id"])
        until(lambda: client.stats(job) is None)

    def test_stop_waits_some_time_for_responses(self):
        came = threading.Event()

        def answer(request):
            broker = self.broker
            came.set()
            broker.expect(" stopping ")
            request.reply(200)

        endpoint = self.endpoint(answer)
        journal = f"journal.dir={self.folder}/journal"
        client = self.start(endpoint.url(), journal)
        job = client.put("q", b"body")
        self.assertTrue(came.wait(SECONDS))
        client.close()
        self.stop()
        client = self.begin(journal)
        self.assertIsNone(client.stats(job))

    def test_stop_gives_back_jobs_without_a_response(self):
        gate = threading.Event()
        came = threading.Event()
        self.stack.callback(gate.set)

        def answer(request):
            came.set()
            gate.wait()

        endpoint = self.endpoint(answer)
        journal = f"journal.dir={self.folder}/journal"
        client = self.start(endpoint.url(), journal)
        job = client.put("q", b"body")
        self.assertTrue(came.wait(SECONDS))
        client.close()
        self.stop()
        self.config.write_text("")
        client = self.begin(journal)
        self.assertEqual(client.stats(job)["state"], "ready")

    def test_endpoints_change_while_requests_are_sent(self):
        gate = threading.Event()
        came = threading.Event()
        self.stack.callback(gate.set)

        def answer(request):
            came.set()
            gate.wait()
            request.reply(200, b"late")

        old = self.endpoint(answer)
        new = self.endpoint()
        client = self.start(old.url())
        first = client.put("q", b"first")
        self.assertTrue(came.wait(SECONDS))
        self.write(new.url())
        self.broker.process.send_signal(signal.SIGHUP)
        self.broker.expect(" reloaded ")
        second = client.put("q", b"second")
        self.assertEqual(new.next().body, b"second")
        until(lambda: client.stats(second) is None)
        self.assertEqual(client.stats(first)["state"], "reserved")
        gate.set()
        until(lambda: client.stats(first) is None)
        # Then there is no endpoint.
        self.config.write_text("")
        after = len(self.broker.log())
        self.broker.process.send_signal(signal.SIGHUP)
        self.broker.expect(" reloaded ", after)
        third = client.put("q", b"third")
        time.sleep(0.2)
        self.assertEqual(client.stats(third)["state"], "ready")

    def test_draining_broker_continues_to_send(self):
        endpoint = self.endpoint(lambda request: request.reply(503))
        client = self.start(endpoint.url(), max_attempts=100)
        job = client.put("q", b"body")
        endpoint.next()
        self.broker.process.send_signal(signal.SIGUSR1)
        self.broker.expect(" draining ")
        endpoint.answer = lambda request: request.reply(200)
        until(lambda: client.stats(job) is None)

    def test_wrong_settings_change_nothing(self):
        endpoint = self.endpoint()
        client = self.start(endpoint.url())
        for key, value in (("push_secret", "whsec_short"), ("push_secret_file", self.folder / "missing"),
                           ("push_ca", self.config)):
            with self.subTest(key=key):
                url = endpoint.url().replace("http:", "https:")
                self.write(url, **{key: value})
                after = len(self.broker.log())
                self.broker.process.send_signal(signal.SIGHUP)
                self.broker.expect(f"reload_failed .*{key}", after)
                client.put("q", b"body")
                self.assertEqual(endpoint.next().body, b"body")


if __name__ == "__main__":
    unittest.main(verbosity=2)
