# SPDX-License-Identifier: MIT
"""Submissions of the same unique to the same function are one job."""

from gearman.packets import (GET_STATUS, GET_STATUS_UNIQUE, GRAB_JOB, GRAB_JOB_UNIQ, JOB_ASSIGN,
                             JOB_ASSIGN_UNIQ, JOB_CREATED, NO_JOB, STATUS_RES, STATUS_RES_UNIQUE,
                             SUBMIT_JOB, SUBMIT_JOB_BG, SUBMIT_JOB_HIGH, SUBMIT_JOB_LOW,
                             WORK_COMPLETE, WORK_DATA, WORK_FAIL, WORK_STATUS, WORK_WARNING)
from gearman.pair import Lines


def same_unique_is_the_same_job(stage):
    a, b, w = stage.client(), stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB("f", "u", "first"), JOB_CREATED("#1"))
    b.ask(SUBMIT_JOB("f", "u", "second"), JOB_CREATED("#1"))
    w.ask("status", Lines("f\t1\t0\t1"))
    w.ask("show unique jobs", Lines("u"))
    w.ask(GRAB_JOB_UNIQ(), JOB_ASSIGN_UNIQ("#1", "f", "u", "first"))
    w.ask(GRAB_JOB(), NO_JOB())
    w.tell(WORK_COMPLETE("#1", "for both"))
    a.hear(WORK_COMPLETE("#1", "for both"))
    b.hear(WORK_COMPLETE("#1", "for both"))


def unique_is_free_when_its_job_is_done(stage):
    a, w = stage.client(), stage.worker("f")
    for job in (1, 2, 3):
        a.ask(SUBMIT_JOB("f", "u", f"{job}"), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", f"{job}"))
        w.tell(WORK_FAIL(f"#{job}") if job == 2 else WORK_COMPLETE(f"#{job}", ""))
        a.hear(WORK_FAIL(f"#{job}") if job == 2 else WORK_COMPLETE(f"#{job}", ""))


def unique_is_of_its_function_and_to_the_letter(stage):
    a = stage.client()
    a.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB("g", "u", "x"), JOB_CREATED("#2"))
    a.ask(SUBMIT_JOB("f", "U", "x"), JOB_CREATED("#3"))
    a.ask(SUBMIT_JOB("f", "u ", "x"), JOB_CREATED("#4"))
    a.ask(SUBMIT_JOB("g", "u", "y"), JOB_CREATED("#2"))


def no_unique_is_never_the_same(stage):
    a = stage.client()
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#2"))
    a.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#3"))


def running_job_is_joined_too(stage):
    a, b, w = stage.client(), stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_DATA("#1", "early"))
    a.hear(WORK_DATA("#1", "early"))
    b.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    b.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "1", "0", "0", "2"))
    w.tell(WORK_DATA("#1", "late"), WORK_COMPLETE("#1", "end"))
    a.hear(WORK_DATA("#1", "late"), WORK_COMPLETE("#1", "end"))
    b.hear(WORK_DATA("#1", "late"), WORK_COMPLETE("#1", "end"))


def everything_is_told_to_everybody(stage):
    a, b, w = stage.client(), stage.client(), stage.worker("f")
    for client in (a, b):
        client.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    reports = [WORK_DATA("#1", "data"), WORK_WARNING("#1", "careful"), WORK_STATUS("#1", "1", "2"),
               WORK_DATA("#1", ""), WORK_STATUS("#1", "2", "2"), WORK_FAIL("#1")]
    w.tell(*reports)
    a.hear(*reports)
    b.hear(*reports)


def client_that_submits_twice_is_told_twice(stage):
    a, w = stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    a.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "2"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_STATUS("#1", "1", "9"))
    a.hear(WORK_STATUS("#1", "1", "9"), WORK_STATUS("#1", "1", "9"))
    w.tell(WORK_COMPLETE("#1", "r"))
    a.hear(WORK_COMPLETE("#1", "r"), WORK_COMPLETE("#1", "r"))


