# SPDX-License-Identifier: MIT
"""WORK_EXCEPTION, to clients that asked for it and to others."""

from gearman.packets import (GRAB_JOB, JOB_ASSIGN, JOB_CREATED, OPTION_REQ, OPTION_RES, SUBMIT_JOB,
                             SUBMIT_JOB_BG, WORK_COMPLETE, WORK_EXCEPTION, WORK_FAIL)
from gearman.pair import Lines
from gearman.refusals import NO_JOB_FOR_EXCEPTION, NO_JOB_FOR_RESULT, UNKNOWN_OPTION
from shared.scripts import servers


def _running_job(stage, client):
    worker = stage.worker("f")
    client.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    worker.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    return worker


def exception_is_told_to_who_asked_for_it(stage):
    c = stage.client()
    c.ask(OPTION_REQ("exceptions"), OPTION_RES("exceptions"))
    w = _running_job(stage, c)
    w.tell(WORK_EXCEPTION("#1", "wh\0y"))
    c.hear(WORK_EXCEPTION("#1", "wh\0y"))
    c.hear_nothing()


def exception_is_a_failure_to_others(stage):
    c = stage.client()
    w = _running_job(stage, c)
    w.tell(WORK_EXCEPTION("#1", "why"))
    c.differ("NUL behind an argument", (), theirs=[WORK_FAIL("#1\0")], ours=[WORK_FAIL("#1")])


def exception_ends_the_job(stage):
    c = stage.client()
    c.ask(OPTION_REQ("exceptions"), OPTION_RES("exceptions"))
    w = _running_job(stage, c)
    w.tell(WORK_EXCEPTION("#1", ""))
    w.differ("failure behind an exception", WORK_FAIL("#1"), theirs=[NO_JOB_FOR_RESULT], ours=[])
    w.ask(WORK_FAIL("#1"), NO_JOB_FOR_RESULT)
    w.ask(WORK_COMPLETE("#1", ""), NO_JOB_FOR_RESULT)
    w.ask(WORK_EXCEPTION("#1", ""), NO_JOB_FOR_EXCEPTION)
    c.hear(WORK_EXCEPTION("#1", ""))
    c.ask("status", Lines("f\t0\t0\t1"))
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#2"))


def exception_and_failure_in_one_piece_are_one_failure(stage):
    c = stage.client()
    c.ask(OPTION_REQ("exceptions"), OPTION_RES("exceptions"))
    w = _running_job(stage, c)
    w.differ("failure behind an exception", (WORK_EXCEPTION("#1", "why"), WORK_FAIL("#1")),
             theirs=[NO_JOB_FOR_RESULT], ours=[])
    c.hear(WORK_EXCEPTION("#1", "why"))


def each_client_is_told_in_its_way(stage):
    c, d = stage.open_clients(2)
    c.ask(OPTION_REQ("exceptions"), OPTION_RES("exceptions"))
    w = _running_job(stage, c)
    d.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.tell(WORK_EXCEPTION("#1", "why"))
    c.hear(WORK_EXCEPTION("#1", "why"))
    d.differ("NUL behind an argument", (), theirs=[WORK_FAIL("#1\0")], ours=[WORK_FAIL("#1")])


def option_may_come_after_the_submission(stage):
    c = stage.client()
    w = _running_job(stage, c)
    c.ask(OPTION_REQ("exceptions"), OPTION_RES("exceptions"))
    w.tell(WORK_EXCEPTION("#1", "why"))
    c.hear(WORK_EXCEPTION("#1", "why"))


def exception_ends_a_background_job(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(OPTION_REQ("exceptions"), OPTION_RES("exceptions"))
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_EXCEPTION("#1", "why"))
    c.ask("status", Lines("f\t0\t0\t1"))


@servers(flags=["--exceptions"], settings={"exceptions": "true"})
def exceptions_may_be_for_everybody(stage):
    c = stage.client()
    w = _running_job(stage, c)
    w.tell(WORK_EXCEPTION("#1", "why"))
    c.hear(WORK_EXCEPTION("#1", "why"))


def options_are_known_by_their_name(stage):
    a = stage.client()
    for name in ("exceptions", "Exceptions", "EXCEPTIONS"):
        a.ask(OPTION_REQ(name), OPTION_RES(name))
    a.differ("NUL behind an argument", OPTION_REQ("exceptions\0"),
             theirs=[OPTION_RES("exceptions\0")], ours=[OPTION_RES("exceptions")])
    for name in ("", "exception", "exceptionsx", " exceptions", "foo", "x" * 100):
        a.ask(OPTION_REQ(name), UNKNOWN_OPTION)
