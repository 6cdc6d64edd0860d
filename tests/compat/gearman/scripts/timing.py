# SPDX-License-Identifier: MIT
"""The effects of time: the limit of CAN_DO_TIMEOUT, and jobs for a moment in the future.

The shortest limit that both servers know is a second. Where a worker must act before its limit is
over, that is longer.
"""

import time

from gearman.packets import (CAN_DO, CAN_DO_TIMEOUT, ECHO_REQ, ECHO_RES, GET_STATUS,
                             GET_STATUS_UNIQUE, GRAB_JOB, GRAB_JOB_UNIQ, JOB_ASSIGN,
                             JOB_ASSIGN_UNIQ, JOB_CREATED, NOOP, NO_JOB, PRE_SLEEP, STATUS_RES,
                             STATUS_RES_UNIQUE, SUBMIT_JOB, SUBMIT_JOB_BG, SUBMIT_JOB_EPOCH,
                             SUBMIT_JOB_LOW_BG, SUBMIT_JOB_SCHED, WORK_COMPLETE, WORK_DATA,
                             WORK_FAIL, WORK_STATUS, Kind, as_request)
from gearman.pair import ENDS, Lines
from gearman.refusals import (NOT_EXPECTED, NO_JOB_FOR_DATA, NO_JOB_FOR_RESULT, NO_MOMENT,
                              TOO_FEW_ARGUMENTS)
from shared.scripts import servers

# In milliseconds.
SECOND = "1000"
ENOUGH = "4000"
FAR = "99999999999"
SOON_SECONDS = 2


def _soon():
    return str(int(time.time()) + SOON_SECONDS)


def job_goes_back_when_its_time_is_over(stage):
    c, v, w = stage.client(), stage.client(), stage.worker("f")
    v.tell(CAN_DO_TIMEOUT("f", SECOND))
    c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.ask(PRE_SLEEP(), NOOP())
    c.ask("show jobs", Lines("#1\t1\t0\t0"))
    c.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "0", "0", "0"))
    v.ask(WORK_COMPLETE("#1", "late"), NO_JOB_FOR_RESULT)
    v.ask(WORK_DATA("#1", "late"), NO_JOB_FOR_DATA)
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_COMPLETE("#1", "in time"))
    c.hear(WORK_COMPLETE("#1", "in time"))


def worker_may_grab_again_what_it_was_too_slow_for(stage):
    c, v, w = stage.client(), stage.client(), stage.worker("f")
    v.tell(CAN_DO_TIMEOUT("f", ENOUGH))
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.ask(PRE_SLEEP(), NOOP())
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    v.tell(WORK_COMPLETE("#1", ""))
    c.ask("status", Lines("f\t0\t0\t2"))


