# SPDX-License-Identifier: MIT
"""The valid names of tubes."""

BAD = "BAD_FORMAT"
EVERY_BYTE = "azAZ09-+/;.$_()"
NAME_200 = "n" * 200


def name_is_made_of_certain_bytes(stage):
    a = stage.client()
    a.ask("use " + EVERY_BYTE, "USING " + EVERY_BYTE)
    a.ask("watch " + EVERY_BYTE, "WATCHING 2")
    a.figures("stats-tube " + EVERY_BYTE, current_using=1, current_watching=1)
    a.ask(f"pause-tube {EVERY_BYTE} 0", "PAUSED")
    a.ask("ignore " + EVERY_BYTE, "WATCHING 1")
    for byte in map(chr, range(1, 256)):
        if byte.isascii() and (byte.isalnum() or byte in EVERY_BYTE):
            a.ask(f"use x{byte}", f"USING x{byte}")
        elif byte != "\r":
            a.ask(f"use x{byte}", BAD)


def name_does_not_begin_with_a_dash(stage):
    a = stage.client()
    for word in ("use", "watch", "ignore", "stats-tube"):
        a.ask_each([f"{word} -", f"{word} -a"], BAD)
    a.ask("pause-tube -a 0", BAD)
    a.ask("use a-", "USING a-")


def name_has_1_to_200_bytes(stage):
    a = stage.client()
    for word in ("use", "watch", "ignore", "stats-tube"):
        a.ask_each([f"{word} ", f"{word} {NAME_200}n"], BAD)
    a.ask_each(["pause-tube  0", f"pause-tube {NAME_200}n 0"], BAD)
    a.ask("use " + NAME_200, "USING " + NAME_200)
    a.ask("watch " + NAME_200, "WATCHING 2")
    a.figures("stats-tube " + NAME_200, current_using=1)
    a.ask("list-tube-used", "USING " + NAME_200)
    a.ask("list-tubes-watched", "OK")
    a.ask("ignore " + NAME_200, "WATCHING 1")


def one_space_is_before_a_name_and_nothing_after(stage):
    a = stage.client()
    for word in ("use", "watch", "ignore", "stats-tube"):
        a.ask_each([f"{word}  default", f"{word} default ", f"{word} default x",
                    f"{word} a:b", f"{word} caf\xe9", f"{word} a,b"], BAD)


def pause_tube_checks_its_name_and_number(stage):
    a = stage.client()
    a.ask_each(["pause-tube default", "pause-tube default ", "pause-tube default x",
                "pause-tube default -1", "pause-tube default 4294967296", "pause-tube default 0 ",
                "pause-tube default 0 0", "pause-tube a:b 0", "pause-tube default\t0"], BAD)
    a.ask("pause-tube default    0", "PAUSED")
    a.ask("pause-tube nowhere 0", "NOT_FOUND")
