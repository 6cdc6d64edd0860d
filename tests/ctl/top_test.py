# SPDX-License-Identifier: MIT
"""tandemctl top, on a pseudo-terminal."""

import os
import signal
import threading
import unittest

import program
import samples
import terminal

FAST = "--interval", "100ms"
SLOW = "--interval", "1m"
QUEUES = "/api/v1/queues"


class OnTerminal(program.WithApi):
    def open(self, *arguments, **more):
        opened = terminal.Terminal("top", *arguments, address=self.api.address, **more)
        self.addCleanup(opened.close)
        return opened

    def names(self, picture):
        """The names of the queues, from the first line."""
        lines = picture.text().split("\n")
        start = next(i for i, line in enumerate(lines) if line.startswith("QUEUE"))
        return [line.split()[0] for line in lines[start + 1:-1] if line]

    def expect_names(self, top, names):
        top.wait(lambda: "QUEUE" in top.picture.text() and self.names(top.picture) == names,
                 f"show {names}")


class Top(OnTerminal):
    def test_it_shows_the_busiest_queues_and_quits(self):
        top = self.open()
        self.expect_names(top, ["mail", "thumbs", "idle"])
        text = top.picture.text()
        self.assertRegex(text, r"^tandem 0\.1\.0 on box, up 1d 2h\n"
                               r"jobs 15 ready, 1 reserved, 2 buried, 40 delayed\n")
        self.assertRegex(text, r"\nmail +12 +1 +0 +2 +- +- +1m 15s +2 +1\n")
        self.assertEqual(len(text.split("\n")), 24)
        self.assertTrue(top.picture.other and not top.picture.cursor)
        top.type("q")
        self.assertEqual(top.end(), program.DONE)
        self.assertTrue(top.is_restored())
        self.assertEqual(top.picture.wrapped, 0)

    def test_an_interval_may_be_longer_than_poll_can_wait(self):
        top = self.open("--interval", "30d")
        top.expect("mail")
        top.type("h")
        top.expect("reverse the order")
        top.type("q")
        self.assertEqual(top.end(), program.DONE)

    def test_it_looks_again_and_tells_rates(self):
        top = self.open(*FAST)
        top.expect("mail")
        self.api.queues[0]["totals"]["submitted"] += 5000
        # 5,000 within some tenths of a second.
        top.expect(r"\nmail +12 +1 +0 +2 +\d+(\.\d)?k? ")
        top.type("q")
        self.assertEqual(top.end(), program.DONE)

    def test_keys_choose_the_column_and_the_direction(self):
        top = self.open()
        top.expect(r"READYv")
        top.type("r")
        top.expect(r"READY\^")
        self.expect_names(top, ["idle", "thumbs", "mail"])
        top.type("<")
        top.expect(r"QUEUE\^")
        self.expect_names(top, ["idle", "mail", "thumbs"])
        top.type("\x1b[C\x1b[C\x1bOC")  # right, in either mode of the keypad
        top.expect(r"DELAYv|DELAv")
        self.expect_names(top, ["thumbs", "mail", "idle"])
        sorts = [one.query["sort"] for one in self.api.requests if one.path == QUEUES]
        self.assertEqual(sorts[-1], "-delayed")
        top.type("q")
        top.end()

    def test_a_search_shows_what_fits_until_it_is_forgotten(self):
        top = self.open()
        top.expect("mail")
        top.type("/thx\x7f")
        top.expect("search: th_")
        self.expect_names(top, ["thumbs"])
        top.type("q")  # a letter of the search
        top.expect("search: thq_")
        top.type("\x7f\r")
        top.expect(r"search: th\n")
        top.type("/\x1b")
        self.expect_names(top, ["mail", "thumbs", "idle"])
        top.type("q")
        self.assertEqual(top.end(), program.DONE)

    def test_arrows_scroll_through_many_queues(self):
        self.api.queues = [samples.queue(f"q{number:03}", ready=900 - number)
                           for number in range(900)]
        top = self.open()
        top.expect("q017")
        top.type("\x1b[B")
        self.expect_names(top, [f"q{number:03}" for number in range(1, 19)])
        top.type("\x1b[6~")
        self.expect_names(top, [f"q{number:03}" for number in range(19, 37)])
        top.type("\x1b[1~")
        self.expect_names(top, [f"q{number:03}" for number in range(18)])
        self.assertLessEqual(max(int(one.query.get("limit", 0)) for one in self.api.requests), 100)
        top.type("q")
        top.end()

    def test_it_takes_the_size_of_the_terminal_as_that_changes(self):
        top = self.open(*SLOW)
        top.expect("OLDEST")
        # It draws at once, and again after the next update.
        self.api.queues[1]["jobs"]["ready"] = 5
        top.resize(120, 30)
        top.wait(lambda: top.picture.text().count("\n") == 29 and "h help" in
                 top.picture.rows[29], "have 30 lines")
        top.expect(r"\nidle +5 ")
        self.api.queues[1]["jobs"]["ready"] = 6
        top.resize(40, 10)
        top.wait(lambda: "h help" in top.picture.rows[9], "have 10 lines")
        top.expect(r"\nidle +6 ")
        text = top.picture.text()
        self.assertLessEqual(max(map(len, text.split("\n"))), 40)
        self.assertRegex(text, r"QUEUE +READYv +RSVD +BURIED\n")
        self.assertRegex(text, r"\nmail +12 +1 +2\n")
        top.type("q")
        self.assertEqual(top.end(), program.DONE)
        self.assertEqual(top.picture.wrapped, 0)

    def test_it_works_on_the_smallest_terminal(self):
        top = self.open(columns=8, lines=3)
        top.expect("tandem")
        top.type("q")
        self.assertEqual(top.end(), program.DONE)
        self.assertEqual(top.picture.wrapped, 0)

    def test_names_cannot_write_to_the_screen(self):
        self.api.queues = [samples.queue("a\x1b[2J\nb", ready=1), samples.queue("日本" * 30)]
        top = self.open(columns=60)
        top.expect(r"a\\x1b\[2J\\nb +1 ")
        top.type("q")
        top.end()
        self.assertEqual(top.picture.wrapped, 0)

    def test_keys_are_explained(self):
        top = self.open()
        top.expect("mail")
        top.type("h")
        top.expect("up down  scroll")
        top.type("h")
        top.expect("mail")
        top.type("q")
        top.end()

    def test_a_held_picture_stays(self):
        top = self.open(*FAST)
        top.expect("mail")
        top.type(" ")
        top.expect("PAUSED")
        asked = len(self.api.requests)
        top.read(0.5)
        self.assertLessEqual(len(self.api.requests), asked + 2)  # what was under way
        top.type(" ")
        top.expect_gone("PAUSED")
        top.wait(lambda: len(self.api.requests) > asked + 2, "look again")
        top.type("q")
        top.end()


