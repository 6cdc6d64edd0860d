# SPDX-License-Identifier: MIT
"""reserve and its kin: which job, for whom, and when there is none."""


def smallest_priority_then_oldest_job_comes_first(stage):
    a = stage.client()
    for job, pri in enumerate((5, 1, 5, 0, 1, 4294967295), start=1):
        a.ask(f"put {pri} 0 60 1\r\nx", f"INSERTED #{job}")
    for job in (4, 2, 5, 1, 3, 6):
        a.ask("reserve", f"RESERVED #{job} 1\r\nx")
    a.ask("reserve-with-timeout 0", "TIMED_OUT")


def choice_is_over_all_watched_tubes(stage):
    a, b = stage.open_clients(2)
    for job, (tube, pri) in enumerate((("x", 2), ("y", 2), ("x", 1), ("y", 1), ("z", 0)), start=1):
        a.ask(f"use {tube}\r\nput {pri} 0 60 0\r\n", f"USING {tube}", f"INSERTED #{job}")
    b.ask("watch y\r\nwatch x", "WATCHING 2", "WATCHING 3")
    for job in (3, 4, 1, 2):
        b.ask("reserve", f"RESERVED #{job} 0\r\n")
    b.ask("reserve-with-timeout 0", "TIMED_OUT")
    b.ask("watch z\r\nreserve", "WATCHING 4", "RESERVED #5 0\r\n")


def released_job_goes_before_newer_ones(stage):
    a = stage.client()
    a.ask("put 5 0 60 0\r\n\r\nput 5 0 60 0\r\n", "INSERTED #1", "INSERTED #2")
    a.ask("reserve", "RESERVED #1 0\r\n")
    a.ask("release #1 5 0", "RELEASED")
    a.ask("reserve", "RESERVED #1 0\r\n")
    a.ask("release #1 6 0", "RELEASED")
    a.ask("reserve", "RESERVED #2 0\r\n")


def blocked_reserve_gets_the_next_job(stage):
    a, b = stage.open_clients(2)
    a.ask("watch t", "WATCHING 2")
    a.block()
    b.figures("stats-tube t", current_waiting=1, current_watching=1)
    b.figures("stats-tube default", current_waiting=1, current_watching=3)
    b.ask("use t\r\nput 0 0 60 2\r\nhi", "USING t", "INSERTED #1")
    a.hear("RESERVED #1 2\r\nhi")
    b.figures("stats-tube t", current_waiting=0, current_jobs_reserved=1)


def commands_behind_a_blocked_reserve_wait(stage):
    a, b = stage.open_clients(2)
    a.block("reserve\r\nlist-tube-used\r\nuse late\r\ndelete 1")
    a.hear_nothing()
    b.ask("list-tubes", "OK")
    b.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.hear("RESERVED #1 0\r\n", "USING default", "USING late", "DELETED")


def waiters_are_served_in_order_at_first(stage):
    first, second, third, producer = stage.open_clients(4)
    for client in (first, second, third):
        client.block()
    for job, client in enumerate((first, second, third), start=1):
        producer.ask("put 0 0 60 0\r\n", f"INSERTED #{job}")
        client.hear(f"RESERVED #{job} 0\r\n")


def waiters_need_the_right_tube(stage):
    a, b, producer = stage.open_clients(3)
    a.ask("watch x\r\nignore default", "WATCHING 2", "WATCHING 1")
    a.block()
    b.ask("watch y\r\nignore default", "WATCHING 2", "WATCHING 1")
    b.block("reserve-with-timeout 1000")
    producer.ask("put 0 0 60 0\r\n", "INSERTED #1")
    a.hear_nothing()
    producer.ask("use y\r\nput 0 0 60 0\r\n", "USING y", "INSERTED #2")
    b.hear("RESERVED #2 0\r\n")
    producer.ask("use x\r\nput 0 0 60 0\r\n", "USING x", "INSERTED #3")
    a.hear("RESERVED #3 0\r\n")


