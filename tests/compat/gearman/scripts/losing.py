# SPDX-License-Identifier: MIT
"""Workers and clients that go away in the middle of things."""

from gearman.packets import (GET_STATUS, GRAB_JOB, JOB_ASSIGN, JOB_CREATED, NOOP, NO_JOB,
                             PRE_SLEEP, STATUS_RES, SUBMIT_JOB, SUBMIT_JOB_BG, SUBMIT_JOB_HIGH,
                             WORK_COMPLETE, WORK_DATA, WORK_FAIL, WORK_STATUS)
from gearman.pair import Lines
from gearman.refusals import NO_JOB_FOR_RESULT
from shared.scripts import servers


def job_of_a_lost_worker_goes_to_the_next(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    v.tell(WORK_STATUS("#1", "1", "2"), WORK_DATA("#1", "first try"))
    c.hear(WORK_STATUS("#1", "1", "2"), WORK_DATA("#1", "first try"))
    v.hang_up()
    c.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "0", "0", "0"))
    c.ask("status", Lines("f\t1\t0\t1"))
    c.ask("show jobs", Lines("#1\t1\t0\t0"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_COMPLETE("#1", "second try"))
    c.hear(WORK_COMPLETE("#1", "second try"))


def background_job_of_a_lost_worker_goes_to_the_next(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("f")
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.hang_up()
    v.hang_up()
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))


def lost_job_goes_behind_its_equals(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("f")
    for job, submit in enumerate((SUBMIT_JOB, SUBMIT_JOB, SUBMIT_JOB_BG), start=1):
        c.ask(submit("f", "", f"{job}"), JOB_CREATED(f"#{job}"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "1"))
    v.hang_up()
    for job in (2, 3, 1):
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", f"{job}"))


def lost_job_keeps_its_priority(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("f")
    c.ask(SUBMIT_JOB_HIGH("f", "", "1"), JOB_CREATED("#1"))
    c.ask(SUBMIT_JOB("f", "", "2"), JOB_CREATED("#2"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "1"))
    v.hang_up()
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#2", "f", "2"))


def worker_that_half_closes_has_gone(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(PRE_SLEEP())
    v.half_close()
    v.ends()
    w.hear(NOOP())
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))


def job_may_be_lost_for_ever(stage):
    c = stage.client()
    c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    for lost in range(1, 6):
        w = stage.worker("f")
        w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
        w.hang_up()
        c.ask("show jobs", Lines(f"#1\t{lost}\t0\t0"))
    c.hear_nothing()


@servers(flags=["-j", "2"], settings={"job_retries": 2})
def second_loss_may_be_the_last(stage):
    c = stage.client()
    c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    c.ask(SUBMIT_JOB_BG("f", "", "y"), JOB_CREATED("#2"))
    v, w = stage.worker("f"), stage.worker("f")
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#2", "f", "y"))
    v.hang_up()
    c.hear_nothing()
    c.ask("status", Lines("f\t2\t0\t1"))
    x, y = JOB_ASSIGN("#1", "f", "x"), JOB_ASSIGN("#2", "f", "y")
    w.differ("order of lost jobs", (GRAB_JOB(), GRAB_JOB(), GRAB_JOB()),
             theirs=[y, x, NO_JOB()], ours=[x, y, NO_JOB()])
    c.ask("create function f", "OK\r\n")
    w.hang_up()
    c.hear(WORK_FAIL("#1"))
    c.ask("status", Lines("f\t0\t0\t0"))


@servers(flags=["-j", "1"], settings={"job_retries": 1})
def first_loss_may_be_the_last(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.hang_up()
    c.hear(WORK_FAIL("#1"))
    c.ask(GET_STATUS("#1"), STATUS_RES("#1", "0", "0", "0", "0"))
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#2"))


@servers(flags=["-j", "0"], settings={"job_retries": 0})
def no_retry_is_one_attempt(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    v.hang_up()
    c.differ("no retry", (), theirs=[], ours=[WORK_FAIL("#1")])
    w.differ("no retry", GRAB_JOB(), theirs=[JOB_ASSIGN("#1", "f", "x")], ours=[NO_JOB()])


def queued_job_goes_with_its_client(stage):
    a, c, w = stage.client(), stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    c.hang_up()
    a.differ("job without clients", "status", theirs=[Lines("f\t1\t0\t1")],
             ours=[Lines("f\t0\t0\t1")])
    a.differ("job without clients", "show jobs", theirs=[Lines("#1\t0\t1\t0")], ours=[Lines()])
    w.ask(GRAB_JOB(), NO_JOB())
    a.ask("status", Lines("f\t0\t0\t1"))


def running_job_runs_on_without_its_client(stage):
    a, c, w = stage.client(), stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.hang_up()
    a.ask("status", Lines("f\t1\t1\t1"))
    a.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "1", "0", "0"))
    w.tell(WORK_DATA("#1", "for nobody"), WORK_STATUS("#1", "1", "2"), WORK_COMPLETE("#1", "r"))
    w.ask(WORK_COMPLETE("#1", "r"), NO_JOB_FOR_RESULT)
    a.ask("status", Lines("f\t0\t0\t1"))


def running_job_without_client_is_not_retried(stage):
    a, c, v, w = stage.client(), stage.client(), stage.worker("f"), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.hang_up()
    v.hang_up()
    w.ask(GRAB_JOB(), NO_JOB())
    a.ask("status", Lines("f\t0\t0\t1"))


def new_client_joins_the_job_of_one_that_left(stage):
    c, d, w = stage.client(), stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.hang_up()
    d.ask(SUBMIT_JOB("f", "u", "y"), JOB_CREATED("#1"))
    w.tell(WORK_COMPLETE("#1", "r"))
    d.hear(WORK_COMPLETE("#1", "r"))


def new_client_is_served_after_the_first_one_left_the_queue(stage):
    c, d, w = stage.client(), stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    c.hang_up()
    d.differ("job without clients", SUBMIT_JOB("f", "u", "y"), theirs=[JOB_CREATED("#1")],
             ours=[JOB_CREATED("#2")])
    w.differ("job without clients", GRAB_JOB(), theirs=[NO_JOB()],
             ours=[JOB_ASSIGN("#2", "f", "y")])


def client_that_half_closes_has_gone(stage):
    a, c, w = stage.client(), stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    c.half_close()
    c.ends()
    w.ask(GRAB_JOB(), NO_JOB())
    a.ask("status", Lines("f\t0\t0\t1"))
