# SPDX-License-Identifier: MIT
"""Valid and invalid requests."""

from gearman.pair import ENDS, STUCK
from gearman.packets import GRAB_JOB, NO_JOB
from http.answers import Answer, complete, created, error, post, post_bg, request, wrong

MALFORMED = wrong("400 Bad Request", "the head of the request is malformed")
NO_METHOD = wrong("405 Method Not Allowed", "the method is not allowed for this path")


def request_may_come_in_pieces(stage):
    w = stage.worker("f")
    text = post("/f", "Hello", "X-Gearman-Priority: high")
    for job, place in enumerate((1, 5, 17, len(text) - 6, len(text) - 5, len(text) - 1), start=1):
        r = stage.say(text[:place])
        stage.settle()  # they have read what there is, or do not mind
        r.more(text[place:])
        w.do(f"#{job}", "f", "Hello", "result")
        r.hear(complete(f"#{job}", "result"))


def connection_is_kept(stage):
    stage.ask_differing("keep-alive", post_bg("/f", "1") + post_bg("/f", "2"),
                        theirs=[created("#1"), ENDS], ours=[created("#1"), created("#2")])


def head_of_the_root_answers(stage):
    stage.ask_differing("root", request("HEAD", "/"), theirs=Answer("200 OK", None, "(null)"),
                        ours=Answer("200 OK"))


def head_of_a_function_has_no_effect(stage):
    w = stage.worker("f")
    r = stage.say(request("HEAD", "/f"))
    w.theirs_only("HEAD submits", "#1", "f", "", "result")
    r.differ("HEAD submits", theirs=Answer("200 OK", None, "#1", "result"),
             ours=Answer("405 Method Not Allowed"))
    w.ask(GRAB_JOB(), NO_JOB())


def other_methods_are_refused(stage):
    for method in ("DELETE", "PATCH", "post", "BREW"):
        stage.ask_differing("other method", request(method, "/f"), theirs=ENDS, ours=NO_METHOD)


def trace_is_refused(stage):
    stage.ask_differing("TRACE", request("TRACE", "/f"), theirs=STUCK, ours=NO_METHOD)


def options_are_told(stage):
    for target in ("*", "/f"):
        stage.ask_differing("OPTIONS", request("OPTIONS", target), theirs=ENDS,
                            ours=Answer("204 No Content"))


def what_is_no_request_is_refused(stage):
    for text in ("hello\r\n\r\n", "GET\r\n\r\n"):
        stage.ask_differing("malformed", text, theirs=ENDS, ours=MALFORMED)


def tls_is_not_answered(stage):
    stage.say("\x16\x03\x01\x02\r\n\r\n").hear_end()


def header_whose_name_is_no_token_means_nothing(stage):
    w = stage.worker("f")
    fields = ('"X-Gearman-Background: true"', '"X-Gearman-Priority": high', "{x}: y", "(x): y",
              "x/y: z", "@:")
    for job, field in enumerate(fields, start=1):
        r = stage.say(post("/f", f"{job}", field))
        w.do(f"#{job}", "f", f"{job}", "done")
        r.hear(complete(f"#{job}", "done"))


def other_versions_are_refused(stage):
    stage.ask_differing("malformed", request("GET", "/f", version="2.0"), theirs=ENDS,
                        ours=wrong("505 HTTP Version Not Supported", "only HTTP/1.0 and HTTP/1.1 are supported"))


def length_that_is_no_number_is_refused(stage):
    stage.ask_differing("malformed", request("POST", "/f", "Content-Length: -1"), theirs=ENDS,
                        ours=wrong("400 Bad Request", "the request is malformed"))


def chunks_are_put_together(stage):
    text = request("POST", "/f", "X-Gearman-Background: true", "Transfer-Encoding: chunked")
    stage.ask_differing("chunks", text + "5\r\nHello\r\n0\r\n\r\n", theirs=ENDS, ours=created("#1"))


def body_of_a_get_is_refused(stage):
    stage.ask_differing("body of a GET", request("GET", "/f", "X-Gearman-Background: true",
                                                 body="Hello"), theirs=created("#1"),
                        ours=Answer("400 Bad Request", "ERROR", None, error("a GET must not have a body")))


def request_without_a_host_is_refused(stage):
    stage.ask_differing("no Host", "POST /f HTTP/1.1\r\nX-Gearman-Background: true\r\n"
                        "Content-Length: 1\r\n\r\nx", theirs=created("#1"),
                        ours=wrong("400 Bad Request", "exactly one Host is required"))


def old_request_needs_no_host(stage):
    w = stage.worker("f")
    r = stage.say("POST /f HTTP/1.0\r\nContent-Length: 1\r\n\r\nx")
    w.do("#1", "f", "x", "result")
    r.hear(complete("#1", "result"))


def head_over_8_kib_is_read(stage):
    stage.ask_differing("header over 8 KiB", post_bg("/f", "x", "Cookie: " + "c" * 9000),
                        theirs=ENDS, ours=created("#1"))
