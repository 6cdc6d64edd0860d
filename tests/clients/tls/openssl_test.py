#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`openssl s_client` against every port, with what no library does by itself: renegotiation, new
keys in between, sessions in a file, early data."""

import os
import subprocess

import bed
from bed import PROTOCOLS, SECONDS, TlsCase

QUESTIONS = {
    "beanstalk": (b"list-tube-used\r\nquit\r\n", "USING default"),
    "gearman": (b"version\n", "OK "),
    "http": (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 40"),
    "admin": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 200"),
}


class Talk:
    """A `s_client` that is typed to: a line R, K or k is a command to it."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.said = b""

    def type(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def expect(self, text):
        """Reads until it has said that; False if it ends before."""
        while text not in self.said:
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                return False
            self.said += piece
        self.said = self.said.partition(text)[2]
        return True

    def end(self):
        self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class OpensslTest(TlsCase):
    def command(self, broker, *options, protocol="beanstalk"):
        return ["openssl", "s_client", "-connect", broker.addresses[protocol][0], "-CAfile",
                str(self.authority.certificate), "-verify_return_error", *map(str, options)]

    def said(self, broker, *options, data=b"", protocol="beanstalk"):
        """Its output until the broker has answered and closed the connection."""
        done = subprocess.run(self.command(broker, *options, "-ign_eof", protocol=protocol),
                              input=data, timeout=SECONDS, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return done.stdout.decode(errors="replace")

    def talk(self, broker, *options, protocol="beanstalk"):
        talk = Talk(self.command(broker, *options, protocol=protocol))
        self.addCleanup(talk.end)
        return talk

    def test_every_protocol_answers_with_either_version(self):
        broker = self.start()
        for version in ("-tls1_2", "-tls1_3"):
            for protocol in PROTOCOLS:
                question, answer = QUESTIONS[protocol]
                talk = self.talk(broker, version, "-verify_ip", bed.HOST, protocol=protocol)
                self.assertTrue(talk.expect(b"Verify return code: 0 (ok)"))
                talk.type(question)
                self.assertTrue(talk.expect(answer.encode()), talk.said)

    def test_a_wrong_name_is_seen(self):
        self.assertIn("hostname mismatch",
                      self.said(self.start(), "-verify_hostname", "elsewhere.example"))

    def test_a_session_in_a_file_is_resumed(self):
        broker = self.start()
        quit_at_once = b"list-tube-used\r\nquit\r\n"
        for version in ("-tls1_2", "-tls1_3"):
            file = self.folder / f"session{version}"
            first = self.said(broker, version, "-sess_out", file, data=quit_at_once)
            self.assertIn("New, TLSv1", first)
            second = self.said(broker, version, "-sess_in", file, data=quit_at_once)
            self.assertIn("Reused, TLSv1", second)
            self.assertIn("USING default", second)

    # It could be sent twice by somebody who has recorded it.
    def test_data_before_the_handshake_is_over_is_not_taken(self):
        broker = self.start()
        file = self.folder / "session"
        early = self.folder / "early"
        early.write_bytes(b"put 0 0 60 1\r\nx\r\n")
        question = b"list-tube-used\r\nquit\r\n"
        self.said(broker, "-tls1_3", "-sess_out", file, data=question)
        self.said(broker, "-tls1_3", "-sess_in", file, "-early_data", early, data=question)
        self.assertEqual(self.beanstalk(broker).ask(b"reserve-with-timeout 0"), b"TIMED_OUT")

    def test_renegotiation_is_refused_without_effect_on_other_clients(self):
        broker = self.start()
        settled = self.beanstalk(broker)
        for _ in range(5):
            talk = self.talk(broker, "-tls1_2")
            talk.type(b"list-tube-used\r\n")
            self.assertTrue(talk.expect(b"USING default"))
            talk.type(b"R\n")
            self.assertTrue(talk.expect(b"RENEGOTIATING"))
            self.assertFalse(talk.expect(b"verify return:1"))
        self.assertEqual(settled.ask(b"list-tube-used"), b"USING default")

    # K asks for new keys of the broker, too: it has to write where it only reads.
    def test_new_keys_may_come_at_any_time(self):
        talk = self.talk(self.start(), "-tls1_3")
        for wish in (b"K\n", b"k\n") * 10:
            talk.type(wish)
            self.assertTrue(talk.expect(b"KEYUPDATE"))
            talk.type(b"list-tube-used\r\n")
            self.assertTrue(talk.expect(b"USING default"))

    def test_a_body_that_is_piped_in_arrives_whole(self):
        broker = self.start("beanstalk.max_job_size=16M")
        body = bytes(range(256)) * 4096
        said = self.said(broker, "-quiet",
                         data=b"put 0 0 60 %d\r\n%s\r\nquit\r\n" % (len(body), body))
        self.assertIn("INSERTED 1", said)
        self.assertEqual(self.beanstalk(broker).body(), body)


if __name__ == "__main__":
    bed.main()
