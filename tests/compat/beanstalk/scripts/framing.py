# SPDX-License-Identifier: MIT
"""Where a command line ends, how long it may be, and how its first word is found."""

BAD = "BAD_FORMAT"
UNKNOWN = "UNKNOWN_COMMAND"
NAME_200 = "n" * 200


def lone_lf_does_not_end_a_line(stage):
    a = stage.client()
    a.ask("list-tube-used\nlist-tube-used", BAD)
    a.send("list-tube-used\n")
    a.hear_nothing()
    a.send("\r\n")
    a.hear(BAD)


def lone_cr_does_not_end_a_line(stage):
    a, b = stage.open_clients(2)
    a.send("list-tube-used\r")
    a.hear_nothing()
    a.send("\n")
    a.hear("USING default")
    b.differ("second CR in a line", "foo\rbar\r\n", theirs=[], ours=[UNKNOWN])
    b.hang_up()


def commands_arrive_byte_by_byte(stage):
    a = stage.client()
    for byte in "use slow\r\nput 0 0 60 2\r\nab\r\n":
        a.send(byte)
    a.hear("USING slow", "INSERTED #1")


def commands_arrive_together(stage):
    a = stage.client()
    a.ask("use many\r\nput 1 0 60 3\r\none\r\nput 0 0 60 3\r\ntwo\r\nwatch many\r\nreserve\r\n"
          "delete 77\r\nreserve\r\nlist-tube-used",
          "USING many", "INSERTED #1", "INSERTED #2", "WATCHING 2", "RESERVED #2 3\r\ntwo",
          "NOT_FOUND", "RESERVED #1 3\r\none", "USING many")


def line_of_224_bytes_is_the_longest(stage):
    a = stage.client()
    a.ask("use pauses", "USING pauses")
    a.ask("use " + NAME_200, "USING " + NAME_200)
    a.ask(f"pause-tube {NAME_200} 4294967295", "PAUSED")
    a.ask("x" * 222, UNKNOWN)
    a.ask("x" * 224, BAD)
    for length in (225, 300, 446, 448, 449, 1000, 5000):
        a.ask("x" * length, BAD)
        a.ask("list-tube-used", "USING " + NAME_200)


def too_long_line_is_answered_once_and_at_its_end(stage):
    a = stage.client()
    a.send("x" * 300)
    a.hear_nothing()
    a.send("use inside" * 50)
    a.hear_nothing()
    a.ask("", BAD)
    a.ask("list-tube-used", "USING default")
    a.ask("x" * 400 + "\r\nuse next", BAD, "USING next")


def end_of_a_too_long_line_is_found_wherever_it_is(stage):
    a, b = stage.open_clients(2)
    a.differ("CR at the end of the window", "x" * 223 + "\r\nuse swallowed\r\n",
             theirs=[BAD], ours=[BAD, "USING swallowed"])
    a.hear_nothing()
    b.differ("CR at the end of the window", "x" * 447 + "\r\nuse swallowed\r\n",
             theirs=[BAD], ours=[BAD, "USING swallowed"])
    b.hear_nothing()


def nul_is_bad_format_anywhere(stage):
    a = stage.client()
    a.ask_each(["\0", "use a\0b", "use a\0", "\0use a", "list-tubes\0", "nonsense\0", "quit\0",
                "put 0 0 60 0\0"], BAD)
    a.ask("list-tube-used", "USING default")


def unknown_words_are_unknown(stage):
    a = stage.client()
    a.ask_each(["", " ", "foo", "PUT 0 0 60 0", "Use a", "RESERVE", "Quit", " use a", " quit",
                "\tstats", "sta", "list", "list-tube", "peek-read", "qui",
                "\xff\xfe", "-", "peek-", "reserv"], UNKNOWN)


def word_without_its_space_is_unknown(stage):
    a = stage.client()
    a.ask_each(["put", "put\t0 0 60 0", "peek", "delete", "release", "bury", "kick", "kick-job",
                "kick-job1", "touch", "use", "use\ta", "watch", "ignore", "delete1",
                "kick\t1"], UNKNOWN)


def word_that_begins_with_a_shorter_command_is_bad_format(stage):
    a = stage.client()
    a.ask_each(["reserve-with-timeout", "reserve-job", "stats-job", "stats-tube", "reservefoo",
                "statsfoo", "list-tubesfoo", "peek-readyfoo", "list-tube-useds",
                "pause-tube", "pause-tube "], BAD)


def command_without_arguments_takes_none(stage):
    a = stage.client()
    for word in ("reserve", "stats", "list-tubes", "list-tube-used", "list-tubes-watched",
                 "peek-ready", "peek-delayed", "peek-buried"):
        a.ask_each([word + " ", word + " x", word + "\t"], BAD)


def pause_tube_needs_no_space(stage):
    a = stage.client()
    a.ask("pause-tubedefault 0", "PAUSED")
    a.ask("pause-tube   default 0", "PAUSED")
    a.ask("pause-tubedefault0", BAD)


def quit_closes_without_a_word(stage):
    a, b, c = stage.open_clients(3)
    a.ask("quit")
    a.ends()
    b.ask("quitfoo bar")
    b.ends()
    c.ask("list-tube-used\r\nquit\r\nlist-tube-used", "USING default")
    c.ends()


def first_line_of_a_browser_closes_the_connection(stage):
    a, b, c = stage.open_clients(3)
    a.differ("HTTP request", "GET / HTTP/1.1\r\n", theirs=[UNKNOWN], ours=None)
    a.hang_up()
    b.differ("TLS hello", "\x16\x03\x01\r\n", theirs=[UNKNOWN], ours=None)
    b.hang_up()
    c.ask("list-tubes-watched", "OK")
    c.ask("GET / HTTP/1.1", UNKNOWN)
    c.ask("\x16\x03\x01", UNKNOWN)
