# SPDX-License-Identifier: MIT
"""use, watch, ignore, pause-tube, the lists, and how long a tube lives."""

NOT_FOUND = "NOT_FOUND"


def connection_begins_with_default(stage):
    a = stage.client()
    a.ask("list-tube-used", "USING default")
    a.ask("list-tubes-watched", "OK")
    a.ask("list-tubes", "OK")
    a.ask("ignore default", "NOT_IGNORED")
    a.figures("stats-tube default", name="default", current_using=2, current_watching=2)


def watch_and_ignore_count(stage):
    a = stage.client()
    a.ask("watch x\r\nwatch x\r\nwatch default", "WATCHING 2", "WATCHING 2", "WATCHING 2")
    a.ask("watch y\r\nignore unwatched\r\nignore x", "WATCHING 3", "WATCHING 3", "WATCHING 2")
    a.ask("list-tubes-watched", "OK")
    a.ask("ignore default\r\nignore default", "WATCHING 1", "WATCHING 1")
    a.ask("ignore y\r\nignore x", "NOT_IGNORED", "WATCHING 1")
    a.ask("list-tubes-watched", "OK")


def many_tubes_are_watched_and_listed(stage):
    a = stage.client()
    for number in range(300):
        a.ask(f"watch tube-{number}", f"WATCHING {number + 2}")
    a.ask("list-tubes-watched", "OK")
    a.ask("list-tubes", "OK")
    for number in range(0, 300, 7):
        a.ask(f"ignore tube-{number}", f"WATCHING {300 - number // 7}")
    a.ask("list-tubes-watched", "OK")
    a.ask("list-tubes", "OK")
    a.figures("stats", current_tubes=258)


def tube_lives_while_it_is_used(stage):
    a, b = stage.open_clients(2)
    a.ask("use short", "USING short")
    b.figures("stats-tube short", current_using=1, current_watching=0)
    a.ask("use default", "USING default")
    b.ask("stats-tube short", NOT_FOUND)
    b.ask("list-tubes", "OK")


def tube_lives_while_it_is_watched(stage):
    a, b = stage.open_clients(2)
    a.ask("watch short", "WATCHING 2")
    b.figures("stats-tube short", current_using=0, current_watching=1)
    a.hang_up()
    b.ask("stats-tube short", NOT_FOUND)


def tube_lives_while_it_has_a_job_in_any_state(stage):
    a, b = stage.open_clients(2)
    a.ask("use short\r\nput 0 0 60 0\r\n\r\nuse default",
          "USING short", "INSERTED #1", "USING default")
    b.figures("stats-tube short", current_jobs_ready=1, current_using=0)
    a.ask("reserve-job #1", "RESERVED #1 0\r\n")
    b.figures("stats-tube short", current_jobs_reserved=1)
    a.ask("bury #1 0", "BURIED")
    b.figures("stats-tube short", current_jobs_buried=1)
    a.ask("reserve-job #1\r\nrelease #1 0 1000", "RESERVED #1 0\r\n", "RELEASED")
    b.figures("stats-tube short", current_jobs_delayed=1)
    a.ask("delete #1", "DELETED")
    b.ask("stats-tube short", NOT_FOUND)


def counters_of_a_tube_go_with_it(stage):
    a = stage.client()
    a.ask("use short\r\nput 0 0 60 0\r\n\r\ndelete 1",
          "USING short", "INSERTED #1", "DELETED")
    a.ask("pause-tube short 1000", "PAUSED")
    a.figures("stats-tube short", total_jobs=1, cmd_delete=1, cmd_pause_tube=1, pause=1000)
    # A paused tube stays, here.
    a.ask("pause-tube short 0", "PAUSED")
    a.ask("use default\r\nuse short", "USING default", "USING short")
    a.figures("stats-tube short", total_jobs=0, cmd_delete=0, cmd_pause_tube=0, pause=0)


def paused_tube_is_skipped_by_reserve_only(stage):
    a, b = stage.open_clients(2)
    a.ask("put 0 0 60 1\r\na", "INSERTED #1")
    a.ask("pause-tube default 1000", "PAUSED")
    a.figures("stats-tube default", pause=1000, cmd_pause_tube=1)
    b.ask("reserve-with-timeout 0", "TIMED_OUT")
    b.ask("peek-ready", "FOUND #1 1\r\na")
    b.ask("reserve-job #1", "RESERVED #1 1\r\na")
    b.ask("release #1 0 0", "RELEASED")
    b.ask("reserve-job #1\r\nbury #1 0", "RESERVED #1 1\r\na", "BURIED")
    b.ask("kick 1", "KICKED 1")
    b.ask("put 0 0 60 1\r\nb", "INSERTED #2")
    b.ask("delete #2", "DELETED")
    b.ask("watch other\r\nuse other\r\nput 9 0 60 1\r\nc", "WATCHING 2", "USING other",
          "INSERTED #3")
    b.ask("reserve", "RESERVED #3 1\r\nc")
    b.ask("reserve-with-timeout 0", "TIMED_OUT")


def unpausing_wakes_who_waits(stage):
    a, b = stage.open_clients(2)
    a.ask("pause-tube default 1000\r\nput 0 0 60 0\r\n", "PAUSED", "INSERTED #1")
    b.block()
    b.hear_nothing()
    a.ask("pause-tube default 0", "PAUSED")
    b.hear("RESERVED #1 0\r\n")
    a.figures("stats-tube default", cmd_pause_tube=2)


def pause_needs_a_tube(stage):
    a = stage.client()
    a.ask("pause-tube nowhere 10", NOT_FOUND)
    a.ask("stats-tube nowhere", NOT_FOUND)
    a.figures("stats", cmd_pause_tube=1, current_tubes=1)
