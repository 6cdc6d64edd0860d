# SPDX-License-Identifier: MIT
"""The effects of time: time to run, the warning before its end, delays, timeouts.

Waits are real. Where something must happen before the end of one, it is of some seconds; where a
job must be in its last second, on which the protocol insists, a touch restarts that second.
"""

import time

SOON = "DEADLINE_SOON"


def reserve_times_out(stage):
    a = stage.client()
    a.block("reserve-with-timeout 4\r\nlist-tube-used")
    time.sleep(0.5)
    a.hear_nothing()
    a.hear("TIMED_OUT", "USING default")


def job_with_a_margin_only_warns_at_once(stage):
    a = stage.client()
    a.ask("put 0 0 1 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    for reserve in "reserve", "reserve-with-timeout 0", "reserve-with-timeout 5":
        a.ask(f"touch #1\r\n{reserve}", "TOUCHED", SOON)
    a.ask("put 0 0 1 0\r\n", "INSERTED #2")
    a.ask("touch #1\r\nreserve", "TOUCHED", "RESERVED #2 0\r\n")
    a.ask("reserve", SOON)
    a.ask("delete #1\r\ndelete #2", "DELETED", "DELETED")
    a.ask("reserve-with-timeout 0", "TIMED_OUT")


def warning_heeds_only_what_could_be_reserved(stage):
    a, b = stage.open_clients(2)
    a.ask("put 0 0 1 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    b.ask("use other\r\nput 0 0 60 0\r\n", "USING other", "INSERTED #2")
    a.ask("reserve", SOON)
    b.ask("pause-tube other 1000", "PAUSED")
    a.ask("touch #1\r\nwatch other\r\nreserve-with-timeout 0", "TOUCHED", "WATCHING 2", SOON)
    b.ask("pause-tube other 0", "PAUSED")
    a.ask("touch #1\r\nreserve", "TOUCHED", "RESERVED #2 0\r\n")
    a.ask("delete #1", "DELETED")


def waiting_worker_is_warned_when_the_margin_begins(stage):
    a, b = stage.open_clients(2)
    a.ask("put 0 0 6 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    a.block()
    time.sleep(0.4)
    a.hear_nothing()
    a.hear(SOON)
    a.ask("touch #1", "TOUCHED")
    b.figures("stats-job #1", state="reserved", timeouts=0)
    a.block("reserve-with-timeout 100")
    b.ask("put 0 0 60 0\r\n", "INSERTED #2")
    a.hear("RESERVED #2 0\r\n")


def job_whose_time_ran_out_is_ready_again(stage):
    a, b = stage.open_clients(2)
    a.ask("put 9 0 4 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    stage.wait_for_timeouts(1, ttr=4)
    b.figures("stats-job #1", state="ready", timeouts=1, reserves=1, releases=0, pri=9)
    b.figures("stats", job_timeouts=1, current_jobs_ready=1, current_jobs_reserved=0)
    a.ask_each(["release #1 0 0", "bury #1 0", "touch #1"], "NOT_FOUND")
    a.ask("delete #1", "DELETED")


def waiter_gets_the_job_of_another_whose_time_ran_out(stage):
    a, b = stage.open_clients(2)
    a.ask("put 9 0 4 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    b.block()
    time.sleep(0.4)
    b.hear_nothing()
    stage.wait_for_timeouts(1, ttr=4)
    b.hear("RESERVED #1 0\r\n")
    a.ask("delete #1", "NOT_FOUND")
    b.figures("stats-job #1", state="reserved", timeouts=1, reserves=2)


def touch_starts_the_time_anew(stage):
    a = stage.client()
    a.ask("put 0 0 6 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    time.sleep(4)
    a.ask("touch #1", "TOUCHED")
    time.sleep(4)
    a.figures("stats-job #1", state="reserved", timeouts=0, ttr=6)
    a.ask("delete #1", "DELETED")


def delayed_job_becomes_ready(stage):
    a, b = stage.open_clients(2)
    a.ask("put 0 4 60 0\r\n", "INSERTED #1")
    b.block()
    b.hear_nothing()
    a.figures("stats-job #1", state="delayed", time_left=range(4))
    b.hear("RESERVED #1 0\r\n")
    a.figures("stats-job #1", state="reserved", delay=4)
    b.ask("release #1 4 4", "RELEASED")
    a.figures("stats-job #1", state="delayed", pri=4, delay=4, releases=1)
    time.sleep(5.5)
    a.figures("stats-job #1", state="ready", pri=4, delay=4)
    a.ask("peek-ready", "FOUND #1 0\r\n")


def pause_ends_and_wakes_who_waits(stage):
    a, b = stage.open_clients(2)
    a.ask("pause-tube default 4", "PAUSED")
    a.ask("put 0 0 60 0\r\n", "INSERTED #1")
    b.block()
    time.sleep(0.4)
    b.hear_nothing()
    b.hear("RESERVED #1 0\r\n")
    a.figures("stats-tube default", pause=0, pause_time_left=0, cmd_pause_tube=1)


def later_pause_replaces_the_earlier(stage):
    a, b = stage.open_clients(2)
    a.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.ask("pause-tube default 1\r\npause-tube default 1000", "PAUSED", "PAUSED")
    b.block()
    time.sleep(1.4)
    b.hear_nothing()
    a.ask("pause-tube default 1", "PAUSED")
    b.hear("RESERVED #1 0\r\n")


def reserve_on_a_paused_tube_times_out(stage):
    a = stage.client()
    a.ask("pause-tube default 1000", "PAUSED")
    a.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.block("reserve-with-timeout 4")
    a.hear("TIMED_OUT")