def dash_makes_the_workload_the_key(stage):
    a, b, w = stage.client(), stage.client(), stage.worker("f", "g")
    a.ask(SUBMIT_JOB("f", "-", "same"), JOB_CREATED("#1"))
    b.ask(SUBMIT_JOB("f", "-", "same"), JOB_CREATED("#1"))
    b.ask(SUBMIT_JOB("f", "-", "other"), JOB_CREATED("#2"))
    b.ask(SUBMIT_JOB("g", "-", "same"), JOB_CREATED("#3"))
    b.ask(SUBMIT_JOB("f", "same", "x"), JOB_CREATED("#4"))
    a.ask("status", Lines("f\t3\t0\t1", "g\t1\t0\t1"))
    a.ask("show unique jobs", Lines("-", "-", "-", "same"))
    a.ask(GET_STATUS_UNIQUE("-"), STATUS_RES_UNIQUE("-", "0", "0", "0", "0", "0"))


def dash_is_shown_to_the_worker(stage):
    a, w = stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB_BG("f", "-", "same"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB_UNIQ(), JOB_ASSIGN_UNIQ("#1", "f", "-", "same"))
    w.tell(WORK_COMPLETE("#1", ""))
    a.ask(SUBMIT_JOB_BG("f", "-", "same"), JOB_CREATED("#2"))


def dash_without_workload_is_no_key(stage):
    a = stage.client()
    a.ask(SUBMIT_JOB_BG("f", "-", ""), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB_BG("f", "-", ""), JOB_CREATED("#2"))


def second_submission_changes_nothing_but_who_is_told(stage):
    a, w = stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB_LOW("f", "u", "first"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB("f", "", "between"), JOB_CREATED("#2"))
    a.ask(SUBMIT_JOB_HIGH("f", "u", "second"), JOB_CREATED("#1"))
    a.ask("prioritystatus", Lines("f\t0\t1\t1\t1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#2", "f", "between"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "first"))


def background_duplicates_are_one_job(stage):
    a, w = stage.client(), stage.worker("f")
    for _ in range(3):
        a.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    a.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "0"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.ask(GRAB_JOB(), NO_JOB())


def foreground_client_joins_a_background_job(stage):
    a, b, w = stage.client(), stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    b.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    b.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_COMPLETE("#1", "r"))
    b.hear(WORK_COMPLETE("#1", "r"))
    a.hear_nothing()


def background_job_outlives_a_client_that_joined_it(stage):
    a, b, w = stage.client(), stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    b.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    b.hang_up()
    w.differ("joined background job", GRAB_JOB(),
             theirs=[NO_JOB()], ours=[JOB_ASSIGN("#1", "f", "x")])


def foreground_job_made_background_outlives_its_client(stage):
    a, b, w = stage.client(), stage.client(), stage.worker("f")
    b.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    b.hang_up()
    w.differ("joined background job", GRAB_JOB(),
             theirs=[NO_JOB()], ours=[JOB_ASSIGN("#1", "f", "x")])


def one_of_several_clients_may_go(stage):
    a, b, w = stage.client(), stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    b.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    a.hang_up()
    w.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_COMPLETE("#1", "r"))
    b.hear(WORK_COMPLETE("#1", "r"))


def late_client_gets_the_last_status(stage):
    a, b, w = stage.client(), stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_STATUS("#1", "1", "4"), WORK_STATUS("#1", "3", "4"))
    a.hear(WORK_STATUS("#1", "1", "4"), WORK_STATUS("#1", "3", "4"))
    b.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "1", "3", "4"))
    b.differ("status of a late client", SUBMIT_JOB("f", "u", "x"), theirs=[JOB_CREATED("#1")],
             ours=[JOB_CREATED("#1"), WORK_STATUS("#1", "3", "4")])
    w.tell(WORK_COMPLETE("#1", "r"))
    a.hear(WORK_COMPLETE("#1", "r"))
    b.hear(WORK_COMPLETE("#1", "r"))
