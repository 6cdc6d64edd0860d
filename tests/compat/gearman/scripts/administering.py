# SPDX-License-Identifier: MIT
"""The commands of the text protocol and their error lines."""

from gearman.packets import (CANT_DO, CAN_DO, GET_STATUS, GRAB_JOB, JOB_ASSIGN, JOB_CREATED,
                             NO_JOB, STATUS_RES, SUBMIT_JOB, SUBMIT_JOB_BG, SUBMIT_JOB_HIGH_BG,
                             SUBMIT_JOB_LOW_BG, WORK_COMPLETE, WORK_FAIL, WORK_STATUS)
from gearman.pair import ENDS, Lines
from gearman.refusals import INCOMPLETE, NO_JOB_FOR_RESULT, UNKNOWN_COMMAND

IN_USE = "ERR there are still connected workers or executing clients\r\n"
NOT_FOUND = "ERR function not found\r\n"
OK = "OK\r\n"
UNKNOWN_JOB = "ERR UNKNOWN_JOB\r\n"
UNKNOWN_ERROR = "ERR UNKNOWN_ERROR\r\n"
UNKNOWN_SHOW = "ERR UNKNOWN_SHOW_ARGUMENTS\r\n"


def values_are_told(stage):
    a = stage.client()
    for words in ("version", "VERSION", "Version", "version x", "version a b c", "version "):
        a.ask(words, "OK <version>\n")
    for words in ("getpid", "GetPid", "getpid x"):
        a.ask(words, "OK <pid>\n")
    for words in ("verbose", "VERBOSE", "verbose DEBUG"):
        a.ask(words, "OK <level>\n")


def unknown_words_are_unknown(stage):
    a = stage.client()
    for word in ("foo", "FOO", "verbos", "versionx", "stat", "worker", "job", "shutdown", "help",
                 "quit", "(", "\xff", "0"):
        a.ask_each([word, word + " x", word + "  x y z"], UNKNOWN_COMMAND + word + "\r\n")


def empty_lines_are_unknown(stage):
    a = stage.client()
    a.ask_each(["", " ", "  ", " version", "  status x"], UNKNOWN_COMMAND + "\r\n")
    a.send("\n\n\r\n \n")
    a.hear(*[UNKNOWN_COMMAND + "\r\n"] * 4)


def tabs_do_not_divide_words(stage):
    a = stage.client()
    a.differ("words in an error", ("\tversion", "version\t"),
             theirs=[UNKNOWN_COMMAND + "\tversion\r\n", UNKNOWN_COMMAND + "version\t\r\n"],
             ours=[UNKNOWN_COMMAND + "%09version\r\n", UNKNOWN_COMMAND + "version%09\r\n"])


def five_words_are_the_most(stage):
    a, b, c = stage.open_clients(3)
    a.ask("one two three four five", UNKNOWN_COMMAND + "one\r\n")
    a.ask("version two three four five", "OK <version>\n")
    a.differ("more than five words", "one two three four five six", theirs=[ENDS],
             ours=[UNKNOWN_COMMAND + "one\r\n"])
    b.differ("more than five words", "version 2 3 4 5 6 7 8", theirs=[ENDS],
             ours=[UNKNOWN_COMMAND + "version\r\n"])
    c.ask("version", "OK <version>\n")


def shutdown_is_unknown(stage):
    a = stage.client()
    a.ask_each(["shutdown", "shutdown graceful"], UNKNOWN_COMMAND + "shutdown\r\n")
    a.ask("version", "OK <version>\n")


def lists_are_empty_at_first(stage):
    a = stage.client()
    a.ask_each(["status", "STATUS", "status x", "status ", "prioritystatus", "PriorityStatus x",
                "show jobs", "SHOW Jobs", "show  jobs", "show unique jobs", "Show Unique JOBS"],
               Lines())
    a.ask_each(["workers", "Workers", "workers x"],
               Lines("<fd> 127.0.0.1 - :", "<fd> 127.0.0.1 - :"))


def show_shows_two_things(stage):
    a = stage.client()
    a.ask_each(["show foo", "show foo bar", "show jobs x", "show jobs ", "show unique",
                "show unique foo", "show unique jobs x", "show "], UNKNOWN_SHOW)
    a.ask("show", UNKNOWN_COMMAND + "show\r\n")
    a.ask("SHOW", UNKNOWN_COMMAND + "SHOW\r\n")


