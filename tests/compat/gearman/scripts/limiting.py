# SPDX-License-Identifier: MIT
"""maxqueue: how many jobs a function may have, by the priority of the next."""

from gearman.packets import (GRAB_JOB, JOB_ASSIGN, JOB_CREATED, SUBMIT_JOB, SUBMIT_JOB_BG,
                             SUBMIT_JOB_EPOCH, SUBMIT_JOB_HIGH, SUBMIT_JOB_HIGH_BG, SUBMIT_JOB_LOW,
                             SUBMIT_JOB_LOW_BG, SUBMIT_REDUCE_JOB, WORK_COMPLETE)
from gearman.pair import Lines
from gearman.refusals import INCOMPLETE, QUEUE_FULL

OK = "OK\r\n"


def maxqueue_needs_a_function(stage):
    a = stage.client()
    for word in ("maxqueue", "MaxQueue"):
        a.ask(word, INCOMPLETE + word + "\r\n")


def maxqueue_takes_anything(stage):
    a = stage.client()
    a.ask("create function f", OK)
    a.ask_each(["maxqueue f", "maxqueue f 1", "maxqueue f x", "maxqueue f -1", "maxqueue f 1 2",
                "maxqueue f 1 2 3", "maxqueue nowhere 1", "MAXQUEUE f 99999999999", "maxqueue f ",
                "maxqueue f 0"], OK)
    a.ask("status", Lines("f\t0\t0\t0"))


def a_function_that_does_not_exist_gets_no_limit(stage):
    a = stage.client()
    a.ask("maxqueue f 1", OK)
    a.ask("status", Lines())
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#2"))
    a.ask("status", Lines("f\t2\t0\t0"))


def one_number_is_for_all(stage):
    a = stage.client()
    a.ask("create function f", OK)
    a.ask("maxqueue f 2", OK)
    a.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#2"))
    for submit in (SUBMIT_JOB, SUBMIT_JOB_BG, SUBMIT_JOB_HIGH, SUBMIT_JOB_HIGH_BG, SUBMIT_JOB_LOW,
                   SUBMIT_JOB_LOW_BG):
        a.ask(submit("f", "", "x"), QUEUE_FULL)
    a.ask(SUBMIT_JOB_EPOCH("f", "", "1", "x"), QUEUE_FULL)
    a.ask(SUBMIT_REDUCE_JOB("f", "", "r", "", "x"), QUEUE_FULL)
    a.ask(SUBMIT_JOB("g", "", "x"), JOB_CREATED("#3"))
    a.ask("status", Lines("f\t2\t0\t0", "g\t1\t0\t0"))


def three_numbers_are_for_high_normal_and_low(stage):
    a = stage.client()
    a.ask("create function f", OK)
    a.ask("maxqueue f 3 2 1", OK)
    a.ask(SUBMIT_JOB_LOW_BG("f", "", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB_LOW_BG("f", "", "x"), QUEUE_FULL)
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#2"))
    a.ask(SUBMIT_JOB_BG("f", "", "x"), QUEUE_FULL)
    a.ask(SUBMIT_JOB_HIGH_BG("f", "", "x"), JOB_CREATED("#3"))
    a.ask(SUBMIT_JOB_HIGH_BG("f", "", "x"), QUEUE_FULL)


def two_numbers_leave_low_without_limit(stage):
    a = stage.client()
    a.ask("create function f", OK)
    a.ask("maxqueue f 1 1", OK)
    a.ask(SUBMIT_JOB_LOW_BG("f", "", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB_LOW_BG("f", "", "x"), JOB_CREATED("#2"))
    a.ask(SUBMIT_JOB_BG("f", "", "x"), QUEUE_FULL)
    a.ask(SUBMIT_JOB_HIGH_BG("f", "", "x"), QUEUE_FULL)


def running_jobs_count(stage):
    a, w = stage.client(), stage.worker("f")
    a.ask("maxqueue f 1", OK)
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    a.ask(SUBMIT_JOB_BG("f", "", "x"), QUEUE_FULL)
    w.tell(WORK_COMPLETE("#1", ""))
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#2"))


def joining_is_not_limited(stage):
    a = stage.client()
    a.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    a.ask("maxqueue f 1", OK)
    a.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB("f", "v", "x"), QUEUE_FULL)


def limit_is_lifted(stage):
    a = stage.client()
    a.ask("create function f", OK)
    job = 0
    for lift in ("maxqueue f", "maxqueue f 0", "maxqueue f -1", "maxqueue f x"):
        a.ask(f"maxqueue f {job + 1}", OK)
        a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED(f"#{job + 1}"))
        a.ask(SUBMIT_JOB_BG("f", "", "x"), QUEUE_FULL)
        a.ask(lift, OK)
        a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED(f"#{job + 2}"))
        job += 2


def limit_of_an_unknown_function_is_forgotten(stage):
    a = stage.client()
    a.ask("maxqueue f 1", OK)
    a.ask("status", Lines())
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#2"))


def full_queue_takes_jobs_again_when_it_has_room(stage):
    a, w = stage.client(), stage.worker("f")
    a.ask("maxqueue f 1", OK)
    a.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB("f", "", "x"), QUEUE_FULL)
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_COMPLETE("#1", "r"))
    a.hear(WORK_COMPLETE("#1", "r"))
    a.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#2"))
