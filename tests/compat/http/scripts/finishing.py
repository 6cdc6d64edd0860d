# SPDX-License-Identifier: MIT
"""The end of a job that a request waits for."""

from gearman.packets import (JOB_CREATED, SUBMIT_JOB, WORK_COMPLETE, WORK_DATA, WORK_EXCEPTION,
                             WORK_FAIL, WORK_STATUS, WORK_WARNING)
from http.answers import Answer, complete, created, failed, post, post_bg, refused
from shared.scripts import servers

SERVER_ERROR = "500 Internal Server Error"
AS_GEARMAND = {"status_codes": "gearmand"}


def _running(stage):
    """A request, and the worker that holds its job."""
    w = stage.worker("f")
    r = stage.say(post("/f", "x"))
    w.take("#1", "f", "x")
    return r, w


def failure_is_told(stage):
    r, w = _running(stage)
    w.tell(WORK_FAIL("#1"))
    r.differ("failure", theirs=Answer("200 OK", "WORK_FAIL", "#1, cut"),
             ours=failed(SERVER_ERROR, "#1", "the job has failed"))
    stage.until("status", "f\t0\t0\t1")


@servers(settings=AS_GEARMAND)
def failure_is_told_as_gearmand_tells_it(stage):
    r, w = _running(stage)
    w.tell(WORK_FAIL("#1"))
    r.differ("failure", theirs=Answer("200 OK", "WORK_FAIL", "#1, cut"),
             ours=Answer("200 OK", "WORK_FAIL", "#1"))


def exception_is_told(stage):
    r, w = _running(stage)
    w.tell(WORK_EXCEPTION("#1", "why"))
    r.differ("exception", theirs=Answer("200 OK", "WORK_FAIL", "#1"),
             ours=Answer(SERVER_ERROR, "WORK_EXCEPTION", "#1", "why"))


@servers(flags=("--exceptions",))
def exception_of_a_server_with_exceptions_is_told(stage):
    r, w = _running(stage)
    w.tell(WORK_EXCEPTION("#1", "why"))
    r.differ("exception", theirs=Answer("200 OK", "WORK_EXCEPTION", "#1", "why"),
             ours=Answer(SERVER_ERROR, "WORK_EXCEPTION", "#1", "why"))


@servers(flags=("--exceptions",), settings=AS_GEARMAND)
def exception_is_told_as_gearmand_tells_it(stage):
    w = stage.worker("f")
    for job, why in enumerate(("why", "", "x" * 10000), start=1):
        r = stage.say(post("/f", f"{job}"))
        w.take(f"#{job}", "f", f"{job}")
        w.tell(WORK_EXCEPTION(f"#{job}", why))
        r.hear(Answer("200 OK", "WORK_EXCEPTION", f"#{job}", why))


def failure_of_a_background_job_is_not_reported(stage):
    w = stage.worker("f")
    stage.ask(post_bg("/f", "x"), created("#1"))
    w.take("#1", "f", "x")
    w.tell(WORK_FAIL("#1"))
    stage.until("status", "f\t0\t0\t1")


def warning_is_no_answer(stage):
    r, w = _running(stage)
    w.tell(WORK_WARNING("#1", "careful"), WORK_COMPLETE("#1", "result"))
    r.differ("warning", theirs=Answer("200 OK", "WORK_WARNING", "#1", "careful"),
             ours=complete("#1", "result"))


def progress_is_no_answer(stage):
    r, w = _running(stage)
    w.tell(WORK_STATUS("#1", "1", "2"), WORK_COMPLETE("#1", "result"))
    r.differ("progress", theirs=Answer("200 OK", "WORK_STATUS", "#1"),
             ours=complete("#1", "result"))


def data_comes_before_the_result(stage):
    r, w = _running(stage)
    w.tell(WORK_DATA("#1", "part."), WORK_DATA("#1", "part!"), WORK_COMPLETE("#1", "result"))
    r.garbled("data", "partpart 200 OK\r\n", complete("#1", "part.part!result"))


def empty_data_does_no_harm(stage):
    r, w = _running(stage)
    w.crashes_theirs("data that crashes", WORK_DATA("#1", ""), WORK_COMPLETE("#1", "result"))
    r.hear_ours("data that crashes", complete("#1", "result"))


def much_data_does_no_harm(stage):
    r, w = _running(stage)
    w.crashes_theirs("data that crashes", WORK_DATA("#1", "x" * 100000),
                     WORK_COMPLETE("#1", "result"))
    r.hear_ours("data that crashes", complete("#1", "x" * 100000 + "result"))


def job_of_a_lost_worker_is_done_by_the_next(stage):
    r, w = _running(stage)
    v = stage.worker("f")
    w.hang_up()
    v.do("#1", "f", "x", "second")
    r.hear(complete("#1", "second"))


def clients_of_both_kinds_wait_for_one_job(stage):
    c, w = stage.client(), stage.worker("f")
    r = stage.say(post("/f", "x", "X-Gearman-Unique: u"))
    stage.until("status", "f\t1\t0\t1")
    w.take("#1", "f", "x")
    c.ask(SUBMIT_JOB("f", "u", "y"), JOB_CREATED("#1"))
    w.tell(WORK_COMPLETE("#1", "result"))
    c.hear(WORK_COMPLETE("#1", "result"))
    r.hear(complete("#1", "result"))


def client_that_leaves_drops_its_job(stage):
    stage.worker("f")
    r = stage.say(post("/f", "x"))
    stage.until("status", "f\t1\t0\t1")
    r.go()
    stage.until_different("job without clients", "status", theirs="f\t1\t0\t1",
                          ours="f\t0\t0\t1")


def client_that_leaves_a_running_job_lets_it_run(stage):
    r, w = _running(stage)
    r.go()
    stage.until("status", "f\t1\t1\t1")
    w.tell(WORK_COMPLETE("#1", "nobody hears it"))
    stage.until("status", "f\t0\t0\t1")


def client_of_a_background_job_may_leave(stage):
    w = stage.worker("f")
    stage.ask(post_bg("/f", "x"), created("#1"))
    stage.settle()
    w.do("#1", "f", "x", "")


def job_that_is_cancelled_is_answered(stage):
    c = stage.worker("f")
    r = stage.say(post("/f", "x", "X-Gearman-Unique: u"))
    stage.until("status", "f\t1\t0\t1")
    stage.ask(post_bg("/f", "x", "X-Gearman-Unique: u"), created("#1"))
    c.ask("cancel job #1", "OK\r\n")
    r.differ("cancelled job", theirs=Answer("200 OK", "WORK_FAIL", "#1, cut"),
             ours=failed("410 Gone", "#1", "the job was cancelled"))


def full_queue_refuses(stage):
    stage.client().ask("create function f", "OK\r\n")
    stage.client().ask("maxqueue f 1", "OK\r\n")
    stage.ask(post_bg("/f", "1"), created("#1"))
    for request in (post_bg("/f", "2"), post("/f", "3")):
        stage.ask_differing("refusal", request, theirs=Answer("200 OK", "ERROR", "QUEUE_ERROR"),
                            ours=refused("429 Too Many Requests", "the queue is full"))


@servers(settings=AS_GEARMAND)
def full_queue_refuses_as_gearmand_does(stage):
    stage.client().ask("create function f", "OK\r\n")
    stage.client().ask("maxqueue f 1", "OK\r\n")
    stage.ask(post_bg("/f", "1"), created("#1"))
    stage.ask_differing("refusal", post_bg("/f", "2"),
                        theirs=Answer("200 OK", "ERROR", "QUEUE_ERROR"),
                        ours=refused("200 OK", "the queue is full"))
