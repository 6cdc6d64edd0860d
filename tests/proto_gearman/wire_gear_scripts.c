/* SPDX-License-Identifier: MIT */
#include "tests/proto_gearman/wire_gear_scripts.h"

#include "core/base/macros.h"

#include "tests/proto_gearman/wire_gear.h"

#include <string.h>

#define MAX_JOB_SIZE 20000

static struct slice every_submission(void)
{
    return MANY(REQ(SUBMIT_JOB, "f", "u", "1"), REQ(SUBMIT_JOB_BG, "f", "", "2"),
                REQ(SUBMIT_JOB_HIGH, "f", "u", "3"), REQ(SUBMIT_JOB_HIGH_BG, "g", "-", "4"),
                REQ(SUBMIT_JOB_LOW, "g", "-", "4"), REQ(SUBMIT_JOB_LOW_BG, "f", "v", ""),
                REQ(SUBMIT_JOB_SCHED, "f", "w", "*", "", "1", "12", "*", "5"),
                REQ(SUBMIT_JOB_SCHED, "f", "w", "*", "", "31", "2", "*", "5"),
                REQ(SUBMIT_JOB_EPOCH, "f", "x", "1700000100", "6"),
                REQ(SUBMIT_JOB_EPOCH, "f", "", "?", "7"),
                REQ(SUBMIT_REDUCE_JOB, "f", "", "r", "", "8"),
                REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "f", "", "r", "", "9"),
                REQ(SUBMIT_JOB, "", "", "10"), REQ(SUBMIT_JOB, "f", gear_run('u', 65), "11"),
                REQ(SUBMIT_JOB, "f", "no data"), REQ(GET_STATUS, H(1)), REQ(GET_STATUS_UNIQUE, "u"),
                REQ(GET_STATUS_UNIQUE, "-"), REQ(OPTION_REQ, "exceptions"), REQ(OPTION_REQ, "x"),
                REQ(OPTION_REQ, "auth:x"), REQ(SET_CLIENT_ID, "script"));
}

// Packets that are not replies (NOOP, reports about jobs) may come before or after a reply, because
// turns end at different points. So here a NOOP comes last, and the jobs are background jobs.
static struct slice every_report(void)
{
    return MANY(REQ(CAN_DO, "f"), REQ(CAN_DO_TIMEOUT, "g", "100"), REQ(ALL_YOURS), REQ(PRE_SLEEP),
                REQ(GRAB_JOB), REQ(SUBMIT_JOB_BG, "f", "u", "1"), REQ(SUBMIT_JOB_BG, "f", "u", "2"),
                REQ(SUBMIT_JOB_BG, "g", "", "3"),
                REQ(SUBMIT_REDUCE_JOB_BACKGROUND, "g", "u", "r", "", "4"), REQ(GRAB_JOB),
                REQ(GRAB_JOB_UNIQ), REQ(GRAB_JOB_ALL), REQ(GRAB_JOB), REQ(WORK_DATA, H(1), "data"),
                REQ(WORK_WARNING, H(1), ""), REQ(WORK_STATUS, H(1), "1", "10"),
                REQ(GET_STATUS, H(1)), REQ(WORK_COMPLETE, H(1), "result"),
                REQ(WORK_EXCEPTION, H(2), "bang"), REQ(WORK_FAIL, H(2)), REQ(WORK_FAIL, H(3)),
                REQ(WORK_DATA, H(9), "x"), REQ(SUBMIT_JOB_BG, "f", "", "5"), REQ(GRAB_JOB),
                REQ(CANT_DO, "f"), REQ(SUBMIT_JOB_BG, "g", "", "6"), REQ(GRAB_JOB),
                REQ(RESET_ABILITIES), REQ(PRE_SLEEP), REQ(CAN_DO, "f"));
}

static struct slice large_bodies(void)
{
    const char *body = gear_run('b', MAX_JOB_SIZE);
    const char *larger = gear_run('l', MAX_JOB_SIZE + 1);

