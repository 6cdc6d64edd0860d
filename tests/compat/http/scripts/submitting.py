# SPDX-License-Identifier: MIT
"""Requests that submit a job, and what a worker gets of them."""

from gearman.pair import Lines
from gearman.packets import (GRAB_JOB, GRAB_JOB_UNIQ, JOB_ASSIGN, JOB_ASSIGN_UNIQ, NO_JOB,
                             WORK_COMPLETE)
from http.answers import complete, created, error, post, post_bg, refused, request, Answer


def every_method_submits(stage):
    w = stage.worker("f")
    for job, method in enumerate(("POST", "PUT"), start=1):
        r = stage.say(request(method, "/f", body="Hello"))
        w.do(f"#{job}", "f", "Hello", "olleH")
        r.hear(complete(f"#{job}", "olleH"))
    r = stage.say(request("GET", "/f"))
    w.do("#3", "f", "", "nothing")
    r.hear(complete("#3", "nothing"))


def both_versions_submit(stage):
    w = stage.worker("f")
    for job, version in enumerate(("1.0", "1.1"), start=1):
        r = stage.say(request("POST", "/f", body=version, version=version))
        w.do(f"#{job}", "f", version, "done")
        r.hear(complete(f"#{job}", "done"))


def connection_that_is_to_be_closed_is_closed(stage):
    w = stage.worker("f")
    r = stage.say(post("/f", "x", "Connection: close"))
    w.do("#1", "f", "x", "y")
    r.hear(complete("#1", "y"))


def background_request_is_answered_at_once(stage):
    w = stage.worker("f")
    for job in range(1, 4):
        stage.ask(post_bg("/f", f"work {job}"), created(f"#{job}"))
    stage.until("status", "f\t3\t0\t1")
    for job in range(1, 4):
        w.do(f"#{job}", "f", f"work {job}", "")
    stage.until("status", "f\t0\t0\t1")


def job_without_a_worker_waits(stage):
    stage.ask(post_bg("/nobody", "x"), created("#1"))
    stage.until("status", "nobody\t1\t0\t0")
    stage.worker("nobody").do("#1", "nobody", "x", "")


def high_goes_before_normal_before_low(stage):
    w = stage.worker("f")
    for job, fields in enumerate((["X-Gearman-Priority: low"], [], ["X-Gearman-Priority: high"],
                                  ["X-Gearman-Priority: LOW"], ["X-Gearman-Priority: High"]),
                                 start=1):
        stage.ask(post_bg("/f", f"{job}", *fields), created(f"#{job}"))
    stage.until("prioritystatus", "f\t2\t1\t2\t1")
    for job in (3, 5, 2, 1, 4):
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", "f", f"{job}"))
    w.ask(GRAB_JOB(), NO_JOB())


def workload_and_result_may_hold_anything(stage):
    w = stage.worker("f")
    for job, data in enumerate(("\0", "a\0b\0\0c", "\r\n\r\n", "\xff\xfe", "x" * 8192,
                                "x" * 300000), start=1):
        r = stage.say(post("/f", data))
        w.do(f"#{job}", "f", data, data)
        r.hear(complete(f"#{job}", data))


def empty_workload_is_one(stage):
    w = stage.worker("f")
    stage.ask(post_bg("/f", ""), created("#1"))
    stage.ask(request("POST", "/f", "X-Gearman-Background: true"), created("#2"))
    w.do("#1", "f", "", "")
    w.do("#2", "f", "", "")


def empty_result_is_one(stage):
    w = stage.worker("f")
    r = stage.say(post("/f", "x"))
    w.do("#1", "f", "x", "")
    r.hear(complete("#1"))


def names_of_functions_are_paths(stage):
    for job, (path, name) in enumerate((("/a/b", "a/b"), ("//f", "f"), ("/UPPER", "UPPER"),
                                        ("/a-b_c.d~e", "a-b_c.d~e"), ("/f/", "f/"),
                                        ("/" + "n" * 500, "n" * 500)), start=1):
        stage.ask(post_bg(path, "x"), created(f"#{job}"))
        stage.worker(name).do(f"#{job}", name, "x", "")


def names_of_headers_are_in_any_case(stage):
    w = stage.worker("f")
    stage.ask(post("/f", "1", "x-gearman-background: true"), created("#1"))
    stage.ask(post("/f", "2", "X-GEARMAN-BACKGROUND: TRUE", "x-gearman-priority: high"),
              created("#2"))
    w.do("#2", "f", "2", "")
    w.do("#1", "f", "1", "")


def headers_of_others_mean_nothing(stage):
    w = stage.worker("f")
    r = stage.say(post("/f", "x", "User-Agent: me/1.0", "Accept: */*", "X-Gearman: true",
                       "Content-Type: application/x-www-form-urlencoded", "Cookie: a=b"))
    w.do("#1", "f", "x", "y")
    r.hear(complete("#1", "y"))


