# SPDX-License-Identifier: MIT
"""delete, release, bury, touch, kick and the peeks: by whom, in which state, with what effect."""

ALL_OF_HOLDER = ["release #1 0 0", "bury #1 0", "touch #1"]


def _three_states(a):
    """Leaves a ready, a delayed and a buried job in the tube used."""
    a.ask("put 0 0 60 1\r\nb", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 1\r\nb")
    a.ask("bury #1 5", "BURIED")
    a.ask("put 0 1000 60 1\r\nd", "INSERTED #2")
    a.ask("put 0 0 60 1\r\nr", "INSERTED #3")


def delete_works_in_every_state(stage):
    a, b = stage.open_clients(2)
    _three_states(a)
    a.ask("put 9 0 60 0\r\n", "INSERTED #4")
    a.ask("reserve-job #4", "RESERVED #4 0\r\n")
    b.ask("delete #4", "NOT_FOUND")
    b.ask_each(["delete #1", "delete #2", "delete #3"], "DELETED")
    a.ask("delete #4", "DELETED")
    a.ask_each([f"delete #{job}" for job in (1, 2, 3, 4)], "NOT_FOUND")
    a.figures("stats-tube default", cmd_delete=4, total_jobs=4)


def only_the_holder_releases_buries_and_touches(stage):
    a, b = stage.open_clients(2)
    a.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.ask_each(ALL_OF_HOLDER, "NOT_FOUND")
    a.ask("reserve", "RESERVED #1 0\r\n")
    b.ask_each(ALL_OF_HOLDER, "NOT_FOUND")
    a.ask("touch #1", "TOUCHED")
    a.ask("bury #1 0", "BURIED")
    a.ask_each(ALL_OF_HOLDER, "NOT_FOUND")
    a.ask_each(["release 77 0 0", "bury 77 0", "touch 77"], "NOT_FOUND")


def release_sets_priority_and_delay(stage):
    a = stage.client()
    a.ask("put 1 0 60 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    a.ask("release #1 2000 0", "RELEASED")
    a.figures("stats-job #1", state="ready", pri=2000, delay=0, releases=1)
    a.ask("reserve", "RESERVED #1 0\r\n")
    a.ask("release #1 3 1000", "RELEASED")
    a.figures("stats-job #1", state="delayed", pri=3, delay=1000, releases=2, reserves=2)


def bury_sets_priority_and_keeps_delay(stage):
    a = stage.client()
    a.ask("put 1 1000 60 0\r\n", "INSERTED #1")
    a.ask("reserve-job #1", "RESERVED #1 0\r\n")
    a.ask("bury #1 77", "BURIED")
    a.figures("stats-job #1", state="buried", pri=77, delay=1000, buries=1, time_left=0)
    a.ask("kick-job #1", "KICKED")
    a.figures("stats-job #1", state="ready", pri=77, delay=1000, buries=1, kicks=1)


def peek_finds_any_job(stage):
    a, b = stage.open_clients(2)
    a.ask("use hidden", "USING hidden")
    a.ask("put 0 0 60 3\r\nabc", "INSERTED #1")
    b.ask("peek #1", "FOUND #1 3\r\nabc")
    a.ask("reserve-job #1", "RESERVED #1 3\r\nabc")
    b.ask("peek #1", "FOUND #1 3\r\nabc")
    a.ask("bury #1 0", "BURIED")
    b.ask("peek #1", "FOUND #1 3\r\nabc")
    b.ask("peek 77", "NOT_FOUND")


def peeks_look_into_the_used_tube(stage):
    a = stage.client()
    _three_states(a)
    a.ask("peek-buried", "FOUND #1 1\r\nb")
    a.ask("peek-delayed", "FOUND #2 1\r\nd")
    a.ask("peek-ready", "FOUND #3 1\r\nr")
    a.ask("watch other\r\nuse other", "WATCHING 2", "USING other")
    a.ask_each(["peek-buried", "peek-delayed", "peek-ready"], "NOT_FOUND")


def peeks_find_the_first_of_each_kind(stage):
    a = stage.client()
    for job, (pri, delay) in enumerate(((5, 0), (2, 0), (2, 0), (0, 3000), (9, 1000), (1, 2000)),
                                       start=1):
        a.ask(f"put {pri} {delay} 60 0\r\n", f"INSERTED #{job}")
    a.ask("peek-ready", "FOUND #2 0\r\n")
    a.ask("peek-delayed", "FOUND #5 0\r\n")
    for job in (2, 1, 3):
        a.ask(f"reserve-job #{job}\r\nbury #{job} {9 - job}", f"RESERVED #{job} 0\r\n", "BURIED")
    a.ask("peek-buried", "FOUND #2 0\r\n")
    a.ask("delete #2\r\npeek-buried", "DELETED", "FOUND #1 0\r\n")


def kick_takes_buried_jobs_before_delayed_ones(stage):
    a = stage.client()
    _three_states(a)
    a.ask("kick 100", "KICKED 1")
    a.figures("stats-job #1", state="ready", kicks=1, pri=5)
    a.figures("stats-job #2", state="delayed", kicks=0)
    a.ask("kick 100", "KICKED 1")
    a.figures("stats-job #2", state="ready", kicks=1, delay=1000)
    a.ask("kick 100", "KICKED 0")


def kick_takes_the_longest_buried_and_the_soonest_delayed(stage):
    a = stage.client()
    for job, delay in enumerate((3000, 1000, 2000), start=1):
        a.ask(f"put 0 {delay} 60 0\r\n", f"INSERTED #{job}")
    a.ask("kick 1\r\npeek-ready", "KICKED 1", "FOUND #2 0\r\n")
    a.ask("kick 1\r\npeek-delayed", "KICKED 1", "FOUND #1 0\r\n")
    for job in (3, 2, 1):
        a.ask(f"reserve-job #{job}\r\nbury #{job} 0", f"RESERVED #{job} 0\r\n", "BURIED")
    a.ask("kick 2\r\npeek-buried", "KICKED 2", "FOUND #1 0\r\n")


def kick_is_for_the_used_tube(stage):
    a, b = stage.open_clients(2)
    _three_states(a)
    b.ask("use other\r\nkick 10", "USING other", "KICKED 0")
    b.ask("kick-job #1\r\nkick-job #2", "KICKED", "KICKED")
    b.ask("kick-job #3\r\nkick-job #1\r\nkick-job 77", "NOT_FOUND", "NOT_FOUND", "NOT_FOUND")
    a.ask("reserve", "RESERVED #2 1\r\nd")
    b.ask("kick-job #2", "NOT_FOUND")


def waiter_gets_the_first_of_several_kicked(stage):
    a, b = stage.open_clients(2)
    for job, pri in enumerate((9, 0, 5), start=1):
        a.ask("put 0 0 60 0\r\n", f"INSERTED #{job}")
        a.ask(f"reserve\r\nbury #{job} {pri}", f"RESERVED #{job} 0\r\n", "BURIED")
    b.block()
    a.ask("kick 3", "KICKED 3")
    b.hear("RESERVED #1 0\r\n")
    b.ask("reserve\r\nreserve", "RESERVED #2 0\r\n", "RESERVED #3 0\r\n")


def waiter_gets_the_best_of_several_given_back(stage):
    a, b = stage.open_clients(2)
    for job, pri in enumerate((9, 0, 5), start=1):
        a.ask(f"put {pri} 0 60 0\r\n", f"INSERTED #{job}")
        a.ask("reserve", f"RESERVED #{job} 0\r\n")
    b.block()
    a.hang_up()
    b.differ("given back best first", "", theirs=["RESERVED #1 0\r\n"], ours=["RESERVED #2 0\r\n"])


def equal_jobs_are_given_back_in_the_order_of_their_reserves(stage):
    a, b = stage.open_clients(2)
    for job, ttr in enumerate((3000, 2000, 1000), start=1):
        a.ask(f"put 0 0 {ttr} 0\r\n", f"INSERTED #{job}")
        a.ask("reserve", f"RESERVED #{job} 0\r\n")
    b.block()
    a.hang_up()
    b.hear("RESERVED #1 0\r\n")


def job_changes_hands_many_times(stage):
    a, b = stage.open_clients(2)
    a.ask("put 5 0 60 4\r\nbusy", "INSERTED #1")
    for turn in range(1, 6):
        a.ask("reserve", "RESERVED #1 4\r\nbusy")
        a.ask("release #1 5 0", "RELEASED")
        b.ask("reserve", "RESERVED #1 4\r\nbusy")
        b.ask("bury #1 5", "BURIED")
        a.ask("kick 1", "KICKED 1")
        b.figures("stats-job #1", reserves=2 * turn, releases=turn, buries=turn, kicks=turn)