def job_that_is_done_in_time_is_done(stage):
    c, d, v, w = stage.client(), stage.client(), stage.client(), stage.worker("g")
    v.tell(CAN_DO_TIMEOUT("f", ENOUGH), CAN_DO_TIMEOUT("g", SECOND))
    c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    v.tell(WORK_COMPLETE("#1", "r"))
    c.hear(WORK_COMPLETE("#1", "r"))
    d.ask(SUBMIT_JOB("g", "", "y"), JOB_CREATED("#2"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#2", "g", "y"))
    w.ask(PRE_SLEEP(), NOOP())
    w.ask(GRAB_JOB(), JOB_ASSIGN("#2", "g", "y"))
    c.hear_nothing()


def worker_that_goes_to_sleep_has_all_the_time(stage):
    c, u, v, w = stage.client(), stage.client(), stage.client(), stage.worker("g")
    u.tell(CAN_DO_TIMEOUT("f", ENOUGH))
    c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    u.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    u.tell(PRE_SLEEP())
    v.tell(CAN_DO_TIMEOUT("g", ENOUGH))
    c.ask(SUBMIT_JOB_BG("g", "", "y"), JOB_CREATED("#2"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#2", "g", "y"))
    w.ask(PRE_SLEEP(), NOOP())
    u.tell(WORK_COMPLETE("#1", "r"))
    c.hear(WORK_COMPLETE("#1", "r"))


def worker_that_finds_work_beside_its_bed_does_not_stop_the_clock(stage):
    c, v, w = stage.client(), stage.client(), stage.worker("f")
    v.tell(CAN_DO_TIMEOUT("f", SECOND), CAN_DO("g"))
    c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.ask(SUBMIT_JOB_BG("g", "", "y"), JOB_CREATED("#2"))
    v.ask(PRE_SLEEP(), NOOP())
    w.ask(PRE_SLEEP(), NOOP())
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    v.ask(WORK_COMPLETE("#1", "late"), NO_JOB_FOR_RESULT)


def every_job_has_a_time_of_its_own(stage):
    c, v, w = stage.client(), stage.client(), stage.worker("f")
    v.tell(CAN_DO("g"), CAN_DO_TIMEOUT("f", ENOUGH))
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.ask(SUBMIT_JOB_BG("g", "", "y"), JOB_CREATED("#2"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#2", "g", "y"))
    w.differ("time of each job", PRE_SLEEP(), theirs=[], ours=[NOOP()])
    w.differ("time of each job", GRAB_JOB(), theirs=[NO_JOB()], ours=[JOB_ASSIGN("#1", "f", "x")])


@servers(flags=["-j", "1"], settings={"job_retries": 1})
def time_that_is_over_counts_as_an_attempt(stage):
    c, v = stage.open_clients(2)
    v.tell(CAN_DO_TIMEOUT("f", SECOND))
    c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.hear(WORK_FAIL("#1"))
    v.ask(WORK_STATUS("#1", "1", "2"), NO_JOB_FOR_RESULT)


def job_of_the_past_starts_now(stage):
    c, w = stage.client(), stage.worker("f")
    for job, moment in enumerate(("0", "1", "1000000000", "000000000000001"), start=1):
        c.ask(SUBMIT_JOB_EPOCH("f", f"u{job}", moment, "a\0b"), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB_UNIQ(), JOB_ASSIGN_UNIQ(f"#{job}", "f", f"u{job}", "a\0b"))
        w.tell(WORK_COMPLETE(f"#{job}", "r"))
    c.hear_nothing()


def job_of_the_future_waits(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB_EPOCH("f", "u", FAR, "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), NO_JOB())
    c.ask("status", Lines("f\t1\t0\t1"))
    c.ask("show jobs", Lines("#1\t0\t0\t1"))
    c.ask("show unique jobs", Lines("u"))
    c.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "0", "0", "0"))
    c.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "0"))


def job_of_the_future_starts_when_it_is_due(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB_EPOCH("f", "u", _soon(), "x"), JOB_CREATED("#1"))
    w.grab_when_due(JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_COMPLETE("#1", ""))
    c.ask("status", Lines("f\t0\t0\t1"))


def job_of_the_future_wakes_no_worker_before_it_is_due(stage):
    c, w = stage.client(), stage.worker("f")
    w.tell(PRE_SLEEP())
    c.ask(SUBMIT_JOB_EPOCH("f", "", FAR, "x"), JOB_CREATED("#1"))
    w.differ("job of the future", (), theirs=[NOOP()], ours=[])


def sleeping_worker_does_a_job_of_the_future(stage):
    c, w = stage.client(), stage.worker("f")
    w.tell(PRE_SLEEP())
    c.ask(SUBMIT_JOB_EPOCH("f", "", _soon(), "x"), JOB_CREATED("#1"))
    w.hear(NOOP())
    w.grab_when_due(JOB_ASSIGN("#1", "f", "x"))


def job_of_the_future_lets_workers_sleep(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB_EPOCH("f", "", FAR, "x"), JOB_CREATED("#1"))
    w.tell(PRE_SLEEP())
    c.ask(SUBMIT_JOB_BG("f", "", "y"), JOB_CREATED("#2"))
    w.hear(NOOP())


def job_of_the_future_is_passed_by_others(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB_EPOCH("f", "", FAR, "x"), JOB_CREATED("#1"))
    c.ask(SUBMIT_JOB_BG("f", "", "y"), JOB_CREATED("#2"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#2", "f", "y"))
    c.ask(SUBMIT_JOB_LOW_BG("f", "", "z"), JOB_CREATED("#3"))
    w.differ("job of the future hides others", GRAB_JOB(), theirs=[NO_JOB()],
             ours=[JOB_ASSIGN("#3", "f", "z")])


def job_of_the_future_is_joined(stage):
    c = stage.client()
    c.ask(SUBMIT_JOB_EPOCH("f", "u", FAR, "x"), JOB_CREATED("#1"))
    c.ask(SUBMIT_JOB_EPOCH("f", "u", FAR, "y"), JOB_CREATED("#1"))
    c.ask(SUBMIT_JOB("f", "u", "z"), JOB_CREATED("#1"))
    c.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "1"))


def moment_that_is_no_number_is_refused(stage):
    c, w = stage.open_clients(2)
    for job, moment in enumerate(("abc", "", "-5", "+5", " 5", "5x", "5.5"), start=1):
        function = f"f{job}"
        c.differ("moment that is not a number", SUBMIT_JOB_EPOCH(function, "", moment, "x"),
                 theirs=[JOB_CREATED(f"#{job}")], ours=[NO_MOMENT])
        w.differ("moment that is not a number", (CAN_DO(function), GRAB_JOB()),
                 theirs=[JOB_ASSIGN(f"#{job}", function, "x")], ours=[NO_JOB()])


def moment_that_is_too_large_is_refused(stage):
    c = stage.client()
    c.differ("moment that is not a number", SUBMIT_JOB_EPOCH("f", "", "9" * 30, "x"),
             theirs=[ENDS], ours=[NO_MOMENT])


def moment_without_data_is_refused(stage):
    c = stage.client()
    c.differ("too few arguments",
             (as_request(Kind.SUBMIT_JOB_EPOCH, "f\0u\0001"), ECHO_REQ("more")),
             theirs=[ENDS], ours=[TOO_FEW_ARGUMENTS, ECHO_RES("more")])


def scheduled_job_is_taken(stage):
    c, w = stage.client(), stage.worker("f")
    for job, fields in enumerate((["0", "0", "1", "1", ""], ["", "", "29", "2", "*"],
                                  ["59", "23", "31", "12", "6"]), start=1):
        c.differ("SUBMIT_JOB_SCHED", SUBMIT_JOB_SCHED("f", f"u{job}", *fields, "x"),
                 theirs=[NOT_EXPECTED], ours=[JOB_CREATED(f"#{job}")])
    c.differ("SUBMIT_JOB_SCHED", "show unique jobs", theirs=[Lines()],
             ours=[Lines("u1", "u2", "u3")])
    w.hear_nothing()


def schedule_that_never_comes_is_refused(stage):
    c = stage.client()
    for fields in (["60", "", "", "", ""], ["", "24", "", "", ""], ["", "", "0", "", ""],
                   ["", "", "32", "", ""], ["", "", "", "13", ""], ["", "", "", "", "7"],
                   ["", "", "31", "2", ""], ["x", "", "", "", ""], ["-1", "", "", "", ""]):
        c.differ("SUBMIT_JOB_SCHED", SUBMIT_JOB_SCHED("f", "", *fields, "x"),
                 theirs=[NOT_EXPECTED], ours=[NO_MOMENT])