class Ends(OnTerminal):
    """The terminal is restored, however the program ends."""

    def test_each_signal_that_stops_it_restores_the_terminal(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT):
            with self.subTest(signal=number):
                top = self.open()
                top.expect("mail")
                os.kill(top.process.pid, number)
                self.assertEqual(top.end(), program.DONE if number == signal.SIGINT
                                 else program.INTERRUPTED)
                self.assertTrue(top.is_restored())

    def test_ctrl_c_ends_it(self):
        top = self.open()
        top.expect("mail")
        top.type("\x03")
        self.assertEqual(top.end(), program.DONE)
        self.assertTrue(top.is_restored())

    def test_while_an_answer_is_awaited_it_quits_too(self):
        top = self.open(*FAST)
        top.expect("mail")
        answered = threading.Event()
        self.addCleanup(answered.set)

        def hang(_):
            answered.wait(60)
            return 503, {"error": "late"}
        self.api.overrides["GET", QUEUES] = hang
        asked = len(self.api.requests)
        top.wait(lambda: len(self.api.requests) > asked + 1, "ask again")
        top.type("q")
        self.assertEqual(top.end(), program.DONE)
        self.assertTrue(top.is_restored())

    def test_suspended_it_gives_the_terminal_back_and_takes_it_again(self):
        top = self.open()
        top.expect("mail")
        top.type("\x1a")
        top.wait(lambda: not top.picture.other, "leave the screen")
        os.waitid(os.P_PID, top.process.pid, os.WSTOPPED | os.WNOWAIT)
        self.assertTrue(top.is_restored())
        os.kill(top.process.pid, signal.SIGCONT)
        top.wait(lambda: top.picture.other and "mail" in top.picture.text(), "draw again")
        top.type("q")
        self.assertEqual(top.end(), program.DONE)
        self.assertTrue(top.is_restored())

    def test_a_broker_that_has_gone_is_said_and_looked_for(self):
        top = self.open(*FAST)
        top.expect("mail")
        self.api.overrides["GET", QUEUES] = (503, {"error": "out of memory"})
        top.expect("out of memory")
        self.assertIn("mail", self.names(top.picture))
        del self.api.overrides["GET", QUEUES]
        top.expect_gone("out of memory")
        top.type("q")
        self.assertEqual(top.end(), program.DONE)

    def test_who_may_not_look_is_told_before_the_screen_changes(self):
        self.api.overrides["GET", "/api/v1/process"] = (401, {"error": "a token is required"})
        top = self.open()
        self.assertEqual(top.end(), program.FORBIDDEN)
        self.assertNotIn("\x1b[?1049h", top.written)
        self.assertIn("a token is required", top.written)

    def test_without_a_terminal_it_refuses(self):
        self.assertIn("needs a terminal", self.bad(program.USAGE, "top"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
