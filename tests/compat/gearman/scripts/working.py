# SPDX-License-Identifier: MIT
"""The reports of a worker about a job, and their effects."""

from gearman.packets import (CANT_DO, ECHO_REQ, ECHO_RES, GET_STATUS, GRAB_JOB, GRAB_JOB_ALL,
                             GRAB_JOB_UNIQ, JOB_ASSIGN, JOB_ASSIGN_UNIQ, JOB_CREATED, NO_JOB,
                             RESET_ABILITIES, STATUS_RES, SUBMIT_JOB, SUBMIT_JOB_BG, WORK_COMPLETE,
                             WORK_DATA, WORK_EXCEPTION, WORK_FAIL, WORK_STATUS, WORK_WARNING, Kind,
                             as_request)
from gearman.pair import ENDS, STUCK, Lines
from gearman.refusals import (HANDLE_TOO_LARGE, NO_JOB_FOR_DATA, NO_JOB_FOR_EXCEPTION,
                              NO_JOB_FOR_RESULT, TOO_FEW_ARGUMENTS)

# Every report of a job, and the error where the job is not the sender's.
REPORTS = {WORK_STATUS: (["1", "2"], NO_JOB_FOR_RESULT), WORK_DATA: (["data"], NO_JOB_FOR_DATA),
           WORK_WARNING: (["careful"], NO_JOB_FOR_DATA),
           WORK_COMPLETE: (["result"], NO_JOB_FOR_RESULT), WORK_FAIL: ([], NO_JOB_FOR_RESULT),
           WORK_EXCEPTION: (["why"], NO_JOB_FOR_EXCEPTION)}


def _running_job(stage):
    """A client, and a worker that holds its job #1."""
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    return c, w


def _assert_reports_are_refused(client, handle):
    for kind, (arguments, error) in REPORTS.items():
        client.ask(kind(handle, *arguments), error)


def nothing_to_do_is_no_job(stage):
    a, w = stage.client(), stage.worker("f")
    for grab in (GRAB_JOB, GRAB_JOB_UNIQ, GRAB_JOB_ALL):
        a.ask(grab(), NO_JOB())
        w.ask(grab(), NO_JOB())
    a.ask(SUBMIT_JOB_BG("other", "", "x"), JOB_CREATED("#1"))
    a.ask(GRAB_JOB(), NO_JOB())
    w.ask(GRAB_JOB(), NO_JOB())


