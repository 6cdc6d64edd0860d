# SPDX-License-Identifier: MIT
"""GET_STATUS and GET_STATUS_UNIQUE."""

from gearman.packets import (GET_STATUS, GET_STATUS_UNIQUE, GRAB_JOB, JOB_ASSIGN, JOB_CREATED,
                             STATUS_RES, STATUS_RES_UNIQUE, SUBMIT_JOB, SUBMIT_JOB_BG,
                             WORK_COMPLETE, WORK_FAIL, WORK_STATUS)
from gearman.pair import ENDS


def status_follows_the_job(stage):
    c, w = stage.client(), stage.worker("f")
    for job, submit in enumerate((SUBMIT_JOB, SUBMIT_JOB_BG), start=1):
        handle = f"#{job}"
        c.ask(submit("f", "", "x"), JOB_CREATED(handle))
        c.ask(GET_STATUS(handle), STATUS_RES(handle, "1", "0", "0", "0"))
        w.ask(GRAB_JOB(), JOB_ASSIGN(handle, "f", "x"))
        w.ask(GET_STATUS(handle), STATUS_RES(handle, "1", "1", "0", "0"))
        w.tell(WORK_STATUS(handle, "1", "10"))
        if submit == SUBMIT_JOB:
            c.hear(WORK_STATUS(handle, "1", "10"))
        c.ask(GET_STATUS(handle), STATUS_RES(handle, "1", "1", "1", "10"))
        w.tell(WORK_COMPLETE(handle, ""))
        if submit == SUBMIT_JOB:
            c.hear(WORK_COMPLETE(handle, ""))
        c.ask(GET_STATUS(handle), STATUS_RES(handle, "0", "0", "0", "0"))


def status_of_unknown_jobs_is_all_zero(stage):
    a = stage.client()
    for handle in ("", "x", "H:", "H:nowhere:1", "x" * 63, "\xff"):
        a.ask(GET_STATUS(handle), STATUS_RES(handle, "0", "0", "0", "0"))
        a.ask(GET_STATUS_UNIQUE(handle), STATUS_RES_UNIQUE(handle, "0", "0", "0", "0", "0"))


def status_of_what_is_too_long_is_all_zero(stage):
    a, b = stage.open_clients(2)
    text = "x" * 64
    a.differ("status of 64 bytes", GET_STATUS(text), theirs=[ENDS],
             ours=[STATUS_RES(text, "0", "0", "0", "0")])
    b.differ("status of 64 bytes", GET_STATUS_UNIQUE(text), theirs=[ENDS],
             ours=[STATUS_RES_UNIQUE(text, "0", "0", "0", "0", "0")])


def status_by_unique_counts_clients(stage):
    c, d, w = stage.client(), stage.client(), stage.worker("f")
    w.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "0", "0", "0", "0", "0"))
    c.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "0"))
    d.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "1"))
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    w.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "2"))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    w.tell(WORK_STATUS("#1", "3", "7"))
    for client in (c, d):
        client.hear(WORK_STATUS("#1", "3", "7"))
        client.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "1", "3", "7", "2"))
    w.tell(WORK_FAIL("#1"))
    for client in (c, d):
        client.hear(WORK_FAIL("#1"))
        client.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "0", "0", "0", "0", "0"))


def unique_is_asked_for_to_the_letter(stage):
    c = stage.client()
    c.ask(SUBMIT_JOB_BG("f", "Unique", "x"), JOB_CREATED("#1"))
    for unique in ("unique", "UNIQUE", "Uniqu", "Unique "):
        c.ask(GET_STATUS_UNIQUE(unique), STATUS_RES_UNIQUE(unique, "0", "0", "0", "0", "0"))
    c.ask(GET_STATUS_UNIQUE("Unique"), STATUS_RES_UNIQUE("Unique", "1", "0", "0", "0", "0"))
    c.ask(GET_STATUS_UNIQUE("Unique\0"), STATUS_RES_UNIQUE("Unique", "1", "0", "0", "0", "0"))


def unique_of_several_functions_is_of_the_first_job(stage):
    c, v, w = stage.client(), stage.worker("f"), stage.worker("g")
    c.ask(SUBMIT_JOB_BG("f", "u", "x"), JOB_CREATED("#1"))
    c.ask(SUBMIT_JOB_BG("g", "u", "x"), JOB_CREATED("#2"))
    v.ask(GRAB_JOB(), JOB_ASSIGN("#1", "f", "x"))
    c.differ("unique of several functions", GET_STATUS_UNIQUE("u"),
             theirs=[STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "0")],
             ours=[STATUS_RES_UNIQUE("u", "1", "1", "0", "0", "0")])
    v.tell(WORK_COMPLETE("#1", ""))
    w.ask(GRAB_JOB(), JOB_ASSIGN("#2", "g", "x"))
    c.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "1", "0", "0", "0"))


def jobs_without_unique_are_not_found_by_it(stage):
    c = stage.client()
    c.ask(SUBMIT_JOB_BG("f", "", "x"), JOB_CREATED("#1"))
    c.ask(SUBMIT_JOB_BG("f", "-", "x"), JOB_CREATED("#2"))
    for unique in ("", "-"):
        c.ask(GET_STATUS_UNIQUE(unique), STATUS_RES_UNIQUE(unique, "0", "0", "0", "0", "0"))


def status_is_told_to_anybody(stage):
    c, a = stage.open_clients(2)
    c.ask(SUBMIT_JOB("f", "u", "x"), JOB_CREATED("#1"))
    a.ask(GET_STATUS("#1"), STATUS_RES("#1", "1", "0", "0", "0"))
    a.ask(GET_STATUS_UNIQUE("u"), STATUS_RES_UNIQUE("u", "1", "0", "0", "0", "1"))
    c.hear_nothing()
