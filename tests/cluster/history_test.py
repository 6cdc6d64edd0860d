# SPDX-License-Identifier: MIT
"""The rounds report replies in a forbidden order."""

import unittest

from history import History, Line, Reign

A, B = 100, 200  # processes
REIGNS = [Reign(A, 1, 0.0), Reign(B, 2, 10.0)]


def line(pid, *came, target=None, protocol="beanstalk", asked=0.0, ids=()):
    """A connection on which something came at those moments, after `asked`."""
    made = Line(protocol, target or pid)
    made.pid, made.ids, made.asking = pid, list(ids), asked
    for at in came:
        made.came(at)
    return made


def judge(*lines, reigns=None):
    kept = History()
    for one in lines:
        kept.enter(one)
    return kept.judge(reigns or REIGNS)


class Order(unittest.TestCase):
    def test_one_owner_after_the_other_is_as_it_should_be(self):
        self.assertEqual(judge(line(A, 1.0, 9.0), line(B, 10.5, 11.0)), [])

    def test_an_owner_that_answers_after_the_next_one_did_is_found(self):
        found = judge(line(A, 1.0, 10.6), line(B, 10.5, 11.0))
        self.assertEqual(len(found), 1)
        self.assertIn("epoch 1 answered 0.1", found[0])

    def test_a_connection_that_outlives_its_epoch_counts_as_of_that(self):
        reigns = [*REIGNS, Reign(A, 3, 20.0)]
        self.assertEqual(len(judge(line(A, 1.0, 21.0), line(B, 10.5), reigns=reigns)), 1)

    def test_one_of_the_same_process_in_a_later_epoch_is_another(self):
        reigns = [*REIGNS, Reign(A, 3, 20.0)]
        self.assertEqual(judge(line(A, 1.0), line(B, 10.5), line(A, 20.5), reigns=reigns), [])

    def test_an_epoch_that_answered_nothing_does_not_hide_those_around_it(self):
        reigns = [*REIGNS, Reign(A, 3, 20.0), Reign(B, 4, 30.0)]
        self.assertEqual(len(judge(line(A, 1.0, 31.0), line(B, 30.5), reigns=reigns)), 1)

    def test_what_was_passed_on_may_be_late(self):
        self.assertEqual(judge(line(A, 1.0, 10.6, target=B, asked=10.4), line(B, 10.5)), [])

    def test_what_was_passed_on_and_asked_for_too_late_may_not(self):
        self.assertEqual(len(judge(line(A, 1.0, 10.7, target=B, asked=10.6), line(B, 10.5))), 1)

    def test_http_is_known_by_its_ids(self):
        told = line(A, 1.0, ids=[1, 9]), line(B, 10.5, ids=[20, 29])
        late = line(None, 1.0, 10.7, target=A, protocol="http", ids=[5])
        self.assertEqual(len(judge(*told, late)), 1)
        other = line(None, 10.7, target=B, protocol="http", ids=[25])
        self.assertEqual(judge(*told, other), [])
        unknown = line(None, 10.7, target=A, protocol="http", ids=[15])
        self.assertEqual(judge(*told, unknown), [])

    def test_an_id_below_those_of_an_earlier_epoch_is_found(self):
        found = judge(line(A, 1.0, ids=[1, 9]), line(B, 10.5, ids=[9, 10]))
        self.assertEqual(found, ["id 9 of epoch 2 is not above 9 of epoch 1"])

    def test_the_first_job_of_an_epoch_is_what_a_takeover_is_measured_by(self):
        kept, first, second = History(), line(B, 10.5), line(B, 10.4)
        first.came(10.9)
        first.got_job()
        for one in (first, second):
            kept.enter(one)
        kept.judge(REIGNS)
        self.assertEqual(kept.first_of(2), (10.4, 10.9))
        self.assertEqual(kept.first_of(3), (None, None))


if __name__ == "__main__":
    unittest.main()
