# SPDX-License-Identifier: MIT
"""The valid numbers and their limits."""

BAD = "BAD_FORMAT"
NOT_FOUND = "NOT_FOUND"
EACH_FIELD = ["{} 0 60 0", "0 {} 60 0", "0 0 {} 0", "0 0 60 {}"]


def numbers_of_put_fit_32_bits(stage):
    a = stage.client()
    for fields in EACH_FIELD:
        for number in ("4294967296", "18446744073709551616", "-1", "+1", ".5", "x", "1x", "1.0",
                       "0x10", "\t1", ""):
            a.ask("put " + fields.format(number), BAD)
    a.ask("put 4294967295 4294967295 4294967295 0\r\n", "INSERTED #1")
    a.figures("stats-job #1", pri=4294967295, delay=4294967295, ttr=4294967295)


def put_needs_four_numbers_and_nothing_else(stage):
    a = stage.client()
    a.ask_each(["put ", "put 0", "put 0 0", "put 0 0 60", "put 0 0 60 ", "put 0 0 60 0 ",
                "put 0 0 60 0 0", "put 0 0 60 0 x", "put 0,0,60,0", "put 0 0 60 -0"], BAD)


def spaces_and_zeros_may_lead_a_number(stage):
    a = stage.client()
    a.ask("put   007    00  0060  0005\r\nhello", "INSERTED #1")
    a.figures("stats-job  #1", pri=7, delay=0, ttr=60)
    a.ask("put 0000000000000000000000001 0 60 0\r\n", "INSERTED #2")
    a.ask("peek    #1", "FOUND #1 5\r\nhello")
    a.ask("delete  000#1", "DELETED")


def last_number_ends_the_line(stage):
    a = stage.client()
    a.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    for word in ("delete", "peek", "touch", "kick-job", "reserve-job", "stats-job"):
        a.ask_each([f"{word} #1 ", f"{word} #1x", f"{word} #1 1", f"{word} #1\t"], BAD)
    a.ask_each(["bury #1 5 ", "bury #1 5x", "release #1 5 0 ", "release #1 5 0 0"], BAD)
    a.ask("touch #1", "TOUCHED")


def ids_fit_64_bits(stage):
    a = stage.client()
    for word in ("delete", "peek", "touch", "kick-job", "reserve-job", "stats-job"):
        a.ask_each([f"{word} 18446744073709551615", f"{word} 0", f"{word} 4294967296"], NOT_FOUND)
        a.ask_each([f"{word} 18446744073709551616", f"{word} 99999999999999999999", f"{word} -1",
                    f"{word} +1", f"{word} x", f"{word} ", f"{word} \t1"], BAD)


def bury_and_release_need_all_their_numbers(stage):
    a = stage.client()
    a.ask_each(["bury ", "bury 1", "bury 1 ", "bury 1 x", "bury 1 -1", "bury 1 4294967296",
                "bury x 1", "release ", "release 1", "release 1 1", "release 1 1 ",
                "release 1 1 x", "release 1 4294967296 0", "release 1 1 4294967296",
                "release x 1 1"], BAD)
    a.ask_each(["bury 1 4294967295", "release 1 4294967295 4294967295"], NOT_FOUND)


def timeout_is_followed_by_anything(stage):
    a = stage.client()
    a.ask_each(["reserve-with-timeout 0", "reserve-with-timeout   0", "reserve-with-timeout 00",
                "reserve-with-timeout 0 junk", "reserve-with-timeout 0junk",
                "reserve-with-timeout 0 "], "TIMED_OUT")
    a.ask("put 0 0 60 1\r\nx", "INSERTED #1")
    a.ask("reserve-with-timeout 2147483647", "RESERVED #1 1\r\nx")


def timeout_is_a_number_of_31_bits(stage):
    a, b, c = stage.open_clients(3)
    for text in ("", "x", " x", "4294967296", "\t0", "+0", "-0"):
        a.differ("strict timeout", f"reserve-with-timeout {text}\r\n",
                 theirs=["TIMED_OUT"], ours=[BAD])
    b.differ("strict timeout", "reserve-with-timeout -1\r\n", theirs=[], ours=[BAD])
    b.hang_up()
    c.differ("strict timeout", "reserve-with-timeout 2147483648\r\n", theirs=[], ours=[BAD])
    c.hang_up()


def bound_of_kick_is_read_with_tolerance(stage):
    a = stage.client()
    a.ask_each(["kick 0", "kick 1", "kick  1", "kick \t1", "kick +1", "kick -1", "kick 1 x",
                "kick 1x", "kick 4294967297", "kick 18446744073709551615", "kick 0x10",
                "kick \v\f1"], "KICKED 0")
    a.ask_each(["kick ", "kick x", "kick -", "kick +", "kick 18446744073709551616", "kick +-1",
                "kick - 1", "kick .1"], BAD)


def bound_of_kick_is_cut_to_32_bits(stage):
    a = stage.client()
    for job in range(1, 7):
        a.ask("put 0 0 60 0\r\n", f"INSERTED #{job}")
        a.ask("reserve", f"RESERVED #{job} 0\r\n")
        a.ask(f"bury #{job} 0", "BURIED")
    a.ask("kick 4294967296", "KICKED 0")
    a.ask("kick 4294967297", "KICKED 1")
    a.ask("kick -18446744073709551615", "KICKED 1")
    a.ask("kick 2 3", "KICKED 2")
    a.ask("kick -1", "KICKED 2")