def each_grab_shows_more(stage):
    c, w = stage.client(), stage.worker("f")
    for job in (1, 2, 3):
        c.ask(SUBMIT_JOB_BG("f", f"u{job}", "x"), JOB_CREATED(f"#{job}"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.ask(GRAB_JOB_UNIQ(), JOB_ASSIGN_UNIQ("#2", "f", "u2", "x"))
    w.ask(GRAB_JOB_ALL(), JOB_ASSIGN_UNIQ("#3", "f", "u3", "x"))


def reports_are_passed_on_in_their_order(stage):
    c, w = _running_job(stage)
    reports = [WORK_DATA("#1", "1"), WORK_STATUS("#1", "1", "3"), WORK_WARNING("#1", "2"),
               WORK_DATA("#1", "a\0b"), WORK_DATA("#1", ""), WORK_WARNING("#1", ""),
               WORK_STATUS("#1", "2", "3"), WORK_DATA("#1", "3" * 20000),
               WORK_COMPLETE("#1", "\0")]
    w.tell(tuple(reports))
    c.hear(*reports)
    c.ask("status", Lines("f\t0\t0\t1"))


def client_that_reads_later_has_lost_no_result(stage):
    c, w = stage.client(), stage.worker("f")
    jobs = [f"#{number}" for number in range(1, 16)]
    result = "r" * (4 << 20)  # less than server.max_connection_memory, all together
    for job in jobs:
        c.ask(SUBMIT_JOB("f", "u" + job[1:], "x"), JOB_CREATED(job))
    for job in jobs:
        w.ask(GRAB_JOB(), JOB_ASSIGN(job, "f", "x"))
        w.tell(WORK_COMPLETE(job, result))
    c.hear(*(WORK_COMPLETE(job, result) for job in jobs))


def failed_job_is_gone(stage):
    c, w = _running_job(stage)
    w.tell(WORK_FAIL("#1"))
    c.hear(WORK_FAIL("#1"))
    c.ask("status", Lines("f\t0\t0\t1"))
    c.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#2"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#2", "f", "x"))
    w.tell(WORK_FAIL("#2"))
    c.ask("status", Lines("f\t0\t0\t1"))


def job_ends_once(stage):
    c, w = _running_job(stage)
    w.tell(WORK_COMPLETE("#1", "r"))
    c.hear(WORK_COMPLETE("#1", "r"))
    _assert_reports_are_refused(w, "#1")
    c.hear_nothing()


def job_ends_once_in_one_piece(stage):
    c, w = _running_job(stage)
    w.send(WORK_COMPLETE("#1", "r"), WORK_COMPLETE("#1", "again"), WORK_FAIL("#1"))
    w.hear(NO_JOB_FOR_RESULT, NO_JOB_FOR_RESULT)
    c.hear(WORK_COMPLETE("#1", "r"))
    c.hear_nothing()


def only_the_holder_reports(stage):
    c, w = _running_job(stage)
    other = stage.worker("f")
    _assert_reports_are_refused(other, "#1")
    _assert_reports_are_refused(c, "#1")
    c.hear_nothing()
    w.tell(WORK_COMPLETE("#1", "r"))
    c.hear(WORK_COMPLETE("#1", "r"))


def reports_of_a_job_that_is_not_running_are_refused(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    _assert_reports_are_refused(w, "#1")
    c.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "0", "0", "0"))


def unknown_handles_are_refused(stage):
    w = stage.worker("f")
    for handle in ("", "H", "H:", "H:nowhere:1", "H:nowhere:", "1", "x" * 63):
        _assert_reports_are_refused(w, handle)


def handle_is_compared_to_the_letter(stage):
    c, w = _running_job(stage)
    host = c.theirs.server.handles[0][2:-2]
    for handle in (f"h:{host}:1", f"H:{host.swapcase()}:1", f"H:{host}:01", f"H:{host}:+1",
                   f"H:{host}:1x", f"H:{host}:", f"H:{host}"):
        c.ask(GET_STATUS(handle), STATUS_RES(handle, "0", "0", "0", "0"))
        w.ask(WORK_COMPLETE(handle, ""), NO_JOB_FOR_RESULT)
        w.ask(WORK_FAIL(handle), NO_JOB_FOR_RESULT)
        c.ask(f"cancel job {handle}", "ERR UNKNOWN_JOB\r\n")
    for handle in (f"H:{host}: 1", f"H:{host}:1 ", f" H:{host}:1"):
        c.ask(GET_STATUS(handle), STATUS_RES(handle, "0", "0", "0", "0"))
    w.tell(WORK_COMPLETE("#1", "r"))
    c.hear(WORK_COMPLETE("#1", "r"))


def too_long_handle_is_no_job(stage):
    w = stage.client()
    for kind, (arguments, error) in REPORTS.items():
        if kind != WORK_FAIL:
            w.ask(kind("x" * 64, *arguments), error)
    w.differ("long handle", WORK_FAIL("x" * 64), theirs=[HANDLE_TOO_LARGE],
             ours=[NO_JOB_FOR_RESULT])


def nul_behind_a_handle_is_ignored(stage):
    c, w = stage.client(), stage.worker("f")
    for job in (1, 2, 3):
        c.ask(SUBMIT_JOB("f", f"u{job}", "x"), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", "x"))
    c.ask(GET_STATUS("#1\0"), STATUS_RES("#1", "1", "1", "0", "0"))
    c.ask(GET_STATUS("#1\0more\0and more"), STATUS_RES("#1", "1", "1", "0", "0"))
    c.ask(GET_STATUS("none\0"), STATUS_RES("none", "0", "0", "0", "0"))
    w.ask(WORK_FAIL("none\0"), NO_JOB_FOR_RESULT)
    w.differ("NUL behind an argument", WORK_FAIL("#1\0"), theirs=[], ours=[])
    c.differ("NUL behind an argument", (), theirs=[WORK_FAIL("#1\0")], ours=[WORK_FAIL("#1")])


def second_nul_behind_a_handle_is_data(stage):
    c, w = _running_job(stage)
    w.tell(WORK_DATA("#1", "", "data"), WORK_WARNING("#1", ""), WORK_COMPLETE("#1", "\0"))
    c.hear(WORK_DATA("#1", "\0data"), WORK_WARNING("#1", ""), WORK_COMPLETE("#1", "\0"))


def second_nul_behind_a_handle_is_an_empty_numerator(stage):
    c, w = _running_job(stage)
    w.tell(WORK_STATUS("#1", "", "1", "2"))
    c.differ("NUL behind an argument", (), theirs=[WORK_STATUS("#1", "", "1", "2")],
             ours=[WORK_STATUS("#1", "", "1")])
    c.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "1", "0", "1"))


