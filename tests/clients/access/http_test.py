#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rights of HTTP clients, with curl and with persistent connections: rules for all protocols,
and tokens of http.tokens beside them."""

import hashlib
import http.client
import re
import signal
import subprocess
import unittest

from access_bed import RELOADED, AccessCase, rule
from broker import SECONDS

HORSE = b"horse-horse-horse-horse"
CAMEL = b"camel-camel-camel-camel"
BACKGROUND = "X-Gearman-Background: 1"


def bearer(token):
    return "Authorization: Bearer " + token.decode()


class HttpTest(AccessCase):
    """HTTP is taken by plain TCP, by TLS and at a unix socket, in this order; beanstalk clients by
    plain TCP."""

    def serve(self, rules=None, tokens=None, *settings):
        settings = [*settings, "server.socket_mode=0666", "tls.client_certs=optional",
                    f"tls.client_ca={self.authority.certificate}"]
        self.tokens = self.folder / "tokens"
        self.config.write_text("[server]\n")
        if rules is not None:
            self.rules.write_text(rules)
            settings.append(f"server.access_file={self.rules}")
        if tokens is not None:
            self.tokens.write_text(tokens)
            settings.append(f"http.tokens={self.tokens}")
        broker = self.start(*settings, config=self.config, listen=[
            "beanstalk.listen=127.0.0.1:0", "gearman.listen=",
            f"http.listen=127.0.0.1:0 tls:127.0.0.1:0 unix:{self.socket}", "admin.listen="])
        addresses = broker.addresses["http"]
        self.plain, self.secure = f"http://{addresses[0]}", f"https://{addresses[1]}"
        return broker

    def curl(self, url, *headers, method="POST", options=()):
        """The status, and the headers as one text."""
        command = ["curl", "--silent", "--show-error", "--include", "--request", method, "--cacert",
                   str(self.authority.certificate), *options, url]
        for header in headers:
            command += ["--header", header]
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True, text=True)
        return int(done.stdout.split()[1]), done.stdout

    def status(self, *arguments, **options):
        return self.curl(*arguments, **options)[0]

    def submit(self, function, *headers, origin=None, options=()):
        return self.status(f"{origin or self.plain}/{function}", BACKGROUND, *headers,
                           options=options)

    def handle(self, function, token):
        _, head = self.curl(f"{self.plain}/{function}", BACKGROUND, bearer(token))
        return re.search(r"X-Gearman-Job-Handle: (\S+)", head)[1]

    def test_tokens_of_both_files_are_good(self):
        self.serve(rule("horse", HORSE, "submit stable.*") + "any submit public\n",
                   f"{hashlib.sha256(CAMEL).hexdigest()} desert,oasis\n")
        self.assertEqual(self.submit("stable.a", bearer(HORSE)), 200)
        self.assertEqual(self.submit("desert", bearer(HORSE)), 403)
        self.assertEqual(self.submit("desert", bearer(CAMEL)), 200)
        self.assertEqual(self.submit("stable.a", bearer(CAMEL)), 403)
        self.assertEqual(self.submit("public"), 200)
        self.assertEqual(self.submit("desert"), 401)
        self.assertEqual(self.submit("public", bearer(b"neither")), 401)

    def test_http_tokens_alone_ask_everybody_for_one(self):
        self.serve(tokens=f"{hashlib.sha256(CAMEL).hexdigest()} desert\n")
        status, head = self.curl(f"{self.plain}/desert")
        self.assertEqual(status, 401)
        self.assertIn("WWW-Authenticate: Bearer", head)
        self.assertEqual(self.submit("desert", bearer(CAMEL)), 200)
        self.assertEqual(self.submit("other", bearer(CAMEL)), 403)
        self.assertEqual(self.submit("desert", options=["--unix-socket", str(self.socket)]), 401)

    def test_the_job_of_another_queue_is_not_there(self):
        self.serve(rule("horse", HORSE, "submit,operate stable") + rule("camel", CAMEL, "submit *"))
        for function, seen in ("stable", 200), ("desert", 404):
            page = f"{self.plain}/-/jobs/{self.handle(function, CAMEL)}"
            self.assertEqual(self.status(page, bearer(CAMEL), method="GET"), 200)
            self.assertEqual(self.status(page, bearer(HORSE), method="GET"), seen)
            self.assertEqual(self.status(page, bearer(CAMEL), method="DELETE"), 403)
            self.assertEqual(self.status(page, bearer(HORSE), method="DELETE"),
                             204 if seen == 200 else 404)
            self.assertEqual(self.status(page, method="GET"), 401)

    def test_what_is_not_offered_is_not_there(self):
        self.serve("any admin *\n", None, "http.functions=stable")
        self.assertEqual(self.submit("stable"), 200)
        self.assertEqual(self.submit("desert"), 403)
        broker = self.beanstalk_put(b"desert")
        self.assertEqual(self.status(f"{self.plain}/-/jobs/{broker}", method="GET"), 404)
        self.assertEqual(self.status(f"{self.plain}/-/jobs/{broker}", method="DELETE"), 404)

    def beanstalk_put(self, tube):
        """The handle of a job that comes by the other protocol; the first one had the same prefix."""
        _, head = self.curl(f"{self.plain}/stable", BACKGROUND)
        handle = re.search(r"X-Gearman-Job-Handle: (\S+):\d+", head)[1]
        client = self.over_tcp(self.broker)
        client.ask(b"use " + tube)
        return f"{handle}:{client.put(b'x').split()[1].decode()}"

    def start(self, *settings, **options):
        self.broker = super().start(*settings, **options)
        return self.broker

    def test_a_certificate_is_known_and_forbidden_what_it_may_not(self):
        self.serve("cert:horse.example submit stable\n")
        shown = self.certificate("horse.example")
        self.assertEqual(self.submit("stable", origin=self.secure, options=shown), 200)
        self.assertEqual(self.submit("desert", origin=self.secure, options=shown), 403)
        self.assertEqual(self.submit("stable", origin=self.secure), 401)
        self.assertEqual(self.submit("stable"), 401)
        other = self.certificate("camel.example")
        self.assertEqual(self.submit("stable", origin=self.secure, options=other), 403)

    def test_a_page_cannot_use_the_certificate_of_its_browser(self):
        self.serve("cert:horse.example submit stable\n" + rule("camel", CAMEL, "submit stable"))
        shown = self.certificate("horse.example")
        for header in "Origin: https://evil.example", "Host: evil.example":
            self.assertEqual(self.submit("stable", header, origin=self.secure, options=shown), 403)
            self.assertEqual(self.submit("stable", header, bearer(CAMEL), origin=self.secure,
                                         options=shown), 200)

    def certificate(self, name):
        pair = self.authority.issue(name, subject=f"/CN={name}")
        return ["--cert", str(pair.certificate), "--key", str(pair.key)]

    def kept(self, broker):
        """A connection that is used again."""
        host, port = broker.addresses["http"][0].split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
        self.addCleanup(connection.close)
        return connection

    def ask(self, connection, function, token=None, background=True):
        headers = {"Authorization": f"Bearer {token.decode()}"} if token else {}
        if background:
            headers["X-Gearman-Background"] = "1"
        connection.request("POST", f"/{function}", b"x", headers)
        return connection

    def answer(self, connection):
        answer = connection.getresponse()
        return answer.status, answer.read()

    def test_requests_of_one_connection_have_each_their_own_rights(self):
        broker = self.serve(rule("horse", HORSE, "submit stable") +
                            rule("camel", CAMEL, "submit desert"))
        connection = self.kept(broker)
        for function, token, status in (("stable", HORSE, 200), ("desert", CAMEL, 200),
                                        ("stable", None, 401), ("stable", HORSE, 200)):
            self.assertEqual(self.answer(self.ask(connection, function, token))[0], status)
            if status == 401:
                connection = self.kept(broker)

    def reload(self, broker):
        count = len(broker.log())
        broker.process.send_signal(signal.SIGHUP)
        self.assertIsNotNone(broker.expect(RELOADED, count))

    def test_rules_that_change_hold_for_the_next_request(self):
        broker = self.serve(rule("horse", HORSE, "submit *") + "any observe,work *\n",
                            f"{hashlib.sha256(CAMEL).hexdigest()} *\n")
        horse, camel = self.kept(broker), self.kept(broker)
        self.ask(horse, "stable", HORSE, background=False)
        worker = self.over_tcp(broker)
        worker.ask(b"watch stable")
        job = worker.ask(b"reserve").split()[1]
        worker.stream.read(3)
        self.assertEqual(self.answer(self.ask(camel, "desert", CAMEL))[0], 200)
        self.rules.write_text("any observe,work *\n")
        self.tokens.write_text("")
        self.reload(broker)
        self.assertEqual(worker.ask(b"delete " + job), b"DELETED")
        self.assertEqual(self.answer(horse), (200, b""))
        self.assertEqual(self.answer(self.ask(horse, "stable", HORSE))[0], 401)
        self.assertEqual(self.answer(self.ask(camel, "desert", CAMEL))[0], 401)


if __name__ == "__main__":
    unittest.main()
