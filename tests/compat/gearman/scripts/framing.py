# SPDX-License-Identifier: MIT
"""The first and last byte of a message, and input that is not a message."""

from gearman.packets import (CAN_DO, ECHO_REQ, ECHO_RES, GRAB_JOB, JOB_ASSIGN, JOB_CREATED, NO_JOB,
                             PRE_SLEEP, REQUEST, RESPONSE, SUBMIT_JOB, WORK_COMPLETE, Kind,
                             as_request, raw)
from gearman.pair import ENDS, Lines
from gearman.refusals import INVALID_MAGIC, NOT_EXPECTED, UNKNOWN_COMMAND

OF_SERVERS = {Kind.NOOP: [], Kind.JOB_CREATED: ["H:x:1"], Kind.NO_JOB: [],
              Kind.JOB_ASSIGN: ["H:x:1", "f", "data"], Kind.ECHO_RES: ["hello"],
              Kind.ERROR: ["CODE", "text"], Kind.STATUS_RES: ["H:x:1", "1", "1", "0", "0"],
              Kind.OPTION_RES: ["exceptions"], Kind.JOB_ASSIGN_UNIQ: ["H:x:1", "f", "u", "data"],
              Kind.JOB_ASSIGN_ALL: ["H:x:1", "f", "u", "r", "data"],
              Kind.STATUS_RES_UNIQUE: ["u", "1", "1", "0", "0", "0"]}


def echo_returns_what_it_was_sent(stage):
    a = stage.client()
    for text in ("hello", "", "\0", "a\0b\0", "\n", "version\n", "\xff" * 1000, "long " * 20000):
        a.ask(ECHO_REQ(text), ECHO_RES(text))


def echo_of_megabytes_returns_whole(stage):
    a = stage.client()
    megabytes = "0123456789abcdef" * (5 << 16)
    a.ask(ECHO_REQ(megabytes), ECHO_RES(megabytes))


def packets_arrive_byte_by_byte(stage):
    a = stage.client()
    for byte in as_request(Kind.ECHO_REQ, "slow") + as_request(Kind.CAN_DO, "f") + "status\r\n":
        a.send(byte)
    a.hear(ECHO_RES("slow"), Lines("f\t0\t0\t1"))


def packets_and_lines_arrive_in_one_piece(stage):
    a = stage.client()
    a.send(CAN_DO("f"), "status\r\n", ECHO_REQ("1"), "getpid\n", SUBMIT_JOB("f", "", "work"),
           "show unique jobs\n", GRAB_JOB(), GRAB_JOB(), "version\r\n", ECHO_REQ("2"))
    a.hear(Lines("f\t0\t0\t1"), ECHO_RES("1"), "OK <pid>\n", JOB_CREATED("#1"), Lines(""),
           JOB_ASSIGN("#1", "f", "work"), NO_JOB(), "OK <version>\n", ECHO_RES("2"))
    a.differ("event behind an answer", (WORK_COMPLETE("#1", "done"), "status"),
             theirs=[WORK_COMPLETE("#1", "done"), Lines("f\t0\t0\t1")],
             ours=[Lines("f\t0\t0\t1"), WORK_COMPLETE("#1", "done")])


def header_waits_for_its_body(stage):
    a, b = stage.open_clients(2)
    whole = as_request(Kind.SUBMIT_JOB_BG, "f\0u\0a longer workload")
    a.send(whole[:14])
    b.ask("status", Lines())
    a.send(whole[14:20])
    b.ask("status", Lines())
    a.send(whole[20:-1])
    b.ask("status", Lines())
    a.send(whole[-1:])
    a.hear(JOB_CREATED("#1"))


def half_a_packet_at_the_end_of_input_is_dropped(stage):
    a, b = stage.open_clients(2)
    a.send(as_request(Kind.SUBMIT_JOB_BG, "f\0u\0data")[:-1])
    a.half_close()
    a.ends()
    b.ask("status", Lines())


def packets_of_servers_are_not_expected(stage):
    a = stage.client()
    for kind, arguments in OF_SERVERS.items():
        a.ask(kind(*arguments), NOT_EXPECTED)
    a.ask(Kind.UNUSED(), NOT_EXPECTED)
    a.ask(Kind.UNUSED("body"), NOT_EXPECTED)
    a.ask(Kind.NOOP("body"), NOT_EXPECTED)


def response_of_a_client_is_refused_and_skipped(stage):
    a = stage.client()
    a.ask(raw(RESPONSE, Kind.ECHO_REQ, 5, "hello"), INVALID_MAGIC)
    a.ask(raw(RESPONSE, Kind.PRE_SLEEP, 0), INVALID_MAGIC)
    a.ask(raw(RESPONSE, Kind.JOB_CREATED, 6, "H:vm:1"), INVALID_MAGIC)
    a.ask((raw(RESPONSE, Kind.SUBMIT_JOB, 6, "f\0u\0xy"), ECHO_REQ("next")),
          INVALID_MAGIC, ECHO_RES("next"))


