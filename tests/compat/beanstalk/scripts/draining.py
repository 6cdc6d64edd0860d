# SPDX-License-Identifier: MIT
"""After SIGUSR1: no job is taken any more, everything else goes on."""


def puts_are_refused_and_the_rest_goes_on(stage):
    a, b = stage.open_clients(2)
    a.ask("put 0 0 60 1\r\nx\r\nput 0 0 60 1\r\ny", "INSERTED #1", "INSERTED #2")
    stage.drain()
    a.ask("put 0 0 60 1\r\nz", "DRAINING")
    a.ask("put 0 0 60 1\r\nzzz", "EXPECTED_CRLF", "UNKNOWN_COMMAND")
    a.ask("put 0 0 60 65536\r\n" + "b" * 65536, "JOB_TOO_BIG")
    a.ask("put 0 0 60 x", "BAD_FORMAT")
    b.ask("reserve", "RESERVED #1 1\r\nx")
    b.ask("release #1 5 0", "RELEASED")
    b.ask("reserve\r\nbury #2 0\r\nkick 1", "RESERVED #2 1\r\ny", "BURIED", "KICKED 1")
    b.ask("delete #1\r\ndelete #2", "DELETED", "DELETED")
    a.figures("stats", draining="true", total_jobs=2, cmd_put=5, current_producers=1)


def waiter_goes_on_waiting(stage):
    a, b = stage.open_clients(2)
    b.ask("put 0 0 60 0\r\n", "INSERTED #1")
    b.ask("reserve", "RESERVED #1 0\r\n")
    a.block()
    stage.drain()
    b.ask("put 0 0 60 0\r\n", "DRAINING")
    a.hear_nothing()
    b.ask("release #1 0 0", "RELEASED")
    a.hear("RESERVED #1 0\r\n")
