# SPDX-License-Identifier: MIT
"""The functions of a worker, its name, and the order of its jobs."""

from gearman.packets import (ALL_YOURS, CANT_DO, CAN_DO, CAN_DO_TIMEOUT, ECHO_REQ, ECHO_RES,
                             GRAB_JOB, JOB_ASSIGN, JOB_CREATED, NO_JOB, RESET_ABILITIES,
                             SET_CLIENT_ID, SUBMIT_JOB_BG, SUBMIT_JOB_HIGH_BG, SUBMIT_JOB_LOW_BG,
                             WORK_COMPLETE, Kind, as_request)
from gearman.pair import ENDS, STUCK, Lines
from gearman.refusals import NOT_EXPECTED, TOO_FEW_ARGUMENTS
from shared.scripts import servers

NOBODY = "<fd> 127.0.0.1 - :"


def abilities_are_listed_newest_first(stage):
    w, a = stage.open_clients(2)
    a.ask("workers", Lines(NOBODY, NOBODY, NOBODY))
    w.tell(CAN_DO("f"))
    a.ask("workers", Lines("<fd> 127.0.0.1 - : f", NOBODY, NOBODY))
    w.tell(CAN_DO("g"), CAN_DO_TIMEOUT("h", "60000"))
    a.ask("workers", Lines("<fd> 127.0.0.1 - : h g f", NOBODY, NOBODY))
    w.tell(CANT_DO("g"))
    a.ask("workers", Lines("<fd> 127.0.0.1 - : h f", NOBODY, NOBODY))
    w.tell(RESET_ABILITIES())
    a.ask("workers", Lines(NOBODY, NOBODY, NOBODY))


def functions_go_with_their_last_worker(stage):
    a, w = stage.client(), stage.worker("f", "g", "h")
    a.ask(SUBMIT_JOB_BG("h", "", "x"), JOB_CREATED("#1"))
    a.ask("status", Lines("f\t0\t0\t1", "g\t0\t0\t1", "h\t1\t0\t1"))
    w.tell(CANT_DO("f"))
    a.differ("function without workers", "status",
             theirs=[Lines("f\t0\t0\t0", "g\t0\t0\t1", "h\t1\t0\t1")],
             ours=[Lines("g\t0\t0\t1", "h\t1\t0\t1")])
    w.hang_up()
    a.differ("function without workers", "prioritystatus",
             theirs=[Lines("f\t0\t0\t0\t0", "g\t0\t0\t0\t0", "h\t0\t1\t0\t0")],
             ours=[Lines("h\t0\t1\t0\t0")])


def what_was_not_offered_is_given_up_in_peace(stage):
    w = stage.worker("f")
    w.tell(CANT_DO("g"), CANT_DO("F"), CANT_DO(""))
    w.ask("status", Lines("f\t0\t0\t1"))


def several_workers_are_counted(stage):
    a = stage.client()
    v, w = stage.worker("f"), stage.worker("f", "g")
    a.ask("status", Lines("f\t0\t0\t2", "g\t0\t0\t1"))
    v.tell(RESET_ABILITIES())
    a.ask("status", Lines("f\t0\t0\t1", "g\t0\t0\t1"))
    w.tell(CANT_DO("g"))
    a.differ("function without workers", "status",
             theirs=[Lines("f\t0\t0\t1", "g\t0\t0\t0")], ours=[Lines("f\t0\t0\t1")])


def function_that_is_offered_twice_counts_once(stage):
    w = stage.worker("f", "g")
    w.differ("function offered twice", (CAN_DO("f"), "status"),
             theirs=[Lines("f\t0\t0\t2", "g\t0\t0\t1")], ours=[Lines("f\t0\t0\t1", "g\t0\t0\t1")])
    w.tell(CANT_DO("f"))
    w.differ("function without workers", "status",
             theirs=[Lines("f\t0\t0\t0", "g\t0\t0\t1")], ours=[Lines("g\t0\t0\t1")])


def nul_ends_the_name_of_a_function(stage):
    a, w = stage.open_clients(2)
    w.tell(CAN_DO("f\0"))
    a.ask("status", Lines("f\t0\t0\t1"))
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.differ("NUL in a function", GRAB_JOB(), theirs=[NO_JOB()],
             ours=[JOB_ASSIGN("#1", "f", "x")])


def all_yours_means_nothing(stage):
    a = stage.client()
    a.differ("ALL_YOURS", ALL_YOURS(), theirs=[NOT_EXPECTED], ours=[])
    a.ask("workers", Lines(NOBODY, NOBODY))


def worker_names_itself(stage):
    w = stage.client()
    for name, shown in (("me", "me"), ("x" * 127, "x" * 127), ("y" * 128, "y" * 127),
                        ("z" * 1000, "z" * 127), ("cut\0here", "cut"), ("\xe9", "\xe9")):
        w.tell(SET_CLIENT_ID(name))
        w.ask("workers", Lines(f"<fd> 127.0.0.1 {shown} :", NOBODY))
    w.tell(CAN_DO("f"))
    w.ask("workers", Lines("<fd> 127.0.0.1 \xe9 : f", NOBODY))


def name_that_breaks_its_line_is_shown_otherwise(stage):
    w = stage.client()
    for name, theirs, ours in (("a b", "a b", "a%20b"), ("a\tb", "a\tb", "a%09b"), ("", "", "-")):
        w.tell(SET_CLIENT_ID(name))
        w.differ("names that break a line", "workers",
                 theirs=[Lines(f"<fd> 127.0.0.1 {theirs} :", NOBODY)],
                 ours=[Lines(f"<fd> 127.0.0.1 {ours} :", NOBODY)])


