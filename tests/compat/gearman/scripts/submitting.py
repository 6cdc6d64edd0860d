# SPDX-License-Identifier: MIT
"""The ways to submit a job, and what a worker gets of it."""

from gearman.packets import (CAN_DO, ECHO_REQ, ECHO_RES, GRAB_JOB, GRAB_JOB_UNIQ, JOB_ASSIGN,
                             JOB_ASSIGN_UNIQ, JOB_CREATED, NO_JOB, SUBMIT_JOB, SUBMIT_JOB_BG,
                             SUBMIT_JOB_HIGH, SUBMIT_JOB_HIGH_BG, SUBMIT_JOB_LOW,
                             SUBMIT_JOB_LOW_BG, WORK_COMPLETE, Kind, as_request)
from gearman.pair import ENDS, Lines
from gearman.refusals import (ARGUMENT_TOO_LONG, NO_FUNCTION_NAME, TOO_FEW_ARGUMENTS,
                              UNIQUE_TOO_LARGE, WORKLOAD_TOO_LARGE)
from shared.scripts import servers

FOREGROUND = [SUBMIT_JOB, SUBMIT_JOB_HIGH, SUBMIT_JOB_LOW]
BACKGROUND = [SUBMIT_JOB_BG, SUBMIT_JOB_HIGH_BG, SUBMIT_JOB_LOW_BG]