def numbers_of_a_status_are_passed_on_as_they_are(stage):
    c, w = _running_job(stage)
    c.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "1", "0", "0"))
    for spelt, kept in (("7", "7"), ("0", "0"), ("007", "7"), ("abc", "0"), ("", "0"), ("5x", "5"),
                        (" 5", "5"), ("+3", "3"), ("4294967295", "4294967295"), ("1.5", "1"),
                        ("-1", "4294967295"), ("4294967296", "0")):
        w.tell(WORK_STATUS("#1", spelt, "100"))
        c.hear(WORK_STATUS("#1", spelt, "100"))
        c.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "1", kept, "100"))
        w.tell(WORK_STATUS("#1", "100", spelt))
        c.hear(WORK_STATUS("#1", "100", spelt))
        c.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "1", "100", kept))


def long_numbers_of_a_status_are_passed_on(stage):
    c, w = _running_job(stage)
    for number in ("12345678901", "0" * 40 + "7"):
        w.tell(WORK_STATUS("#1", number, "1"))
        c.hear(WORK_STATUS("#1", number, "1"))
    w.tell(WORK_STATUS("#1", "1", "00000000007"))
    c.hear(WORK_STATUS("#1", "1", "00000000007"))
    w.differ("long number", WORK_STATUS("#1", "1", "000000000007"), theirs=[ENDS], ours=[])
    c.differ("long number", (), theirs=[], ours=[WORK_STATUS("#1", "1", "000000000007")])


def status_with_too_few_arguments_is_refused(stage):
    for body in ("", "H:x:1", "H:x:1\0001"):
        w = stage.client()
        w.differ("too few arguments", (as_request(Kind.WORK_STATUS, body), ECHO_REQ("more")),
                 theirs=[STUCK], ours=[TOO_FEW_ARGUMENTS, ECHO_RES("more")])


def report_that_is_only_a_handle_is_empty(stage):
    c, w = _running_job(stage)
    w.differ("report without its NUL", (WORK_COMPLETE("#1"), ECHO_REQ("more")), theirs=[ENDS],
             ours=[ECHO_RES("more")])
    c.differ("report without its NUL", (), theirs=[], ours=[WORK_COMPLETE("#1", "")])


def every_report_may_be_only_a_handle(stage):
    for kind, (arguments, error) in REPORTS.items():
        if len(arguments) == 1:
            w = stage.client()
            w.differ("report without its NUL", (kind("H:nowhere:1"), ECHO_REQ("more")),
                     theirs=[ENDS], ours=[error, ECHO_RES("more")])


