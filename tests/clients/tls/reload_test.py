#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files of TLS are read again on SIGHUP, and looked at before anything else happens."""

import os
import shutil
import signal
import ssl
import subprocess
import threading

import bed
import certificates
from bed import Records, TlsCase

RELOADED = r" info reloaded "


class ReloadTest(TlsCase):
    def setUp(self):
        """The broker reads copies, whose names stay."""
        self.pair = certificates.Pair(self.folder, "current")
        self.use(self.server)
        self.config = self.folder / "tandemd.conf"

    def start_with_file(self, text=""):
        """A broker that reads a file, since otherwise there is nothing to be read again."""
        self.config.write_text(text)
        return self.start(pair=self.pair, config=self.config)

    def use(self, pair):
        shutil.copy(pair.certificate, self.pair.certificate)
        shutil.copy(pair.key, self.pair.key)

    def reload(self, broker, said=RELOADED):
        """The lines of the log about it."""
        count = len(broker.log())
        broker.process.send_signal(signal.SIGHUP)
        found = broker.expect(said, count)
        self.assertIsNotNone(found)
        return found.string

    def shown(self, broker, **options):
        """The name on the certificate that a new client is shown."""
        context = self.context(**options)
        context.check_hostname = False
        subject = self.connect(broker, context=context).getpeercert()["subject"]
        return dict(pair for part in subject for pair in part)["commonName"]

    def test_new_handshakes_use_the_new_certificate_and_open_connections_go_on(self):
        broker = self.start_with_file()
        client = self.beanstalk(broker)
        client.put(b"before")
        self.use(self.authority.issue_server("second"))
        self.reload(broker)
        self.assertEqual(self.shown(broker), "second")
        self.assertEqual(client.body(), b"before")

    def test_a_new_time_for_handshakes_holds_for_those_that_have_begun(self):
        broker = self.start_with_file("[server]\nhandshake_timeout = 3600\n")
        connection = self.connect_plain(broker)
        self.assert_served(broker)
        self.config.write_text("[server]\nhandshake_timeout = 1\n")
        self.reload(broker)
        self.assert_ended(connection)
        broker.expect(bed.FAILED + ".*why=timeout")

    def test_a_handshake_that_has_begun_is_finished(self):
        broker = self.start_with_file()
        clients = []
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context(least=version, most=version)
            client = Records(self.connect_plain(broker), context)
            with self.assertRaises(ssl.SSLWantReadError):
                client.tls.do_handshake()
            client.flush()
            client.receive()
            clients.append(client)
        self.use(self.authority.issue_server("second"))
        self.reload(broker)
        for client in clients:
            client.shake()
            client.send(b"list-tube-used\r\n")
            self.assertEqual(client.read(), b"USING default\r\n")

    def test_files_that_are_no_good_change_nothing_and_are_named(self):
        broker = self.start_with_file()
        other = self.authority.issue_server("second")
        for file, spoil in ((self.pair.certificate, lambda file: file.write_text("nothing\n")),
                            (self.pair.certificate, lambda file: file.unlink()),
                            (self.pair.key, lambda file: file.write_text("nothing\n")),
                            (self.pair.key, lambda file: file.unlink()),
                            (self.pair.key, lambda file: shutil.copy(other.key, file)),
                            (self.pair.key, self.encrypt)):
            spoil(file)
            said = self.reload(broker, r" (warn|error) .*" + file.name)
            self.assertEqual(self.shown(broker), "server", said)
            self.use(self.server)
        self.use(other)
        self.reload(broker)
        self.assertEqual(self.shown(broker), "second")

    @staticmethod
    def encrypt(file):
        """Encrypts the key with a passphrase, which the broker cannot ask for."""
        certificates.openssl("pkcs8", "-topk8", "-in", file, "-out", f"{file}.new",
                             "-passout", "pass:secret")
        os.replace(f"{file}.new", file)

    def test_clients_that_come_meanwhile_are_shown_one_or_the_other(self):
        broker = self.start_with_file()
        context = self.context()
        second = self.authority.issue_server("second")
        failed = []

        def come():
            for _ in range(60):
                try:
                    self.assertEqual(self.beanstalk(broker, context).ask(b"list-tube-used"),
                                     b"USING default")
                except (AssertionError, OSError) as problem:
                    failed.append(problem)

        crowd = [threading.Thread(target=come) for _ in range(3)]
        for one in crowd:
            one.start()
        while any(one.is_alive() for one in crowd):
            self.use(second)
            self.reload(broker)
            self.use(self.server)
            self.reload(broker)
        self.assertEqual(failed, [])

    def test_a_new_least_version_holds_from_then_on(self):
        broker = self.start_with_file("[tls]\nmin_version = 1.2\n")
        old = self.context(most=ssl.TLSVersion.TLSv1_2)
        client = self.beanstalk(broker, old)
        self.config.write_text("[tls]\nmin_version = 1.3\n")
        self.reload(broker)
        with self.assertRaises(ssl.SSLError):
            self.connect(broker, context=old)
        self.assertEqual(client.ask(b"list-tube-used"), b"USING default")
        self.assert_served(broker)

    def test_certificates_of_clients_can_be_asked_for_from_then_on(self):
        broker = self.start_with_file()
        context = self.context()
        client = self.beanstalk(broker, context)
        client.ask(b"list-tube-used")
        self.config.write_text(f"[tls]\nclient_ca = {self.authority.certificate}\n"
                               "client_certs = required\n")
        self.reload(broker)
        # Not even by a session of before.
        self.assert_turned_away(broker, context, session=client.connection.session)
        self.assertEqual(client.ask(b"list-tube-used"), b"USING default")
        known = self.context(self.authority.issue("client"))
        self.assertEqual(self.beanstalk(broker, known).ask(b"list-tube-used"), b"USING default")

    def test_a_session_does_not_outlive_the_authority_that_vouched_for_it(self):
        asks = "[tls]\nclient_certs = required\nclient_ca = "
        broker = self.start_with_file(f"{asks}{self.authority.certificate}\n")
        context = self.context(self.authority.issue("client"))
        client = self.beanstalk(broker, context)
        client.ask(b"list-tube-used")
        stranger = certificates.Authority(self.folder, "stranger")
        self.config.write_text(f"{asks}{stranger.certificate}\n")
        self.reload(broker)
        self.assert_turned_away(broker, context, session=client.connection.session)

    def test_a_session_of_before_is_resumed_or_begun_anew_but_never_refused(self):
        broker = self.start_with_file()
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.context(least=version, most=version)
            first = self.beanstalk(broker, context)
            first.ask(b"list-tube-used")
            self.reload(broker)
            second = self.connect(broker, context=context, session=first.connection.session)
            self.assertEqual(bed.Beanstalk(second).ask(b"list-tube-used"), b"USING default")


