#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules and callers change while clients are connected."""

import unittest

from access_bed import REFUSED, AccessCase, rule

HORSE = b"horse-horse-horse-horse"
STAPLE = b"staple-staple-staple"


class ChangeTest(AccessCase):
    def test_new_rules_hold_for_those_who_are_connected(self):
        broker = self.serve("any submit jobs\n")
        client = self.over_tcp(broker)
        self.assert_may(client, "submit")
        self.change(broker, "any work jobs\n")
        self.assert_may(client, "work")
        self.assert_may(self.over_tcp(broker), "work")

    def test_rules_that_are_wrong_change_nothing(self):
        broker = self.serve("any submit jobs\n")
        client = self.over_tcp(broker)
        said = self.change(broker, "any work jobs\nany wrok jobs\n", REFUSED)
        self.assertIn(f"{self.rules}:2: ", said)
        self.assert_may(client, "submit")
        self.assert_may(self.over_tcp(broker), "submit")

    def test_a_worker_whose_token_is_revoked_is_dropped_and_its_job_comes_back(self):
        broker = self.serve(rule("horse", HORSE, "work jobs") + "any submit,observe jobs\n")
        client = self.over_tcp(broker)
        client.ask(b"use jobs")
        self.assertEqual(client.put(b"held"), b"INSERTED 1")
        worker = self.over_tcp(broker)
        self.assertEqual(worker.ask(b"auth " + HORSE), b"OK")
        self.assertEqual(worker.ask(b"watch jobs"), b"WATCHING 2")
        self.assertEqual(worker.body(), b"held")
        worker.send(b"reserve\r\n")
        broker_sees_waiting(client)
        self.change(broker, rule("staple", STAPLE, "work jobs") + "any submit,observe jobs\n")
        self.assertEqual(worker.stream.read(), b"")
        broker.expect(r" warn access_lost conn=\d+ ")
        self.assertEqual(client.body(b"peek-ready"), b"held")
        other = self.over_tcp(broker)
        self.assertEqual(other.ask(b"auth " + HORSE), b"FORBIDDEN")
        self.assertEqual(other.ask(b"auth " + STAPLE), b"OK")
        other.ask(b"watch jobs")
        self.assertEqual(other.body(), b"held")

    def test_a_worker_that_may_still_work_goes_on(self):
        broker = self.serve(rule("horse", HORSE, "work,submit jobs"))
        worker = self.over_tcp(broker)
        worker.ask(b"auth " + HORSE)
        worker.ask(b"use jobs")
        worker.put(b"body")
        worker.ask(b"watch jobs")
        self.assertEqual(worker.body(), b"body")
        self.change(broker, rule("horse", HORSE, "work jobs"))
        self.assertEqual(worker.ask(b"touch 1"), b"TOUCHED")
        self.assertEqual(worker.ask(b"delete 1"), b"DELETED")
        self.assertEqual(worker.put(b"more"), b"FORBIDDEN")

    def test_a_client_may_become_another_and_another(self):
        broker = self.serve(rule("horse", HORSE, "submit jobs") +
                            rule("staple", STAPLE, "work jobs"))
        client = self.over_tcp(broker)
        self.assert_may(client, "")
        for _ in range(2):
            self.assertEqual(client.ask(b"auth " + HORSE), b"OK")
            self.assert_may(client, "submit")
            self.assertEqual(client.ask(b"auth " + STAPLE), b"OK")
            self.assert_may(client, "work")

    def test_after_a_hundred_wrong_tokens_each_waits_and_nothing_is_lost(self):
        broker = self.serve(rule("horse", HORSE, "submit jobs"))
        client = self.over_tcp(broker)
        client.send(b"auth wrong\r\n" * 102 + b"auth " + HORSE + b"\r\nuse jobs\r\n")
        other = self.over_unix()
        self.assertEqual(other.ask(b"auth " + HORSE), b"OK")
        self.assertEqual([client.line() for _ in range(104)],
                         [b"FORBIDDEN"] * 102 + [b"OK", b"USING jobs"])
        broker.expect(r" warn token_delayed conn=\d+ peer=127\.0\.0\.1 ")

    def test_commands_before_a_token_in_the_same_packet_are_not_its_owners(self):
        broker = self.serve(rule("horse", HORSE, "submit jobs") + "any observe jobs\n")
        client = self.over_tcp(broker)
        put = b"put 0 0 60 1\r\nx\r\n"
        client.send(b"use jobs\r\n" + put + b"auth " + HORSE + b"\r\n" + put)
        self.assertEqual([client.line() for _ in range(4)],
                         [b"USING jobs", b"FORBIDDEN", b"OK", b"INSERTED 1"])


def broker_sees_waiting(client):
    """Until one waits for a job of `jobs`."""
    while b"current-waiting: 1" not in client.body(b"stats-tube jobs"):
        pass


if __name__ == "__main__":
    unittest.main()