def unique_joins_a_request_to_a_job(stage):
    w = stage.worker("f")
    first = stage.say(post("/f", "x", "X-Gearman-Unique: u"))
    stage.until("status", "f\t1\t0\t1")
    second = stage.say(post("/f", "other", "X-Gearman-Unique: u"))
    stage.ask(post_bg("/f", "third", "X-Gearman-Unique: u"), created("#1"))
    w.ask(GRAB_JOB_UNIQ(), JOB_ASSIGN_UNIQ("#1", "f", "u", "x"))
    stage.until("status", "f\t1\t1\t1")
    w.tell(WORK_COMPLETE("#1", "y"))
    first.hear(complete("#1", "y"))
    second.hear(complete("#1", "y"))


def dash_joins_requests_with_the_same_body(stage):
    w = stage.worker("f")
    for _ in range(2):
        stage.ask(post_bg("/f", "same", "X-Gearman-Unique: -"), created("#1"))
    stage.ask(post_bg("/f", "other", "X-Gearman-Unique: -"), created("#2"))
    stage.until("status", "f\t2\t0\t1")
    w.do("#1", "f", "same", "")
    w.do("#2", "f", "other", "")


def bodies_that_are_the_same_are_jobs_each(stage):
    stage.ask(post_bg("/f", "same"), created("#1"))
    stage.ask_differing("identical bodies", post_bg("/f", "same"),
                        theirs=created("#1"), ours=created("#2"))


def worker_sees_no_unique_where_there_is_none(stage):
    w = stage.worker("f")
    stage.ask(post_bg("/f", "x"), created("#1"))
    w.differ("default unique", GRAB_JOB_UNIQ(), theirs=[JOB_ASSIGN_UNIQ("#1", "f", "-", "x")],
             ours=[JOB_ASSIGN_UNIQ("#1", "f", "", "x")])


def unique_of_64_bytes_joins(stage):
    field = "X-Gearman-Unique: " + "u" * 64
    stage.ask(post_bg("/f", "x", field), created("#1"))
    stage.ask_differing("unique of 64 bytes", post_bg("/f", "y", field),
                        theirs=created("#2"), ours=created("#1"))


def unique_of_65_bytes_is_refused(stage):
    stage.ask_differing("refusal", post("/f", "x", "X-Gearman-Unique: " + "u" * 65),
                        theirs=Answer("200 OK", "ERROR", "ARGUMENT_TOO_LARGE"),
                        ours=refused("400 Bad Request", "X-Gearman-Unique is longer than 64 bytes"))


def escapes_in_a_name_are_decoded(stage):
    stage.ask(post_bg("/a%2Fb", "x"), created("#1"))
    stage.client().differ("escapes in the name", "status", theirs=[Lines("a%2Fb\t1\t0\t0")],
                          ours=[Lines("a/b\t1\t0\t0")])


def query_is_the_workload(stage):
    stage.ask(request("GET", "/f?Hello%20world!", "X-Gearman-Background: true"), created("#1"))
    w = stage.worker("f")
    w.differ("query", GRAB_JOB(), theirs=[NO_JOB()], ours=[JOB_ASSIGN("#1", "f", "Hello world!")])


def query_beside_a_body_is_refused(stage):
    stage.ask_differing("query and body", post_bg("/f?x=1", "x"), theirs=created("#1"),
                        ours=refused("400 Bad Request", "only a GET may have a query"))


def words_for_yes_are_understood(stage):
    w = stage.worker("f")
    for job, word in enumerate(("1", "yes"), start=1):
        r = stage.say(post("/f", f"{job}", f"X-Gearman-Background: {word}"))
        w.do(f"#{job}", "f", f"{job}", "done")
        r.differ("words for yes", theirs=complete(f"#{job}", "done"), ours=created(f"#{job}"))


def white_space_around_a_value_is_none_of_it(stage):
    w = stage.worker("f")
    for job, field in enumerate(("X-Gearman-Background:true", "X-Gearman-Background:\t true "),
                                start=1):
        r = stage.say(post("/f", f"{job}", field))
        w.do(f"#{job}", "f", f"{job}", "done")
        r.differ("white space", theirs=complete(f"#{job}", "done"), ours=created(f"#{job}"))


def priority_that_is_none_is_refused(stage):
    stage.ask_differing("bad header", post_bg("/f", "x", "X-Gearman-Priority: urgent"),
                        theirs=created("#1"),
                        ours=refused("400 Bad Request", "X-Gearman-Priority is not high, "
                                     "normal, low or a number"))


def path_without_a_name_is_not_found(stage):
    for method in ("GET", "POST", "PUT"):
        stage.ask_differing("not found", request(method, "/"),
                            theirs=Answer("404 NOT_FOUND"),
                            ours=Answer("404 Not Found", body=error("the path must name a function")))