class StartTest(TlsCase):
    def run_with(self, *settings, more=()):
        """A broker that ends by itself: what it prints, and its exit code."""
        words = [word for setting in ("gearman.listen=", "http.listen=", "admin.listen=",
                                      "beanstalk.listen=tls:127.0.0.1:0", *settings)
                 for word in ("--set", setting)]
        return subprocess.run([os.environ["TANDEMD"], "--config", os.devnull, *words, *more],
                              check=False, capture_output=True, text=True, timeout=bed.SECONDS)

    def assert_refused(self, named, *settings):
        for more in ([], ["--check-config"]):
            done = self.run_with(*settings, more=more)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(named, done.stderr)

    def test_a_file_that_is_no_good_is_an_error_at_the_start_and_for_check_config(self):
        bad = self.folder / "bad.pem"
        bad.write_text("nothing\n")
        certificate, key = (f"tls.certificate={self.server.certificate}",
                            f"tls.key={self.server.key}")
        self.assert_refused("bad.pem", f"tls.certificate={bad}", key)
        self.assert_refused("bad.pem", certificate, f"tls.key={bad}")
        self.assert_refused("bad.pem", certificate, key, "tls.client_certs=required",
                            f"tls.client_ca={bad}")

    def test_an_address_with_tls_needs_a_certificate(self):
        self.assert_refused("certificate")

    def test_check_config_takes_good_files(self):
        done = self.run_with(f"tls.certificate={self.server.certificate}",
                             f"tls.key={self.server.key}", more=["--check-config"])
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    bed.main()
