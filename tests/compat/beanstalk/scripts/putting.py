# SPDX-License-Identifier: MIT
"""put: its checks in their order, and what happens to a body that is not taken."""

from shared.scripts import servers

BAD = "BAD_FORMAT"


def job_comes_out_as_it_was_put_in(stage):
    a, b = stage.open_clients(2)
    every_byte = "".join(map(chr, range(256)))
    a.ask(f"put 3 0 120 256\r\n{every_byte}", "INSERTED #1")
    a.figures("stats-job #1", tube="default", state="ready", pri=3, delay=0, ttr=120,
              reserves=0, timeouts=0, releases=0, buries=0, kicks=0, file=0)
    b.ask("reserve", f"RESERVED #1 256\r\n{every_byte}")
    a.ask("peek #1", f"FOUND #1 256\r\n{every_byte}")
    b.ask("delete #1", "DELETED")


def body_may_be_empty_or_hold_line_ends(stage):
    a = stage.client()
    a.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.ask("put 0 0 60 6\r\n\r\n\r\n\r\n", "INSERTED #2")
    a.ask("peek #1", "FOUND #1 0\r\n")
    a.ask("peek #2", "FOUND #2 6\r\n\r\n\r\n\r\n")


def ttr_of_0_becomes_1(stage):
    a = stage.client()
    a.ask("put 0 0 0 0\r\n", "INSERTED #1")
    a.figures("stats-job #1", ttr=1)


def delayed_job_is_delayed(stage):
    a = stage.client()
    a.ask("put 0 1000 60 1\r\nx", "INSERTED #1")
    a.figures("stats-job #1", state="delayed", delay=1000)
    a.ask("reserve-with-timeout 0", "TIMED_OUT")
    a.ask("peek-delayed", "FOUND #1 1\r\nx")


def largest_body_is_taken_and_one_byte_more_is_not(stage):
    a = stage.client()
    a.ask("put 0 0 60 65535\r\n" + "b" * 65535, "INSERTED #1")
    a.ask("reserve", "RESERVED #1 65535\r\n" + "b" * 65535)
    a.ask("put 0 0 60 65536\r\n" + "b" * 65536, "JOB_TOO_BIG")
    a.ask("put 0 0 60 1\r\nx", "INSERTED #2")


def too_big_is_said_after_the_body(stage):
    a = stage.client()
    a.send("put 0 0 60 70000\r\n" + "b" * 69999)
    a.hear_nothing()
    a.send("b\r")
    a.hear_nothing()
    a.send("\nlist-tube-used\r\n")
    a.hear("JOB_TOO_BIG", "USING default")


def too_big_comes_before_what_follows_the_numbers(stage):
    a = stage.client()
    a.ask("put 0 0 60 65536 junk\r\n" + "b" * 65536, "JOB_TOO_BIG")
    a.ask("put 0 0 60 65536xx\r\n" + "b" * 65536, "JOB_TOO_BIG")
    a.ask("put 0 0 60 1 junk\r\nx", BAD, "UNKNOWN_COMMAND")
    a.figures("stats", cmd_put=3, current_producers=0, total_jobs=0)


def skipped_body_may_end_with_anything(stage):
    a = stage.client()
    a.ask("put 0 0 60 65536\r\n" + "b" * 65538 + "list-tube-used", "JOB_TOO_BIG", "USING default")


@servers(max_job_size=10)
def limit_can_be_set(stage):
    a = stage.client()
    a.ask("put 0 0 60 10\r\n0123456789", "INSERTED #1")
    a.ask("put 0 0 60 11\r\n0123456789a", "JOB_TOO_BIG")
    a.figures("stats", max_job_size=10, total_jobs=1)


@servers(max_job_size=0)
def limit_can_be_0(stage):
    a = stage.client()
    a.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.ask("put 0 0 60 1\r\nx", "JOB_TOO_BIG")


