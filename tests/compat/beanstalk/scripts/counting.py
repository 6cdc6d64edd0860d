# SPDX-License-Identifier: MIT
"""stats and its counters: what counts, and what does not."""


def fresh_server_has_counted_nothing(stage):
    a = stage.client()
    a.figures("stats", current_jobs_ready=0, cmd_put=0, current_producers=0, current_workers=0,
              current_waiting=0, max_job_size=65535, current_tubes=1, draining="false",
              binlog_max_size=10485760)


def every_command_counts(stage):
    a = stage.client()
    a.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.ask("reserve\r\nrelease #1 0 0\r\nreserve-with-timeout 0\r\nbury #1 0",
          "RESERVED #1 0\r\n", "RELEASED", "RESERVED #1 0\r\n", "BURIED")
    a.ask("kick 1\r\nreserve-job #1\r\ntouch #1", "KICKED 1", "RESERVED #1 0\r\n", "TOUCHED")
    a.ask("bury #1 0\r\nkick-job #1\r\npeek #1", "BURIED", "KICKED", "FOUND #1 0\r\n")
    a.ask("peek-ready\r\npeek-delayed\r\npeek-buried",
          "FOUND #1 0\r\n", "NOT_FOUND", "NOT_FOUND")
    a.ask("use t\r\nwatch t\r\nignore t\r\nlist-tube-used", "USING t", "WATCHING 2", "WATCHING 1",
          "USING t")
    a.ask("list-tubes\r\nlist-tubes-watched\r\npause-tube t 0", "OK", "OK", "PAUSED")
    a.figures("stats-tube t", cmd_pause_tube=1)
    a.figures("stats-job #1", reserves=3, releases=1, buries=2, kicks=2)
    a.ask("delete #1", "DELETED")
    a.figures("stats", cmd_put=1, cmd_peek=1, cmd_peek_ready=1, cmd_peek_delayed=1,
              cmd_peek_buried=1, cmd_reserve=1, cmd_reserve_with_timeout=1, cmd_delete=1,
              cmd_release=1, cmd_use=1, cmd_watch=1, cmd_ignore=1, cmd_bury=2, cmd_kick=1,
              cmd_touch=1, cmd_stats_job=1, cmd_stats_tube=1, cmd_list_tubes=1,
              cmd_list_tube_used=1, cmd_list_tubes_watched=1, cmd_pause_tube=1)


def command_that_finds_nothing_counts(stage):
    a = stage.client()
    a.ask_each(["peek 9", "delete 9", "release 9 0 0", "bury 9 0", "touch 9", "stats-job 9",
                "stats-tube nowhere", "pause-tube nowhere 0", "reserve-job 9", "kick-job 9"],
               "NOT_FOUND")
    a.ask("ignore default", "NOT_IGNORED")
    a.figures("stats", cmd_peek=1, cmd_delete=1, cmd_release=1, cmd_bury=1, cmd_touch=1,
              cmd_stats_job=1, cmd_stats_tube=1, cmd_pause_tube=1, cmd_ignore=1)


def command_in_a_bad_format_does_not_count(stage):
    a = stage.client()
    a.ask_each(["peek x", "delete x", "release x 0 0", "release 1 0", "bury x 0", "touch x",
                "stats-job x", "stats-tube -", "use -", "watch -", "ignore -", "kick x", "put x",
                "put 0 0 60", "reserve x", "stats x", "list-tubes x", "list-tube-used x",
                "list-tubes-watched x", "peek-ready x", "peek-delayed x", "peek-buried x",
                "pause-tube t", "pause-tube t x"], "BAD_FORMAT")
    a.figures("stats", cmd_put=0, cmd_peek=0, cmd_delete=0, cmd_release=0, cmd_pause_tube=0,
              cmd_reserve=0, cmd_use=0, cmd_watch=0, cmd_ignore=0, cmd_kick=0)