def status_counts_all_and_priority_status_those_that_wait(stage):
    c, w = stage.client(), stage.worker("f")
    submits = [SUBMIT_JOB_BG, SUBMIT_JOB_HIGH_BG, SUBMIT_JOB_LOW_BG, SUBMIT_JOB, SUBMIT_JOB_BG]
    for job, submit in enumerate(submits, start=1):
        c.ask(submit("f", "", "x"), JOB_CREATED(f"#{job}"))
    c.ask(SUBMIT_JOB_BG("g", "", "x"), JOB_CREATED("#6"))
    c.ask("status", Lines("f\t5\t0\t1", "g\t1\t0\t0"))
    c.ask("prioritystatus", Lines("f\t1\t3\t1\t1", "g\t0\t1\t0\t0"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#2", "f", "x"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.ask("status", Lines("f\t5\t2\t1", "g\t1\t0\t0"))
    c.ask("prioritystatus", Lines("f\t0\t2\t1\t1", "g\t0\t1\t0\t0"))
    w.tell(WORK_COMPLETE("#2", ""), WORK_FAIL("#1"))
    c.ask("status", Lines("f\t3\t0\t1", "g\t1\t0\t0"))
    c.ask("prioritystatus", Lines("f\t0\t2\t1\t1", "g\t0\t1\t0\t0"))


def jobs_are_shown_until_they_end(stage):
    c, w = stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "one", "x"), JOB_CREATED("#1"))
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#2"))
    c.ask(SUBMIT_JOB_BG("g", "with space", "x"), JOB_CREATED("#3"))
    c.ask("show jobs", Lines("#1\t0\t0\t0", "#2\t0\t0\t1", "#3\t0\t0\t1"))
    c.ask("show unique jobs", Lines("one", "", "with space"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.ask("show jobs", Lines("#1\t0\t0\t0", "#2\t0\t0\t1", "#3\t0\t0\t1"))
    w.tell(WORK_COMPLETE("#1", ""))
    c.hear(WORK_COMPLETE("#1", ""))
    c.ask("show jobs", Lines("#2\t0\t0\t1", "#3\t0\t0\t1"))
    c.ask("show unique jobs", Lines("", "with space"))


def name_that_looks_like_the_end_of_a_list_is_shown_otherwise(stage):
    a = stage.client()
    a.ask(SUBMIT_JOB_BG("f", ".", "x"), JOB_CREATED("#1"))
    a.differ("names that break a line", "show unique jobs", theirs=[Lines(), ".\n"],
             ours=[Lines("%2E")])


def name_that_looks_escaped_is_shown_otherwise(stage):
    a = stage.client()
    a.ask("create function 100%", OK)
    a.ask("create function 5%x", OK)
    a.ask("status", Lines("100%\t0\t0\t0", "5%x\t0\t0\t0"))
    a.ask("create function a%20b", OK)
    a.differ("names that break a line", "status",
             theirs=[Lines("100%\t0\t0\t0", "5%x\t0\t0\t0", "a%20b\t0\t0\t0")],
             ours=[Lines("100%\t0\t0\t0", "5%x\t0\t0\t0", "a%2520b\t0\t0\t0")])


def cancel_needs_a_job(stage):
    a = stage.client()
    a.ask_each(["cancel", "cancel job", "cancel x", "cancel  job"], UNKNOWN_COMMAND + "cancel\r\n")
    a.ask_each(["cancel x y", "cancel job x y", "cancel function f", "cancel job H:nowhere:1 x"],
               UNKNOWN_ERROR)
    a.ask_each(["cancel job x", "cancel job H:nowhere:1", "Cancel JOB 1", "cancel job "],
               UNKNOWN_JOB)


def cancelled_job_fails_for_its_clients(stage):
    a, c, d, w = stage.client(), stage.client(), stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    d.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    a.ask("cancel job #1", OK)
    c.hear(WORK_FAIL("#1"))
    d.hear(WORK_FAIL("#1"))
    a.differ("cancelled job", "show jobs", theirs=[Lines("#1\t0\t1\t0")], ours=[Lines()])
    a.differ("cancelled job", "status", theirs=[Lines("f\t1\t0\t1")], ours=[Lines("f\t0\t0\t1")])
    w.ask(GRAB_JOB(), NO_JOB())
    a.ask("status", Lines("f\t0\t0\t1"))
    a.ask("cancel job #1", UNKNOWN_JOB)


def cancelled_background_job_is_never_done(stage):
    a, w = stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    a.ask("CANCEL JOB #1", OK)
    w.ask(GRAB_JOB(), NO_JOB())
    a.ask("show jobs", Lines())
    a.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#2"))


def cancelled_running_job_fails_at_once(stage):
    a, c, w = stage.client(), stage.client(), stage.worker("f")
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    a.ask("cancel job #1", OK)
    c.hear(WORK_FAIL("#1"))
    a.differ("cancelled job", GET_STATUS("#1"), theirs=[STATUS_RES("#1", "1", "1", "0", "0")],
             ours=[STATUS_RES("#1", "0", "0", "0", "0")])
    w.tell(WORK_STATUS("#1", "1", "2"), WORK_COMPLETE("#1", "r"))
    w.ask(WORK_COMPLETE("#1", "r"), NO_JOB_FOR_RESULT)
    c.differ("cancelled job", (), theirs=[WORK_STATUS("#1", "1", "2"), WORK_COMPLETE("#1", "r")],
             ours=[])
    a.ask("status", Lines("f\t0\t0\t1"))


def created_functions_are_there(stage):
    a = stage.client()
    for name in ("f", "F", "f", "longer_name", "\xe9", "f" * 200):
        a.ask(f"create function {name}", OK)
    a.ask("status", Lines("f\t0\t0\t0", "F\t0\t0\t0", "longer_name\t0\t0\t0", "\xe9\t0\t0\t0",
                          "f" * 200 + "\t0\t0\t0"))
    a.ask("CREATE Function g", OK)
    a.ask("prioritystatus", Lines(*[f"{name}\t0\t0\t0\t0" for name in (
        "f", "F", "longer_name", "\xe9", "f" * 200, "g")]))


def create_needs_a_function(stage):
    a = stage.client()
    a.ask_each(["create", "create function", "create x y", "create function a b", "create job f",
                "create function a b c"], INCOMPLETE + "create\r\n")
    a.ask("status", Lines())


def create_may_end_with_lf(stage):
    a = stage.client()
    a.send("create function abc\n")
    a.hear(OK)
    a.differ("create function with LF", "status", theirs=[Lines("ab\t0\t0\t0")],
             ours=[Lines("abc\t0\t0\t0")])


def drop_needs_a_function(stage):
    a = stage.client()
    a.ask_each(["drop", "drop function", "drop x y", "drop function a b", "drop function a b c"],
               INCOMPLETE + "drop\r\n")
    a.ask_each(["drop function f", "Drop FUNCTION f"], NOT_FOUND)


def function_without_workers_and_jobs_is_dropped(stage):
    a, w = stage.client(), stage.worker("f", "g")
    a.ask("create function e", OK)
    a.ask("drop function e", OK)
    a.ask("drop function e", NOT_FOUND)
    a.ask("drop function f", IN_USE)
    w.tell(CANT_DO("f"))
    a.differ("function without workers", "drop function f", theirs=[OK], ours=[NOT_FOUND])
    a.ask("create function g", OK)
    w.hang_up()
    a.send("drop function g\n")
    a.hear(OK)
    a.ask("status", Lines())


def function_with_a_running_job_is_not_dropped(stage):
    a, w = stage.client(), stage.worker("f")
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    a.ask("drop function f", IN_USE)
    w.tell(WORK_COMPLETE("#1", ""))
    a.ask("drop function f", IN_USE)
    a.ask("create function f", OK)
    w.tell(CANT_DO("f"))
    a.ask("drop function f", OK)
    w.tell(CAN_DO("f"))
    a.ask("status", Lines("f\t0\t0\t1"))


def function_with_waiting_jobs_is_dropped(stage):
    a = stage.client()
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    a.ask("drop function f", OK)
    a.ask("status", Lines())
    a.ask("drop function f", NOT_FOUND)
    a.differ("drop function with jobs", GET_STATUS("#1"),
             theirs=[STATUS_RES("#1", "1", "0", "0", "0")],
             ours=[STATUS_RES("#1", "0", "0", "0", "0")])


def function_is_dropped_by_its_very_name(stage):
    a = stage.client()
    a.ask("create function abcde", OK)
    a.differ("drop function in any case", "drop function ABCDE", theirs=[OK], ours=[NOT_FOUND])
    a.differ("drop function in any case", "status", theirs=[Lines()],
             ours=[Lines("abcde\t0\t0\t0")])


def function_without_name_is_not_created(stage):
    a = stage.client()
    a.differ("empty function name", "create function ", theirs=[OK],
             ours=["ERR CREATE_FUNCTION \r\n"])