def function_that_breaks_its_line_is_shown_otherwise(stage):
    w = stage.worker("with space")
    w.ask("status", Lines("with space\t0\t0\t1"))
    w.differ("names that break a line", "workers",
             theirs=[Lines("<fd> 127.0.0.1 - : with space", NOBODY)],
             ours=[Lines("<fd> 127.0.0.1 - : with%20space", NOBODY)])
    v = stage.worker("tab\there")
    v.differ("names that break a line", "status",
             theirs=[Lines("with space\t0\t0\t1", "tab\there\t0\t0\t1")],
             ours=[Lines("with space\t0\t0\t1", "tab%09here\t0\t0\t1")])
    v.differ("names that break a line", "prioritystatus",
             theirs=[Lines("with space\t0\t0\t0\t1", "tab\there\t0\t0\t0\t1")],
             ours=[Lines("with space\t0\t0\t0\t1", "tab%09here\t0\t0\t0\t1")])


def functions_are_served_in_turn(stage):
    a, w = stage.client(), stage.worker("f", "g")
    for job, function in enumerate("gfgfgf", start=1):
        a.ask(SUBMIT_JOB_BG(function, "", f"{job}"), JOB_CREATED(f"#{job}"))
    w.differ("order of functions", tuple([GRAB_JOB()] * 6),
             theirs=[JOB_ASSIGN(f"#{job}", "g", f"{job}") for job in (1, 3, 5)] +
             [JOB_ASSIGN(f"#{job}", "f", f"{job}") for job in (2, 4, 6)],
             ours=[JOB_ASSIGN(f"#{job}", "gf"[job % 2 == 0], f"{job}") for job in range(1, 7)])


@servers(flags=["--round-robin"])
def function_offered_last_has_the_first_turn(stage):
    a, w = stage.client(), stage.worker("a", "b", "c")
    bodies = [f"{function}{number}" for function in "abcd" for number in range(3)]
    for job, body in enumerate(bodies, start=1):
        a.ask(SUBMIT_JOB_BG(body[0], "", body), JOB_CREATED(f"#{job}"))
    for body in "c0 b0 a0 c1 + d0 b1 a1 c2 d1 b2 a2 d2".split():
        if body == "+":
            w.tell(CAN_DO("d"))
        else:
            w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{bodies.index(body) + 1}", body[0], body))
    w.ask(GRAB_JOB(), NO_JOB())


@servers(flags=["--round-robin"])
def function_offered_anew_has_the_first_turn_again(stage):
    a, w = stage.client(), stage.worker("f", "g")
    for job, function in enumerate("fgfgfg", start=1):
        a.ask(SUBMIT_JOB_BG(function, "", f"{job}"), JOB_CREATED(f"#{job}"))
    for job, function in ((2, "g"), (1, "f")):
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", function, f"{job}"))
        w.tell(WORK_COMPLETE(f"#{job}", ""))
    w.tell(CANT_DO("f"), CAN_DO("f"))
    for job, function in ((3, "f"), (4, "g"), (5, "f"), (6, "g")):
        w.ask(GRAB_JOB(), JOB_ASSIGN(f"#{job}", function, f"{job}"))


def priority_counts_for_all_functions_together(stage):
    a, w = stage.client(), stage.worker("f", "g")
    for job, (submit, function) in enumerate((
            (SUBMIT_JOB_LOW_BG, "g"), (SUBMIT_JOB_BG, "f"), (SUBMIT_JOB_HIGH_BG, "f")), start=1):
        a.ask(submit(function, "", f"{job}"), JOB_CREATED(f"#{job}"))
    w.differ("priority of all functions", (GRAB_JOB(), GRAB_JOB(), GRAB_JOB()),
             theirs=[JOB_ASSIGN("#1", "g", "1"), JOB_ASSIGN("#3", "f", "3"),
                     JOB_ASSIGN("#2", "f", "2")],
             ours=[JOB_ASSIGN("#3", "f", "3"), JOB_ASSIGN("#2", "f", "2"),
                   JOB_ASSIGN("#1", "g", "1")])


def worker_gets_what_it_can_do_only(stage):
    a, v, w = stage.client(), stage.worker("f"), stage.worker("g")
    a.ask(SUBMIT_JOB_BG("g", "", "for g"), JOB_CREATED("#1"))
    a.ask(SUBMIT_JOB_BG("f", "", "for f"), JOB_CREATED("#2"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#2", "f", "for f"))
    v.ask(GRAB_JOB(), NO_JOB())
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "g", "for g"))
    w.ask(GRAB_JOB(), NO_JOB())


def names_of_functions_are_compared_to_the_letter(stage):
    a, w = stage.client(), stage.worker("F")
    a.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    w.ask(GRAB_JOB(), NO_JOB())
    w.ask("status", Lines("f\t1\t0\t0", "F\t0\t0\t1"))


def timeout_that_is_no_number_is_none(stage):
    for text in ("abc", "0", "", "-5", "10 ", "1" * 19):
        w = stage.client()
        w.tell(CAN_DO_TIMEOUT("f", text))
        w.ask("status", Lines("f\t0\t0\t1"))
        w.tell(RESET_ABILITIES())


def timeout_of_20_digits_is_as_good_as_none(stage):
    w = stage.client()
    w.differ("long number", (CAN_DO_TIMEOUT("f", "1" * 21), ECHO_REQ("more")),
             theirs=[ENDS], ours=[ECHO_RES("more")])


def timeout_without_its_argument_is_refused(stage):
    w = stage.client()
    w.differ("too few arguments", (as_request(Kind.CAN_DO_TIMEOUT, "f"), ECHO_REQ("more")),
             theirs=[STUCK], ours=[TOO_FEW_ARGUMENTS, ECHO_RES("more")])
