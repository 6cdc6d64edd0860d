#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whom the broker takes a client for, and what that allows it to do."""

import os
import unittest

from access_bed import AccessCase, rule

ALL = "submit work observe operate"
NOBODY = 65534
SOME_GROUP = 54321  # which need not be known to the system
HORSE = b"horse-horse-horse-horse"


def names_extension(*names):
    """Alternative names as they stand, each with its kind: 1 is an e-mail address, 2 a host. What
    openssl reads from text could not have what is in some of these."""
    inside = b"".join(bytes([0x80 + kind, len(name)]) + name for kind, name in names)
    return "subjectAltName=DER:" + (bytes([0x30, len(inside)]) + inside).hex(":")


class WhoTest(AccessCase):
    def test_what_no_rule_allows_is_refused_to_all(self):
        broker = self.serve("# no client may do anything\n")
        for client in (self.over_tcp(broker), self.over_tls(broker), self.over_unix()):
            self.assert_may(client, "")

    def test_any_is_whoever_comes(self):
        broker = self.serve("any observe,submit jobs\n")
        for client in (self.over_tcp(broker), self.over_tls(broker), self.over_unix()):
            self.assert_may(client, "observe submit")
            self.assert_may(client, "", b"others")

    def test_net_is_where_a_client_comes_from(self):
        broker = self.serve("net:127.0.0.0/8 work jobs\nnet:10.0.0.0/8 submit jobs\n"
                            "net:::/0 operate jobs\n")
        self.assert_may(self.over_tcp(broker), "work")
        self.assert_may(self.over_tls(broker), "work")
        self.assert_may(self.over_unix(), "")

    def test_user_is_who_has_connected_to_a_unix_socket(self):
        broker = self.serve(f"user:{os.geteuid()} work jobs\nuser:{NOBODY} submit jobs\n")
        self.assert_may(self.over_unix(), "work")
        self.assert_may(self.over_tcp(broker), "")
        self.assert_may(self.over_unix_as(NOBODY), "submit")

    def test_group_is_any_group_of_that_user(self):
        self.serve(f"group:{SOME_GROUP} work jobs\ngroup:{os.getegid()} observe jobs\n")
        self.assert_may(self.over_unix(), "observe")
        self.assert_may(self.over_unix_as(NOBODY, [SOME_GROUP]), "work observe")
        self.assert_may(self.over_unix_as(NOBODY, range(100, 300)), "observe")
        self.assert_may(self.over_unix_as(NOBODY, [*range(100, 300), SOME_GROUP]), "work observe")

    def test_token_applies_only_to_the_client_that_has_sent_it(self):
        broker = self.serve(rule("horse", HORSE, "work jobs") + "net:0.0.0.0/0 submit jobs\n"
                            "any observe jobs\n")
        client = self.over_tcp(broker)
        self.assert_may(client, "submit observe")
        self.assertEqual(client.ask(b"auth " + HORSE), b"OK")
        self.assert_may(client, "work observe")
        self.assertEqual(client.ask(b"auth horse"), b"FORBIDDEN")
        self.assert_may(client, "work observe")
        broker.expect(r" debug caller conn=\d+ who=127\.0\.0\.1\s")
        broker.expect(r" debug caller conn=\d+ token=horse\s")
        broker.expect(r" warn wrong_token ")
        self.assertNotIn(HORSE.decode(), "".join(broker.log()))

    def test_cert_is_any_name_in_the_certificate(self):
        broker = self.serve("cert:worker-*.example work jobs\ncert:ops@example.org operate jobs\n"
                            "cert:192.0.2.7 observe jobs\nany submit jobs\n")
        for number, (name, alt_names, rights) in enumerate((
                ("worker-1.example", "", "submit work"),
                ("client", "DNS:other.example,DNS:worker-2.example", "submit work"),
                ("client", "email:ops@example.org,IP:192.0.2.7", "submit operate observe"),
                ("client", "DNS:worker-3.example.org", "submit"))):
            pair = self.authority.issue(f"client{number}", alt_names, subject=f"/CN={name}")
            self.assert_may(self.over_tls(broker, pair), rights)
        self.assert_may(self.over_tls(broker), "submit")
        self.assert_may(self.over_tcp(broker), "submit")
        broker.expect(r' debug caller conn=\d+ cert="CN=worker-1\.example"\s')

    def test_a_name_that_only_looks_like_another_is_not_the_other(self):
        broker = self.serve("cert:admin.example admin *\ncert:admin.example* admin *\n"
                            "cert:x@admin.example admin *\n")
        for number, names in enumerate((
                [(2, b"admin.example\0.evil.example")],
                [(2, b"x\0admin.example")],
                [(2, b"x, DNS:admin.example")],
                [(1, b"a@b.example, DNS:admin.example")],
                [(1, b"x@admin.example\0@evil.example")],
                [(1, b"admin.example\n")],
                [(2, b" admin.example"), (2, b"admin_example")])):
            pair = self.authority.issue(f"odd{number}", subject="/CN=x",
                                        extensions=[names_extension(*names)])
            self.assert_may(self.over_tls(broker, pair), "")
        pair = self.authority.issue("odd", subject="/CN=a\\/CN=admin.example")
        self.assert_may(self.over_tls(broker, pair), "")
        pair = self.authority.issue("good", subject="/CN=x",
                                    extensions=[names_extension((2, b"admin.example"))])
        self.assert_may(self.over_tls(broker, pair), ALL)


if __name__ == "__main__":
    unittest.main()
