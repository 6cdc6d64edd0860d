#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Certificates that are good and others: the broker's, which clients judge, and clients', which the
broker judges."""

import ssl

import bed
import certificates
from bed import FAILED, TlsCase

# The reasons in the broker's log for refused client certificates.
COMPLAINTS = {
    "missing": "peer did not return a certificate",
    "expired": "certificate has expired",
    "self-signed": "self.signed certificate",
    "of another authority": "unable to get local issuer certificate",
}


class ServerTest(TlsCase):
    def refused(self, pair, authority=None):
        """Why a client refuses a broker that has this certificate; the broker's log says so."""
        broker = self.start(pair=pair)
        with self.assertRaises(ssl.SSLCertVerificationError) as caught:
            self.connect(broker, context=self.context(authority=authority))
        broker.expect(FAILED + ".*protocol=beanstalk.* why=.*alert")
        return caught.exception.verify_message

    def test_a_certificate_of_another_name_is_refused(self):
        self.assertIn("IP address mismatch",
                      self.refused(self.authority.issue("elsewhere", "DNS:elsewhere.example")))

    def test_a_certificate_that_has_expired_is_refused(self):
        self.assertIn("expired",
                      self.refused(self.authority.issue("late", certificates.LOCAL, days=0)))

    def test_a_certificate_of_an_unknown_authority_is_refused(self):
        self.assertIn("self-signed", self.refused(self.authority.self_signed("alone")))
        stranger = certificates.Authority(self.folder, "stranger")
        self.assertIn("issuer", self.refused(self.server, stranger))

    def test_authorities_between_are_sent_with_the_certificate(self):
        self.authority.issue("between", extensions=certificates.AUTHORITY)
        between = certificates.Authority(self.folder, "between")
        server = between.issue_server("below")
        chain = server.certificate.read_bytes() + between.certificate.read_bytes()
        server.certificate.write_bytes(chain)
        self.assert_served(self.start(pair=server))

    def test_certificate_and_key_may_be_in_one_file(self):
        both = self.folder / "both.pem"
        both.touch(0o600)
        both.write_bytes(self.server.certificate.read_bytes() + self.server.key.read_bytes())
        self.assert_served(self.start(f"tls.certificate={both}", "tls.key="))


class ClientTest(TlsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.good = cls.authority.issue("client", "DNS:worker.example,email:worker@localhost")
        stranger = certificates.Authority(cls.folder, "stranger")
        cls.bad = {
            "expired": cls.authority.issue("expired", days=0),
            "self-signed": cls.authority.self_signed("alone"),
            "of another authority": stranger.issue("strange"),
        }

    def start_asking(self, client_certs, *settings):
        return self.start(f"tls.client_ca={self.authority.certificate}",
                          f"tls.client_certs={client_certs}", "server.log_level=debug", *settings)

    def assert_refused(self, kind, client_certs, version, protocol="beanstalk"):
        """A client with a certificate of this kind is refused, and the log says why."""
        broker = self.start_asking(client_certs)
        context = self.context(self.bad.get(kind), least=version, most=version)
        self.assert_turned_away(broker, context, protocol)
        broker.expect(f"{FAILED}.*protocol={protocol}.* why=.*{COMPLAINTS[kind]}")
        self.assertFalse([line for line in broker.log() if " connected " in line])

    def test_who_must_have_a_certificate_is_refused_without_a_good_one(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for kind in COMPLAINTS:
                with self.subTest(kind, version=version.name):
                    self.assert_refused(kind, "required", version)

    def test_every_protocol_refuses_who_has_none(self):
        for protocol in bed.PROTOCOLS:
            self.assert_refused("missing", "required", ssl.TLSVersion.TLSv1_3, protocol)

    def test_who_may_have_a_certificate_is_refused_with_a_bad_one_only(self):
        for kind in self.bad:
            with self.subTest(kind):
                self.assert_refused(kind, "optional", ssl.TLSVersion.TLSv1_3)
        broker = self.start_asking("optional")
        self.assert_served(broker)
        broker.expect(" connected .*tls=TLSv1.3")
        self.assertNotIn("subject=", "".join(broker.log()))

    def test_a_good_certificate_s_subject_is_kept_with_the_connection(self):
        for client_certs in ("required", "optional"):
            broker = self.start_asking(client_certs)
            client = self.beanstalk(broker, self.context(self.good))
            self.assertEqual(client.ask(b"list-tube-used"), b"USING default")
            line = broker.expect(" connected .*").string
            self.assertIn("tls=TLSv1.3", line)
            self.assertRegex(line, r'subject="?CN=client,O=Tandem tests')

    def test_a_certificate_that_is_not_requested_is_ignored(self):
        broker = self.start_asking("none")
        for pair in (self.good, self.bad["expired"]):
            client = self.beanstalk(broker, self.context(pair))
            self.assertEqual(client.ask(b"list-tube-used"), b"USING default")
        self.assertNotIn("subject=", "".join(broker.log()))

    def test_who_resumes_a_session_is_who_it_was(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            broker = self.start_asking("required")
            context = self.context(self.good, least=version, most=version)
            first = self.beanstalk(broker, context)
            first.ask(b"list-tube-used")
            broker.expect(" connected .*subject=")
            before = len(broker.log())
            second = self.connect(broker, context=context, session=first.connection.session)
            self.assertTrue(second.session_reused)
            self.assertEqual(bed.Beanstalk(second).ask(b"list-tube-used"), b"USING default")
            self.assertIn(" subject=", broker.expect(" connected ", before).string)


if __name__ == "__main__":
    bed.main()