def other_magic_ends_the_connection(stage):
    for magic in ("\0REX", "\0\0\0\0", "\0req"):
        a = stage.client()
        a.differ("other magic", raw(magic, Kind.ECHO_REQ, 5, "hello"),
                 theirs=[ENDS], ours=[INVALID_MAGIC, ENDS])


def type_beyond_the_table_is_not_expected(stage):
    for number in (0, 43, 101, 0x7fffffff):
        a = stage.client()
        a.differ("unknown type", raw(REQUEST, number, 4, "body"),
                 theirs=[ENDS], ours=[NOT_EXPECTED])


def type_beyond_the_largest_int_is_not_expected(stage):
    a = stage.client()
    a.crashes_theirs("type that crashes", raw(REQUEST, 0x80000000, 0), ours=[NOT_EXPECTED])


def body_of_a_packet_without_arguments_is_ignored(stage):
    a = stage.client()
    a.tell(PRE_SLEEP("junk"))
    a.ask_each([GRAB_JOB("junk"), Kind.GRAB_JOB_UNIQ("junk\0"), Kind.GRAB_JOB_ALL("junk")],
               NO_JOB())
    a.tell(Kind.RESET_ABILITIES("junk"))


def line_ends_with_lf_or_crlf(stage):
    a = stage.client()
    a.send("version\n", "version\r\n", "getpid\n", "getpid\r\n")
    a.hear("OK <version>\n", "OK <version>\n", "OK <pid>\n", "OK <pid>\n")
    a.differ("words in an error", ("version\r", "\rversion"),
             theirs=[UNKNOWN_COMMAND + "version\r\r\n", UNKNOWN_COMMAND + "\rversion\r\n"],
             ours=[UNKNOWN_COMMAND + "version%0D\r\n", UNKNOWN_COMMAND + "%0Dversion\r\n"])


def nul_does_not_end_a_line(stage):
    a = stage.client()
    a.differ("NUL in a line", "ver\0sion", theirs=[UNKNOWN_COMMAND + "ver\r\n"],
             ours=[UNKNOWN_COMMAND + "ver%00sion\r\n"])
    a.differ("NUL in a line", "version\0 x", theirs=["OK <version>\n"],
             ours=[UNKNOWN_COMMAND + "version%00\r\n"])
    a.ask("status \0 x", Lines())


def lines_arrive_in_pieces(stage):
    a = stage.client()
    for piece in ("ver", "sion", "\r", "\nget", "pid\n", "sta", "tus\n"):
        a.send(piece)
    a.hear("OK <version>\n", "OK <pid>\n", Lines())


def line_without_end_is_dropped(stage):
    a = stage.client()
    a.send("version")
    a.half_close()
    a.ends()


def long_lines_are_lines(stage):
    a = stage.client()
    for length in (100, 500, 512):
        a.ask("x" * length, UNKNOWN_COMMAND + "x" * length + "\r\n")
    for length in (513, 8000, 8189):
        a.differ("words in an error", "x" * length,
                 theirs=[UNKNOWN_COMMAND + "x" * length + "\r\n"],
                 ours=[UNKNOWN_COMMAND + "x" * 512 + "\r\n"])


def line_of_more_than_8_kib_ends_the_connection(stage):
    for length in (8193, 9000, 100000):
        a = stage.client()
        a.send("x" * length)
        a.ends()


def first_line_of_a_browser_closes_the_connection(stage):
    a, b, c = stage.open_clients(3)
    a.differ("HTTP request", "GET / HTTP/1.1", theirs=[UNKNOWN_COMMAND + "GET\r\n"], ours=[ENDS])
    b.differ("TLS hello", "\x16\x03\x01", theirs=[UNKNOWN_COMMAND + "\x16\x03\x01\r\n"],
             ours=[ENDS])
    c.ask("version", "OK <version>\n")
    c.ask("GET / HTTP/1.1", UNKNOWN_COMMAND + "GET\r\n")
    c.differ("words in an error", "\x16\x03\x01",
             theirs=[UNKNOWN_COMMAND + "\x16\x03\x01\r\n"],
             ours=[UNKNOWN_COMMAND + "%16%03%01\r\n"])
    c.ask(ECHO_REQ("still there"), ECHO_RES("still there"))


def packet_first_and_browser_later_is_only_unknown(stage):
    a = stage.client()
    a.ask(ECHO_REQ(""), ECHO_RES(""))
    a.ask("GET / HTTP/1.1", UNKNOWN_COMMAND + "GET\r\n")
