# SPDX-License-Identifier: MIT
"""Jobs with a reducer: a word that only GRAB_JOB_ALL shows to the worker."""

from gearman.packets import (ECHO_REQ, ECHO_RES, GRAB_JOB, GRAB_JOB_ALL, GRAB_JOB_UNIQ, JOB_ASSIGN,
                             JOB_ASSIGN_ALL, JOB_ASSIGN_UNIQ, JOB_CREATED, NO_JOB, SUBMIT_JOB,
                             SUBMIT_REDUCE_JOB, SUBMIT_REDUCE_JOB_BACKGROUND, WORK_COMPLETE, Kind,
                             as_request)
from gearman.pair import ENDS, Lines
from gearman.refusals import TOO_FEW_ARGUMENTS, UNIQUE_TOO_LARGE


def reducer_is_shown_to_who_asks_for_all(stage):
    c, w = stage.client(), stage.worker("f")
    for job in (1, 2, 3):
        c.ask(SUBMIT_REDUCE_JOB("f", f"u{job}", "reduce", "unused", "x"), JOB_CREATED(f"#{job}"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.ask(GRAB_JOB_UNIQ(), JOB_ASSIGN_UNIQ("#2", "f", "u2", "x"))
    w.ask(GRAB_JOB_ALL(), JOB_ASSIGN_ALL("#3", "f", "u3", "reduce", "x"))
    for job in (1, 2, 3):
        w.tell(WORK_COMPLETE(f"#{job}", "r"))
        c.hear(WORK_COMPLETE(f"#{job}", "r"))


def background_job_may_have_a_reducer(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_REDUCE_JOB_BACKGROUND("f", "u", "reduce", "", "a\0b"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB_ALL(), JOB_ASSIGN_ALL("#1", "f", "u", "reduce", "a\0b"))
    w.tell(WORK_COMPLETE("#1", "r"))
    c.hear_nothing()


def empty_reducer_is_none(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_REDUCE_JOB("f", "u", "", "", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB_ALL(), JOB_ASSIGN_UNIQ("#1", "f", "u", "x"))


def jobs_with_a_reducer_coalesce_with_all(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_REDUCE_JOB("f", "u", "reduce", "", "x"), JOB_CREATED("#1"))
    c.ask(SUBMIT_REDUCE_JOB("f", "u", "other", "", "x"), JOB_CREATED("#1"))
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB_ALL(), JOB_ASSIGN_ALL("#1", "f", "u", "reduce", "x"))
    w.ask(GRAB_JOB_ALL(), NO_JOB())
    c.ask(SUBMIT_REDUCE_JOB("f", "-", "reduce", "", "y"), JOB_CREATED("#2"))
    c.ask(SUBMIT_REDUCE_JOB("f", "-", "reduce", "", "y"), JOB_CREATED("#2"))
    w.ask(GRAB_JOB_ALL(), JOB_ASSIGN_ALL("#2", "f", "-", "reduce", "y"))


def jobs_with_a_reducer_are_of_normal_priority(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_REDUCE_JOB("f", "", "r", "", "x"), JOB_CREATED("#1"))
    c.ask(SUBMIT_REDUCE_JOB_BACKGROUND("f", "", "r", "", "x"), JOB_CREATED("#2"))
    w.ask("prioritystatus", Lines("f\t0\t2\t0\t1"))


def reducer_of_64_bytes_is_kept_whole(stage):
    c, w = stage.client(), stage.worker("f")
    for job, length in enumerate((1, 63, 64), start=1):
        c.ask(SUBMIT_REDUCE_JOB("f", "", "r" * length, "", "x"), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB_ALL(), JOB_ASSIGN_ALL(f"#{job}", "f", "", "r" * length, "x"))


def unique_beside_a_reducer_is_as_long_as_any(stage):
    c, d = stage.open_clients(2)
    c.differ("unique beside a reducer", SUBMIT_REDUCE_JOB("f", "u" * 65, "r", "", "x"),
             theirs=[JOB_CREATED("#1")], ours=[UNIQUE_TOO_LARGE])
    d.differ("unique beside a reducer", SUBMIT_REDUCE_JOB("f", "u", "r" * 65, "", "x"),
             theirs=[UNIQUE_TOO_LARGE], ours=[JOB_CREATED("#1")])


def reducing_in_four_parts_is_taken(stage):
    c = stage.client()
    c.differ("reduce job in four parts",
             (as_request(Kind.SUBMIT_REDUCE_JOB, "f\0u\0reduce\0x"), ECHO_REQ("more")),
             theirs=[ENDS], ours=[JOB_CREATED("#1"), ECHO_RES("more")])


def reducing_with_too_few_arguments_is_refused(stage):
    c = stage.client()
    c.differ("too few arguments",
             (as_request(Kind.SUBMIT_REDUCE_JOB, "f\0u\0reduce"), ECHO_REQ("more")),
             theirs=[ENDS], ours=[TOO_FEW_ARGUMENTS, ECHO_RES("more")])
