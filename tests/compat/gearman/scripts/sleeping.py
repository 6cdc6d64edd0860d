# SPDX-License-Identifier: MIT
"""PRE_SLEEP, and the NOOP that ends it."""

from gearman.packets import (CANT_DO, CAN_DO, ECHO_REQ, ECHO_RES, GRAB_JOB, JOB_ASSIGN,
                             JOB_CREATED, NOOP, NO_JOB, PRE_SLEEP, RESET_ABILITIES, SUBMIT_JOB_BG,
                             SUBMIT_JOB_HIGH_BG, WORK_COMPLETE)
from shared.scripts import servers


def sleeping_worker_is_woken_by_a_job(stage):
    c, w = stage.client(), stage.worker("f")
    w.tell(PRE_SLEEP())
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.hear(NOOP())
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.ask(GRAB_JOB(), NO_JOB())
    w.tell(WORK_COMPLETE("#1", ""), PRE_SLEEP())


def worker_with_work_to_do_does_not_fall_asleep(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.ask(PRE_SLEEP(), NOOP())
    w.ask(PRE_SLEEP(), NOOP())
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(PRE_SLEEP())


def worker_is_woken_once_however_many_jobs_come(stage):
    c, w = stage.client(), stage.worker("f")
    w.tell(PRE_SLEEP())
    for job in (1, 2, 3):
        c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED(f"#{job}"))
    w.hear(NOOP())
    w.hear_nothing()
    w.ask(PRE_SLEEP(), NOOP())
    for job in (1, 2, 3):
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", "x"))
    w.tell(PRE_SLEEP())


def all_sleeping_workers_are_woken(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("g", "f")
    v.tell(PRE_SLEEP())
    w.tell(PRE_SLEEP())
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    v.hear(NOOP())
    w.hear(NOOP())
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    v.ask(GRAB_JOB(), NO_JOB())


def job_of_another_function_wakes_no_worker(stage):
    c, w = stage.client(), stage.worker("f")
    w.tell(PRE_SLEEP())
    c.ask(SUBMIT_JOB_BG("g", "", "x"), JOB_CREATED("#1"))
    w.hear_nothing()


def worker_that_is_awake_is_not_woken(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.hear_nothing()
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(PRE_SLEEP())
    w.ask(GRAB_JOB(), NO_JOB())
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#2"))
    w.hear_nothing()


def grab_ends_the_sleep(stage):
    c, w = stage.client(), stage.worker("f")
    w.tell(PRE_SLEEP())
    w.ask(GRAB_JOB(), NO_JOB())
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.hear_nothing()


def sleeping_worker_still_speaks(stage):
    c, w = stage.client(), stage.worker("f")
    w.tell(PRE_SLEEP())
    w.ask(ECHO_REQ("asleep"), ECHO_RES("asleep"))
    w.ask("version", "OK <version>\n")
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.hear(NOOP())


def worker_without_functions_is_never_woken(stage):
    c, w = stage.open_clients(2)
    w.tell(PRE_SLEEP())
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.hear_nothing()
    w.tell(PRE_SLEEP())


def function_that_was_given_up_wakes_no_worker(stage):
    c, v, w = stage.client(), stage.worker("f", "g"), stage.worker("f")
    v.tell(PRE_SLEEP(), CANT_DO("f"))
    w.tell(PRE_SLEEP(), RESET_ABILITIES())
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    v.hear_nothing()
    w.hear_nothing()
    c.ask(SUBMIT_JOB_BG("g", "", "x"), JOB_CREATED("#2"))
    v.hear(NOOP())


def function_that_is_added_to_a_sleeping_worker_wakes_it(stage):
    c, w = stage.client(), stage.worker("f")
    w.tell(PRE_SLEEP(), CAN_DO("g"))
    c.ask(SUBMIT_JOB_BG("g", "", "x"), JOB_CREATED("#1"))
    w.hear(NOOP())
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "g", "x"))


def work_that_waits_wakes_a_worker_that_learns_it_asleep(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB_BG("g", "", "x"), JOB_CREATED("#1"))
    w.tell(PRE_SLEEP())
    w.differ("function learnt asleep", CAN_DO("g"), theirs=[], ours=[NOOP()])
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "g", "x"))


def duplicate_of_a_waiting_job_wakes_no_worker(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(PRE_SLEEP())
    c.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    w.hear_nothing()


def sleepers_are_woken_when_a_worker_is_lost(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("f")
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(PRE_SLEEP())
    v.hang_up()
    w.hear(NOOP())
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))


@servers(flags=["-w", "1"], settings={"worker_wakeup": 1})
def one_worker_is_woken_for_each_job(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("f")
    v.tell(PRE_SLEEP())
    w.tell(PRE_SLEEP())
    c.ask(SUBMIT_JOB_HIGH_BG("f", "", "x"), JOB_CREATED("#1"))
    v.hear(NOOP())
    w.hear_nothing()
    c.ask(SUBMIT_JOB_HIGH_BG("f", "", "x"), JOB_CREATED("#2"))
    w.hear(NOOP())
    v.hear_nothing()
