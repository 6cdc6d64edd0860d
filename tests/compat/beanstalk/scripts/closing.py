# SPDX-License-Identifier: MIT
"""A client that says it sends nothing more, but still listens."""

TIMED_OUT = "TIMED_OUT"


def pending_commands_are_still_answered(stage):
    a, b = stage.open_clients(2)
    a.send("use t\r\nput 0 0 60 2\r\nhi\r\nlist-tube-used\r\nwatch t\r\nreserve\r\ndelete 1\r\n")
    a.half_close()
    a.hear("USING t", "INSERTED #1", "USING t", "WATCHING 2", "RESERVED #1 2\r\nhi", "DELETED")
    a.ends()
    b.figures("stats", total_jobs=1, current_jobs_ready=0)


def waiting_reserve_times_out(stage):
    for line in ("reserve", "reserve-with-timeout 1000"):
        a = stage.client()
        a.block(line)
        a.half_close()
        a.hear(TIMED_OUT)
        a.ends()


def reserve_that_would_wait_times_out(stage):
    for line in ("reserve", "reserve-with-timeout 1000", "reserve-with-timeout 0"):
        a = stage.client()
        a.send(line + "\r\n")
        a.half_close()
        a.hear(TIMED_OUT)
        a.ends()


def commands_behind_the_reserve_are_answered_too(stage):
    a = stage.client()
    a.send("reserve\r\nlist-tube-used\r\nreserve\r\nlist-tube-used\r\n")
    a.half_close()
    a.hear(TIMED_OUT, "USING default", TIMED_OUT, "USING default")
    a.ends()


def unfinished_line_is_dropped(stage):
    a, b = stage.open_clients(2)
    a.send("list-tube-used\r\nuse half")
    a.half_close()
    a.hear("USING default")
    a.ends()
    b.ask("stats-tube half", "NOT_FOUND")


def unfinished_body_is_dropped(stage):
    a, b = stage.open_clients(2)
    a.send("put 0 0 60 10\r\nhalf")
    a.half_close()
    a.ends()
    b.figures("stats", cmd_put=1, total_jobs=0, current_producers=0)


def unfinished_skipping_is_dropped(stage):
    a = stage.client()
    a.send("put 0 0 60 70000\r\nhalf")
    a.half_close()
    a.ends()


def unread_long_line_is_dropped(stage):
    a = stage.client()
    a.send("x" * 1000)
    a.half_close()
    a.ends()


def reserved_jobs_go_back(stage):
    a, b = stage.open_clients(2)
    a.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    b.block()
    a.half_close()
    a.ends()
    b.hear("RESERVED #1 0\r\n")