    return MANY(REQ(CAN_DO, "f"), REQ(SUBMIT_JOB_BG, "f", "-", body), REQ(GRAB_JOB_UNIQ),
                REQ(WORK_DATA, H(1), body), REQ(SUBMIT_JOB, "f", "u", larger),
                REQ(WORK_COMPLETE, H(1), body), REQ(ECHO_REQ, larger),
                REQ(GET_STATUS, gear_run('h', 9000)), REQ(SUBMIT_JOB, gear_run('f', 600), "", "x"),
                REQ(SUBMIT_JOB, gear_run('f', 9000), "", "x"), REQ(ECHO_REQ, body));
}

static struct slice hostile_packets(void)
{
    return MANY(gear_raw("REQ", 0, 0, NOTHING), gear_raw("REQ", 5, 3, SLICE("abc")),
                gear_raw("REQ", 0x80000000, 0, NOTHING), gear_raw("REQ", 43, 1, SLICE("\0")),
                RES(ECHO_REQ, "x"), RES(NO_JOB), REQ(NOOP), REQ(JOB_ASSIGN, H(1), "f", "x"),
                REQ(CAN_DO, ""), REQ(WORK_STATUS, "x"), REQ(ECHO_REQ),
                gear_raw("REQ", 7, 0xffffffff, SLICE("f\0u\0x")), REQ(ECHO_REQ, "never"));
}

static struct slice text_and_packets(void)
{
    return MANY(SLICE("getpid\r\n"), REQ(SUBMIT_JOB_BG, "f", "u", "x"), SLICE("status\nworkers\n"),
                REQ(ECHO_REQ, "1"), SLICE("show jobs\r\nshow unique jobs\nprioritystatus\n"),
                SLICE("maxqueue f 1\n"), REQ(SUBMIT_JOB, "f", "", "x"),
                SLICE("\n\r\nnonsense a b c\n"),
                SLICE("cancel job H:test.host:1\ncreate function g\ndrop function g\n"),
                REQ(GET_STATUS, H(1)), SLICE("GET / HTTP/1.1\nversion\n"), REQ(ECHO_REQ, "2"),
                gear_raw("REX", 16, 0, NOTHING), SLICE("getpid\n"));
}

static struct slice a_long_line(void)
{
    return MANY(SLICE("getpid\n"), slice_of(gear_run('l', 8300), 8300), SLICE("\ngetpid\n"));
}

// Packets made for one test are freed with it, but scripts are not.
static struct slice kept(struct slice said)
{
    static char store[512 * 1024];
    static size_t used;
    char *start = store + used;

    ENSURE(said.len <= sizeof store - used);
    memcpy(start, said.ptr, said.len);
    used += said.len;
    return slice_of(start, said.len);
}

const struct gear_script *gear_scripts(size_t *count)
{
    static struct gear_script scripts[] = {
        {"every submission", {0}, MAX_JOB_SIZE},
        {"every report", {0}, MAX_JOB_SIZE},
        {"large bodies", {0}, MAX_JOB_SIZE},
        {"hostile packets", {0}, MAX_JOB_SIZE},
        {"text", {0}, MAX_JOB_SIZE},
        {"a browser", {0}, MAX_JOB_SIZE},
        {"a long line", {0}, MAX_JOB_SIZE},
    };

    *count = sizeof scripts / sizeof *scripts;
    if (!scripts[0].said.ptr) {
        scripts[0].said = kept(every_submission());
        scripts[1].said = kept(every_report());
        scripts[2].said = kept(large_bodies());
        scripts[3].said = kept(hostile_packets());
        scripts[4].said = kept(text_and_packets());
        scripts[5].said = SLICE("POST /status HTTP/1.1\r\nHost: x\r\n\r\nstatus\r\n");
        scripts[6].said = kept(a_long_line());
    }
    return scripts;
}