def put_and_pause_count_before_their_last_check(stage):
    a = stage.client()
    a.ask("put 0 0 60 0 x", "BAD_FORMAT")
    a.ask("put 0 0 60 65536\r\n" + "b" * 65536, "JOB_TOO_BIG")
    a.ask_each(["pause-tube -bad 0", f"pause-tube {'n' * 201} 0"], "BAD_FORMAT")
    a.figures("stats", cmd_put=2, cmd_pause_tube=2, total_jobs=0, current_producers=0)


def pause_of_a_name_that_ends_early_does_not_count(stage):
    """The name ends at the first byte that no name has, and the rest is not a number."""
    a = stage.client()
    a.ask_each(["pause-tube a:b 0", "pause-tube :b 0", "pause-tube a\xffb 0", "pause-tube a: 0"],
               "BAD_FORMAT")
    a.figures("stats", cmd_pause_tube=0)


def waiter_that_was_woken_waits_no_more(stage):
    """In one piece with what wakes it, so that nothing comes between."""
    a, b = stage.open_clients(2)
    b.block()
    a.ask("put 0 0 60 0\r\n\r\nstats-tube default\r\nstats", "INSERTED #1", "OK", "OK")
    b.hear("RESERVED #1 0\r\n")
    b.ask("bury #1 0", "BURIED")
    b.block("reserve-with-timeout 1000")
    a.ask("kick 1\r\nstats", "KICKED 1", "OK")
    b.hear("RESERVED #1 0\r\n")


def urgent_jobs_are_ready_and_below_1024(stage):
    a = stage.client()
    for job, (pri, delay) in enumerate(((1023, 0), (1024, 0), (0, 0), (0, 1000)), start=1):
        a.ask(f"put {pri} {delay} 60 0\r\n", f"INSERTED #{job}")
    a.figures("stats", current_jobs_urgent=2, current_jobs_ready=3, current_jobs_delayed=1)
    a.ask("reserve", "RESERVED #3 0\r\n")
    a.figures("stats-tube default", current_jobs_urgent=1, current_jobs_reserved=1)
    a.ask("release #3 1024 0", "RELEASED")
    a.figures("stats-tube default", current_jobs_urgent=1, current_jobs_ready=3)
    a.ask("delete #1", "DELETED")
    a.figures("stats", current_jobs_urgent=0)
    a.ask("kick 1", "KICKED 1")
    a.figures("stats", current_jobs_urgent=1)


def producers_workers_and_waiters_are_connections(stage):
    a, b, c = stage.open_clients(3)
    a.ask("put 0 0 60 0\r\n\r\nput 0 0 60 0\r\n", "INSERTED #1", "INSERTED #2")
    b.ask("reserve\r\nreserve", "RESERVED #1 0\r\n", "RESERVED #2 0\r\n")
    c.figures("stats", current_producers=1, current_workers=1, current_connections=4)
    b.block("reserve-with-timeout 1000")
    c.figures("stats", current_waiting=1, current_workers=1)
    a.ask("reserve-with-timeout 0", "TIMED_OUT")
    c.figures("stats", current_producers=1, current_workers=2)
    a.hang_up()
    b.hang_up()
    c.figures("stats", current_producers=0, current_workers=0, current_waiting=0,
              total_connections=5, current_connections=2, current_jobs_ready=2)


def failed_puts_do_not_count_as_jobs(stage):
    a = stage.client()
    a.ask("put 0 0 60 1\r\nabc", "EXPECTED_CRLF", "UNKNOWN_COMMAND")
    a.figures("stats", cmd_put=1, total_jobs=0, current_producers=1)
    a.figures("stats-tube default", total_jobs=0)


def tube_called_like_a_number_is_shown_by_that_name(stage):
    a = stage.client()
    for name in ("12", "true", "1.5", "a;b", "(x)"):
        a.ask("use " + name, "USING " + name)
        a.figures("stats-tube " + name, name=name)