def worker_holds_several_jobs(stage):
    c, w = stage.client(), stage.worker("f")
    for job in (1, 2, 3):
        c.ask(SUBMIT_JOB("f", "", f"{job}"), JOB_CREATED(f"#{job}"))
    w.send(GRAB_JOB(), GRAB_JOB(), GRAB_JOB(), GRAB_JOB())
    w.hear(JOB_ASSIGN("#1", "f", "1"), JOB_ASSIGN("#2", "f", "2"), JOB_ASSIGN("#3", "f", "3"),
           NO_JOB())
    c.ask("status", Lines("f\t3\t3\t1"))
    reports = [WORK_COMPLETE("#3", "c"), WORK_DATA("#1", "a1"), WORK_COMPLETE("#2", "b"),
               WORK_DATA("#1", "a2"), WORK_COMPLETE("#1", "a")]
    for report in reports:
        w.tell(report)
    c.hear(*reports)
    c.ask("status", Lines("f\t0\t0\t1"))


def events_of_several_jobs_in_one_piece_come_in_order(stage):
    c, w = stage.client(), stage.worker("f")
    for job in (1, 2):
        c.ask(SUBMIT_JOB("f", "", f"{job}"), JOB_CREATED(f"#{job}"))
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", f"{job}"))
    reports = [WORK_DATA("#1", "a"), WORK_STATUS("#2", "1", "2"), WORK_DATA("#2", "b"),
               WORK_DATA("#1", "c"), WORK_COMPLETE("#2", "d"), WORK_COMPLETE("#1", "e")]
    w.tell(tuple(reports))
    c.hear(*reports)


def events_of_several_jobs_come_in_the_order_of_the_reports(stage):
    c = stage.client()
    v, w = stage.worker("f"), stage.worker("f")
    for job in (1, 2):
        c.ask(SUBMIT_JOB("f", "", f"{job}"), JOB_CREATED(f"#{job}"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#2", "f", "2"))
    for turn in range(4):
        w.tell(WORK_STATUS("#2", f"{turn}", "4"))
        v.tell(WORK_STATUS("#1", f"{turn}", "4"))
        c.hear(WORK_STATUS("#2", f"{turn}", "4"), WORK_STATUS("#1", f"{turn}", "4"))
    w.tell(WORK_COMPLETE("#2", ""))
    v.tell(WORK_FAIL("#1"))
    c.hear(WORK_COMPLETE("#2", ""), WORK_FAIL("#1"))


def worker_may_be_its_own_client(stage):
    a = stage.worker("f")
    a.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED("#1"))
    a.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    a.ask(WORK_DATA("#1", "d"), WORK_DATA("#1", "d"))
    a.ask(WORK_COMPLETE("#1", "r"), WORK_COMPLETE("#1", "r"))


def worker_keeps_the_job_of_a_function_that_it_gives_up(stage):
    c = stage.client()
    for job, give_up in (("#1", CANT_DO("f")), ("#2", RESET_ABILITIES())):
        v = stage.worker("f")
        c.ask(SUBMIT_JOB("f", "", "x"), JOB_CREATED(job))
        v.ask(GRAB_JOB(), JOB_ASSIGN(job, "f", "x"))
        v.tell(give_up)
        v.ask(GRAB_JOB(), NO_JOB())
        v.differ("job of a function given up", WORK_COMPLETE(job, "r"),
                 theirs=[NO_JOB_FOR_RESULT], ours=[])
        w = stage.worker("f")
        w.differ("job of a function given up", GRAB_JOB(), theirs=[JOB_ASSIGN(job, "f", "x")],
                 ours=[NO_JOB()])
        w.differ("job of a function given up", WORK_COMPLETE(job, "r"),
                 theirs=[], ours=[NO_JOB_FOR_RESULT])
        c.hear(WORK_COMPLETE(job, "r"))
        w.hang_up()
