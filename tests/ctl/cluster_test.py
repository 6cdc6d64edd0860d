# SPDX-License-Identifier: MIT
"""tandemctl cluster and handover: a journal that several brokers share."""

import json
import unittest

import program
import samples

CLUSTER, HANDOVER = "/api/v1/cluster", "/api/v1/cluster/handover"


class Cluster(program.WithApi):
    def test_a_broker_without_a_shared_journal_says_so(self):
        self.assertIn("does not share", self.good("cluster"))

    def test_it_shows_who_owns_the_journal_and_how_far_behind_each_is(self):
        self.api.cluster = samples.cluster()
        said = self.good("cluster")
        for words in (r"role +owner of main", r"owner +one", r"epoch +7", r"lease +4.5 s left",
                      r"rows +12,345, 0 of them not received yet", r"proxied +3 connections, 70 so far",
                      r"database +connected", r"wait for a disk and a second server",
                      r"synchronous_commit = on", r"syncs +9, ",
                      r"\n\s*one +owner +7 +0 +500 ms +beanstalk=one:11300\n",
                      r"\n\s*two +standby +7 +1,200 +500 ms +beanstalk=two:11300\n"):
            self.assertRegex(said, words)
        self.assertEqual(json.loads(self.good("cluster", "--json")), self.api.cluster)
        self.api.cluster["members"][1]["takes_over"] = False
        self.assertRegex(self.good("cluster"), r"\n\s*two +standby only +7 ")

    def test_what_a_person_should_know_is_said(self):
        self.api.cluster = samples.cluster("standby", owner=None, behind=40, database={
            "connected": False, "why": "no route to host", "durable": True, "replicated": False, "trusted": False,
            "settings": "synchronous_standby_names is empty", "syncs": samples.histogram()})
        said = self.good("cluster")
        for words in (r"role +standby of main", r"owner +none", r"40 of them not received yet",
                      r"database +cannot be reached\n +no route to host",
                      r"wait for a disk of one server only"):
            self.assertRegex(said, words)


class Handover(program.WithApi):
    def setUp(self):
        super().setUp()
        self.api.cluster = samples.cluster()
        # The later answers of /api/v1/cluster, in order.
        self.then = []
        self.api.overrides["POST", HANDOVER] = self.hand_over

    def hand_over(self, _):
        self.api.overrides["GET", CLUSTER] = self.look
        return 202, {"from": "one", "epoch": 7}

    def look(self, _):
        return self.then.pop(0) if len(self.then) > 1 else self.then[0]

    def test_it_waits_until_another_owns_the_journal_and_says_how_long_that_took(self):
        taken = samples.cluster("standby", "two", epoch=8)
        self.then = [(200, samples.cluster()),
                     (200, samples.cluster("opening", None, epoch=7)), (200, taken)]
        self.assertRegex(self.good("handover"),
                         r"^two owns the journal now \(epoch 8\), after \d+\.\d\d s\.\n$")
        self.then = [(200, taken)]
        self.assertEqual(json.loads(self.good("handover", "--json")), taken)

    def test_a_broker_that_does_not_answer_for_a_moment_is_asked_again(self):
        def close(handler):
            handler.close_connection = True
            handler.connection.close()

        self.then = [(200, close), (200, samples.cluster("standby", "two", epoch=8))]
        self.assertIn("two owns the journal now", self.good("handover"))

    def test_it_fails_where_the_same_broker_owns_it_again(self):
        self.then = [(200, samples.cluster(epoch=8))]
        self.assertIn("owns the journal again", self.bad(program.FAILED, "handover"))

    def test_it_fails_where_the_broker_owns_no_journal_that_others_follow(self):
        self.api.overrides["POST", HANDOVER] = (409, {"error": "no standby follows"})
        self.assertIn("no standby follows", self.bad(program.FAILED, "handover"))
        self.assertEqual(self.api.asked("GET"), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