def foreground_job_is_answered_twice(stage):
    c, w = stage.client(), stage.worker("f")
    for job, submit in enumerate(FOREGROUND, start=1):
        c.ask(submit("f", f"u{job}", "work"), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", "work"))
        w.tell(WORK_COMPLETE(f"#{job}", "result"))
        c.hear(WORK_COMPLETE(f"#{job}", "result"))
    c.ask("status", Lines("f\t0\t0\t1"))


def background_job_is_answered_once(stage):
    c, w = stage.client(), stage.worker("f")
    for job, submit in enumerate(BACKGROUND, start=1):
        c.ask(submit("f", f"u{job}", "work"), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", "work"))
        w.tell(WORK_COMPLETE(f"#{job}", "result"))
        c.hear_nothing()
    c.ask("status", Lines("f\t0\t0\t1"))


def high_goes_before_normal_before_low(stage):
    c, w = stage.client(), stage.worker("f")
    submits = [SUBMIT_JOB_LOW_BG, SUBMIT_JOB_BG, SUBMIT_JOB_HIGH_BG, SUBMIT_JOB_LOW, SUBMIT_JOB,
               SUBMIT_JOB_HIGH]
    for job, submit in enumerate(submits, start=1):
        c.ask(submit("f", "", f"{job}"), JOB_CREATED(f"#{job}"))
    c.ask("prioritystatus", Lines("f\t2\t2\t2\t1"))
    for job in (3, 6, 2, 5, 1, 4):
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", f"{job}"))
    w.ask(GRAB_JOB(), NO_JOB())


def equal_jobs_go_in_their_order(stage):
    c, w = stage.client(), stage.worker("f")
    for job in range(1, 8):
        c.ask(SUBMIT_JOB_BG("f", "", f"{job}"), JOB_CREATED(f"#{job}"))
    for job in range(1, 8):
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", f"{job}"))


def submits_and_grabs_are_pipelined(stage):
    c, w = stage.client(), stage.worker("f")
    c.send(*[SUBMIT_JOB("f", "", f"{job}") for job in range(1, 21)])
    c.hear(*[JOB_CREATED(f"#{job}") for job in range(1, 21)])
    w.send(*[GRAB_JOB()] * 21)
    w.hear(*[JOB_ASSIGN(f"#{job}", "f", f"{job}") for job in range(1, 21)], NO_JOB())
    w.tell(tuple(WORK_COMPLETE(f"#{job}", "") for job in range(20, 0, -1)))
    c.hear(*[WORK_COMPLETE(f"#{job}", "") for job in range(20, 0, -1)])


def workload_may_hold_anything(stage):
    c, w = stage.client(), stage.worker("f")
    for job, work in enumerate(("", "\0", "a\0b\0\0c", "\0REQ\0\0\0\x10", "x" * 8180, "x" * 8192,
                                "x" * 300000), start=1):
        c.ask(SUBMIT_JOB("f", "", work), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", work))
        w.tell(WORK_COMPLETE(f"#{job}", work))
        c.hear(WORK_COMPLETE(f"#{job}", work))


def function_may_hold_anything_but_nul(stage):
    c, w = stage.client(), stage.client()
    names = ["with space", "\xff\xfe", "#", "f" * 200, "f" * 512, "UPPER", "upper", "."]
    for job, name in enumerate(names, start=1):
        w.tell(CAN_DO(name))
        c.ask(SUBMIT_JOB_BG(name, "", "x"), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", name, "x"))


def function_of_more_than_512_bytes_is_refused(stage):
    c, w = stage.client(), stage.worker("f")
    c.differ("long function name", SUBMIT_JOB_BG("n" * 513, "", "x"),
             theirs=[JOB_CREATED("#1")], ours=[ARGUMENT_TOO_LONG])
    w.differ("long function name", CAN_DO("n" * 513), theirs=[], ours=[ARGUMENT_TOO_LONG])


def fixed_arguments_of_more_than_8_kib_are_refused(stage):
    for packet in (CAN_DO("n" * 8300), SUBMIT_JOB("n" * 9000, "", "x")):
        c = stage.client()
        c.differ("arguments beyond 8 KiB", packet, theirs=[ENDS], ours=[ARGUMENT_TOO_LONG])


@servers(settings={"max_job_size": 1000})
def workload_over_the_limit_is_refused(stage):
    c, d = stage.open_clients(2)
    c.ask(SUBMIT_JOB_BG("f", "", "x" * 1000), JOB_CREATED("#1"))
    c.differ("limit of workloads", SUBMIT_JOB_BG("f", "", "x" * 1001),
             theirs=[JOB_CREATED("#2")], ours=[WORKLOAD_TOO_LARGE])
    d.differ("limit of workloads", SUBMIT_JOB_BG("f", "", "x" * 10000),
             theirs=[JOB_CREATED("#3")], ours=[WORKLOAD_TOO_LARGE, ENDS])


def function_without_name_is_refused(stage):
    c, w = stage.open_clients(2)
    c.differ("empty function name", SUBMIT_JOB("", "u", "x"),
             theirs=[JOB_CREATED("#1")], ours=[NO_FUNCTION_NAME])
    c.differ("empty function name", "status", theirs=[Lines("\t1\t0\t0")], ours=[Lines()])
    w.differ("empty function name", (CAN_DO(""), GRAB_JOB()),
             theirs=[JOB_ASSIGN("#1", "", "x")], ours=[NO_FUNCTION_NAME, NO_JOB()])


def unique_is_shown_to_who_asks_for_it(stage):
    c, w = stage.client(), stage.worker("f")
    for job, unique in enumerate(("u", "", "with space", "u" * 63, "\xff"), start=1):
        c.ask(SUBMIT_JOB("f", unique, "x"), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB_UNIQ(), JOB_ASSIGN_UNIQ(f"#{job}", "f", unique, "x"))


def unique_of_64_bytes_is_kept_whole(stage):
    c, w = stage.client(), stage.worker("f")
    unique = "u" * 64
    c.ask(SUBMIT_JOB("f", unique, "x"), JOB_CREATED("#1"))
    c.differ("unique of 64 bytes", SUBMIT_JOB("f", unique, "x"),
             theirs=[JOB_CREATED("#2")], ours=[JOB_CREATED("#1")])
    w.differ("unique of 64 bytes", GRAB_JOB_UNIQ(),
             theirs=[JOB_ASSIGN_UNIQ("#1", "f", unique[:63], "", "x")],
             ours=[JOB_ASSIGN_UNIQ("#1", "f", unique, "x")])


def unique_of_65_bytes_is_refused(stage):
    c = stage.client()
    for submit in FOREGROUND + BACKGROUND:
        c.ask(submit("f", "u" * 65, "x"), UNIQUE_TOO_LARGE)
    c.ask("show jobs", Lines())


def submit_with_too_few_arguments_is_refused(stage):
    for body in ("", "f", "f\0", "f\0u"):
        c = stage.client()
        c.differ("too few arguments", (as_request(Kind.SUBMIT_JOB, body), ECHO_REQ("more")),
                 theirs=[ENDS], ours=[TOO_FEW_ARGUMENTS, ECHO_RES("more")])