def body_after_a_bad_line_is_commands(stage):
    a = stage.client()
    a.ask("put x 0 1 14\r\nlist-tube-used", BAD, "USING default")
    a.ask("put 0 0 60\r\nuse elsewhere", BAD, "USING elsewhere")
    a.ask("put 0 0 60 4294967296\r\nlist-tube-used", BAD, "USING elsewhere")


def body_without_its_line_end_is_refused(stage):
    a = stage.client()
    a.send("put 0 0 60 3\r\nabcde")
    a.hear("EXPECTED_CRLF")
    a.send("put 0 0 60 3\r\nabc\n\n")
    a.hear("EXPECTED_CRLF")
    a.send("put 0 0 60 3\r\nabc\rx")
    a.hear("EXPECTED_CRLF")
    a.ask("put 0 0 60 3\r\nabcxx", "EXPECTED_CRLF", "UNKNOWN_COMMAND")
    a.ask("put 0 0 60 0\r\nzz", "EXPECTED_CRLF", "UNKNOWN_COMMAND")
    a.ask("put 0 0 60 3\r\nabc", "INSERTED #1")
    a.figures("stats", cmd_put=6, current_producers=1, total_jobs=1)


def what_is_left_of_a_refused_body_is_a_command(stage):
    a = stage.client()
    a.ask("put 0 0 60 2\r\nabcdlist-tube-used", "EXPECTED_CRLF", "USING default")
    a.ask("put 0 0 60 1\r\nxx\r\nlist-tube-used", "EXPECTED_CRLF", "UNKNOWN_COMMAND")


def tube_is_that_of_the_put_line(stage):
    a, b = stage.open_clients(2)
    a.ask("use early", "USING early")
    a.send("put 0 0 60 1\r\n")
    b.ask("use early", "USING early")
    a.send("x\r\nuse late\r\n")
    a.hear("INSERTED #1", "USING late")
    a.figures("stats-job #1", tube="early")


def body_on_its_way_keeps_the_tube(stage):
    a, b = stage.open_clients(2)
    a.ask("use kept", "USING kept")
    a.send("put 0 0 60 10\r\nhalf")
    stage.watcher.until("cmd-put", 1)
    b.figures("stats-tube kept", current_using=1, total_jobs=0, current_jobs_ready=0)
    b.figures("stats", cmd_put=1, total_jobs=0, current_producers=1)
    a.hang_up()
    b.ask("stats-tube kept", "NOT_FOUND")


def job_is_not_there_before_its_body(stage):
    a, b = stage.open_clients(2)
    a.send("put 0 0 60 4\r\nab")
    stage.watcher.until("cmd-put", 1)
    b.ask("peek-ready", "NOT_FOUND")
    b.ask_each(["delete 1", "reserve-job 1", "kick-job 1"], "NOT_FOUND")
    b.differ("half-received job", "stats-job 1\r\n", theirs=["OK"], ours=["NOT_FOUND"])
    a.ask("cd", "INSERTED #1")
    b.ask("peek #1", "FOUND #1 4\r\nabcd")


def id_is_given_at_the_end(stage):
    a, b = stage.open_clients(2)
    a.send("put 0 0 60 4\r\nab")
    stage.watcher.until("cmd-put", 1)
    b.ask("put 0 0 60 1\r\nx", "INSERTED #1")
    a.ask("cd", "INSERTED #2")
    b.differ("id at the end of put", "reserve\r\n",
             theirs=["RESERVED #2 4\r\nabcd"], ours=["RESERVED #1 1\r\nx"])


def refused_puts_use_up_ids_in_the_reference_only(stage):
    a = stage.client()
    a.send("put 0 0 60 1\r\nxyz")
    a.hear("EXPECTED_CRLF")
    a.ask("put 0 0 60 1\r\nx", "INSERTED #1")
    a.ask("delete #1", "DELETED")
    if a.theirs.server.ids != [2] or a.ours.server.ids != [1]:
        raise AssertionError("the ids are not what the allowed difference says")