def every_way_to_ready_wakes_a_waiter(stage):
    a, b = stage.open_clients(2)
    for job, verb in enumerate(("release", "kick", "kick-job"), start=1):
        b.ask("put 0 0 1000 0\r\n", f"INSERTED #{job}")
        b.ask("reserve", f"RESERVED #{job} 0\r\n")
        if verb == "release":
            a.block()
            b.ask(f"release #{job} 0 0", "RELEASED")
        else:
            b.ask(f"bury #{job} 0", "BURIED")
            a.block()
            b.ask(*(("kick 1", "KICKED 1") if verb == "kick" else (f"kick-job #{job}", "KICKED")))
        a.hear(f"RESERVED #{job} 0\r\n")


def hang_up_of_a_worker_wakes_a_waiter(stage):
    a, b, c = stage.open_clients(3)
    a.ask("put 7 0 60 0\r\n", "INSERTED #1")
    a.ask("reserve", "RESERVED #1 0\r\n")
    b.block()
    a.hang_up()
    b.hear("RESERVED #1 0\r\n")
    c.figures("stats-job #1", state="reserved", reserves=2, timeouts=0, releases=0)


def hang_up_of_a_waiter_cancels_its_reserve(stage):
    a, b = stage.open_clients(2)
    a.block()
    a.hang_up()
    b.figures("stats", current_waiting=0, current_workers=0)
    b.ask("put 0 0 60 0\r\n", "INSERTED #1")
    b.figures("stats-job #1", state="ready")


def quit_gives_reserved_jobs_back(stage):
    a, b = stage.open_clients(2)
    a.ask("put 7 0 60 0\r\n\r\nput 3 0 60 0\r\n", "INSERTED #1", "INSERTED #2")
    a.ask("reserve\r\nreserve", "RESERVED #2 0\r\n", "RESERVED #1 0\r\n")
    b.ask("peek-ready", "NOT_FOUND")
    a.ask("quit")
    a.ends()
    b.figures("stats-job #1", state="ready", reserves=1, releases=0, timeouts=0, pri=7)
    b.ask("reserve\r\nreserve", "RESERVED #2 0\r\n", "RESERVED #1 0\r\n")


def reserve_job_takes_any_job_that_is_not_reserved(stage):
    a, b = stage.open_clients(2)
    a.ask("use unwatched", "USING unwatched")
    a.ask("put 0 0 60 1\r\nr", "INSERTED #1")
    a.ask("put 0 1000 60 1\r\nd", "INSERTED #2")
    a.ask("put 0 0 60 1\r\nb", "INSERTED #3")
    b.ask("reserve-job #3", "RESERVED #3 1\r\nb")
    b.ask("bury #3 0", "BURIED")
    a.ask("pause-tube unwatched 1000", "PAUSED")
    for job, body in enumerate("rdb", start=1):
        b.ask(f"reserve-job #{job}", f"RESERVED #{job} 1\r\n{body}")
        b.figures(f"stats-job #{job}", state="reserved")
    a.ask_each([f"reserve-job {job}" for job in ("#1", "#2", "#3", "99")], "NOT_FOUND")
    b.ask("reserve-job #1", "NOT_FOUND")
    b.ask("release #2 0 0", "RELEASED")
    b.figures("stats-job #2", state="ready", delay=0)
    b.figures("stats", current_workers=1)


def order_of_later_waiters_differs(stage):
    """The reference moves the last waiter into the place of the one that was served."""
    waiters = stage.open_clients(5)
    producer = stage.client()
    for waiter in waiters:
        waiter.block()
    for job, waiter in enumerate(waiters, start=1):
        producer.ask("put 0 0 60 0\r\n", f"INSERTED #{job}")
        waiter.hear(f"RESERVED #{job} 0\r\n")
    for waiter in waiters:
        waiter.block()
    for job in range(6, 11):
        producer.ask("put 0 0 60 0\r\n", f"INSERTED #{job}")
    for waiter, theirs, ours in zip(waiters, (8, 6, 7, 10, 9), (6, 7, 8, 9, 10)):
        waiter.differ("waiters in their order", "",
                      theirs=[f"RESERVED #{theirs} 0\r\n"], ours=[f"RESERVED #{ours} 0\r\n"])
