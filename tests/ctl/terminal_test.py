# SPDX-License-Identifier: MIT
"""Questions, progress and colours of tandemctl, on a pseudo-terminal."""

import os
import signal
import subprocess
import threading
import unittest

import program
import samples
import terminal

NEVER = 10 ** 9  # steps until an operation is done


class OnTerminal(program.WithApi):
    def open(self, *arguments, **more):
        opened = terminal.Terminal(*arguments, address=self.api.address, **more)
        self.addCleanup(opened.close)
        return opened

    def actions(self):
        """The operations that were started: dry runs and others."""
        return ["dry" if one.body.get("dry_run") else one.body["action"]
                for one in self.api.requests if one.method == "POST"]


class Questions(OnTerminal):
    def test_it_says_how_many_before_it_asks(self):
        asked = self.open("delete", "--queue", "mail")
        asked.expect(r"Delete 7 jobs of mail\? \[y/N\]")
        self.assertEqual(self.actions(), ["dry"])
        asked.type("y\n")
        self.assertEqual(asked.end(), program.DONE)
        asked.expect(r"7 jobs deleted\.")
        self.assertEqual(self.actions(), ["dry", "delete"])

    def test_anything_but_yes_is_no(self):
        for answer in ("n\n", "\n", "yesterday\n", "\x04"):
            with self.subTest(answer=answer):
                self.api.requests.clear()
                asked = self.open("clear", "mail")
                asked.expect(r"\[y/N\]")
                asked.type(answer)
                self.assertEqual(asked.end(), program.UNCONFIRMED)
                asked.expect("nothing was changed")
                self.assertEqual(self.actions(), ["dry"])

    def test_a_job_by_its_number_is_asked_for_too(self):
        asked = self.open("delete", "3")
        asked.expect(r"Delete job 3\? \[y/N\]")
        asked.type("yes\n")
        self.assertEqual(asked.end(), program.DONE)
        self.assertNotIn(3, self.api.jobs)

    def test_ctrl_c_at_a_question_is_no(self):
        asked = self.open("clear", "mail")
        asked.expect(r"\[y/N\]")
        asked.type("\x03")
        self.assertEqual(asked.end(), -signal.SIGINT)
        self.assertEqual(self.actions(), ["dry"])

    def test_with_yes_it_does_not_ask(self):
        asked = self.open("clear", "mail", "--yes")
        self.assertEqual(asked.end(), program.DONE)
        self.assertNotIn("[y/N]", asked.written)
        self.assertEqual(self.actions(), ["delete"])


class Progress(OnTerminal):
    def test_a_long_operation_shows_a_bar_that_goes_when_it_is_done(self):
        self.api.steps, self.api.touches = NEVER, 4000
        shown = self.open("kick", "--queue", "mail")
        shown.expect(r"^\[\.+\] +0 % 0 of 40,000, 0 changed")
        self.api.operations[1].update(looked_at=10000, touched=1000)
        shown.expect(r"^\[#+\.+\] +25 % 10,000 of 40,000, 1,000 changed")
        self.api.steps = 1
        self.assertEqual(shown.end(), program.DONE)
        self.assertEqual(shown.picture.text().strip(), "4,000 jobs kicked.")
        self.assertEqual(shown.picture.wrapped, 0)

    def test_a_bar_fits_a_narrow_terminal(self):
        self.api.steps, self.api.touches = NEVER, 4000
        shown = self.open("kick", "--queue", "mail", columns=20)
        shown.expect(r"\d+ %")
        self.api.steps = 1
        self.assertEqual(shown.end(), program.DONE)
        self.assertEqual(shown.picture.wrapped, 0)

    def test_ctrl_c_cancels_the_operation(self):
        self.api.steps = NEVER
        shown = self.open("kick", "--queue", "mail")
        shown.expect(r"\d+ %")
        shown.type("\x03")
        self.assertEqual(shown.end(), program.INTERRUPTED)
        self.assertEqual(self.api.operations[1]["state"], "cancelled")
        shown.expect(r"cancelled: \d+ of about 70 jobs were changed")

    def test_ctrl_c_while_an_answer_is_awaited_cancels_it_too(self):
        self.api.steps = NEVER
        answered = threading.Event()
        self.addCleanup(answered.set)

        def hang(_):
            answered.wait(60)
            return 503, {"error": "late"}
        self.api.overrides["GET", "/api/v1/operations/1"] = hang
        shown = self.open("kick", "--queue", "mail")
        shown.expect(r"\d+ %")
        while not self.api.asked("GET"):
            shown.read(0.01)
        shown.type("\x03")
        self.assertEqual(shown.end(), program.INTERRUPTED)
        self.assertEqual(self.api.operations[1]["state"], "cancelled")

    def test_a_second_terminal_s_cancel_is_said(self):
        self.api.steps = NEVER
        shown = self.open("kick", "--queue", "mail")
        shown.expect(r"\d+ %")
        self.api.operations[1]["state"] = "cancelled"
        self.assertEqual(shown.end(), program.FAILED)
        shown.expect("another client has cancelled the operation")

    def test_without_a_terminal_there_is_no_bar(self):
        self.api.steps = 5
        self.assertEqual(self.good("kick", "--queue", "mail"), "7 jobs kicked.\n")

    def test_without_a_terminal_a_signal_cancels_too(self):
        self.api.steps = NEVER
        ctl = subprocess.Popen([program.PROGRAM, "kick", "--queue", "mail"],
                               env=program.environment(self.api.address), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        while not self.api.asked("GET"):
            self.assertIsNone(ctl.poll())
        os.kill(ctl.pid, signal.SIGTERM)
        _, said = ctl.communicate(timeout=60)
        self.assertEqual(ctl.returncode, program.INTERRUPTED)
        self.assertIn(b"cancelled: ", said)


class Looks(OnTerminal):
    def written(self, *arguments, **more):
        shown = self.open(*arguments, **more)
        self.assertEqual(shown.end(), program.DONE)
        return shown.written

    def test_colours_are_for_terminals_that_want_them(self):
        self.assertIn("\x1b[31m2\x1b[0m", self.written("queues"))
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with self.subTest(env=env):
                self.assertNotIn("\x1b", self.written("queues", env=env))
        self.assertNotIn("\x1b", self.good("queues"))

    def test_json_has_no_colours(self):
        self.assertNotIn("\x1b", self.written("queues", "--json"))

    def test_names_in_metrics_are_no_orders_to_the_terminal(self):
        metrics = b'jobs{queue="\x1b[2J\xc2\x9bm\xff"} 1\njobs{queue="\xc3\xa4"} 2'
        self.api.overrides["GET", "/metrics"] = 200, metrics
        self.assertRegex(self.written("metrics"),
                         r'^jobs\{queue="\\x1b\[2J\S*m\\xff"\} 1\r*\njobs\{queue="\u00e4"\} 2')
        self.assertNotRegex(self.written("metrics"), "[\x1b\x9b]")

    def test_a_long_name_is_cut_for_a_narrow_terminal(self):
        self.api.queues = [samples.queue("a-rather-long-name-of-a-queue" * 5, ready=1)]
        shown = self.open("queues", columns=120)
        shown.end()
        self.assertEqual(shown.picture.wrapped, 0)
        self.assertRegex(shown.picture.text(), r"\na-rather\S*~ +1 ")
        self.assertIn("a-queue  ", self.good("queues"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
