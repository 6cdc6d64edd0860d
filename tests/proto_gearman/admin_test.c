/* SPDX-License-Identifier: MIT */

// Administration by text: lines, words, and the commands that change something or are refused.

#include "core/base/log.h"

#include "tests/proto_gearman/admin_gear.h"

#include <string.h>

#define UNKNOWN "ERR UNKNOWN_COMMAND Unknown+server+command"
#define INCOMPLETE "ERR INVALID_ARGUMENTS An+incomplete+set+of+arguments+was+sent+to+this+command+"
#define IN_USE "ERR there are still connected workers or executing clients\r\n"
#define NO_SUCH_JOB "ERR UNKNOWN_JOB\r\n"

//
// Lines and words
//

static void lf_and_crlf_end_a_line_alike(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, SLICE("version\nversion\r\n"), SLICE("OK 0.1.0\nOK 0.1.0\n"));
    gear_says(t->a, SLICE("create function f\r\ncreate function g\n"), SLICE(DONE DONE));
    gear_says(t->a, SLICE("status\r\nstatus\n"),
              SLICE("f\t0\t0\t0\ng\t0\t0\t0\n.\nf\t0\t0\t0\ng\t0\t0\t0\n.\n"));
    gear_says(t->a, SLICE("\r\n\n"), SLICE(UNKNOWN "\r\n" UNKNOWN "\r\n"));
    gear_says(t->a, SLICE("nonsense\r\r\n"), SLICE(UNKNOWN "nonsense%0D\r\n"));
}

static void commands_ignore_case(void **state)
{
    struct gear *t = *state;

    types(t->a, "VERSION", "OK 0.1.0\n");
    types(t->a, "Create FUNCTION f", DONE);
    types(t->a, "MaxQueue f 1", DONE);
    types(t->a, "sTATUS", "f\t0\t0\t0\n.\n");
    types(t->a, "PriorityStatus", "f\t0\t0\t0\t0\n.\n");
    types(t->a, "Show Jobs", ".\n");
    types(t->a, "SHOW UNIQUE JOBS", ".\n");
    types(t->a, "Cancel Job T:1", NO_SUCH_JOB);
    types(t->a, "DROP Function F", "ERR function not found\r\n");
    types(t->a, "dRoP fUnCtIoN f", DONE);
    types(t->a, "GetPid", "OK 4242\n");
    types(t->a, "VERBOSE", "OK ERROR\n");
}

static void a_run_of_spaces_separates_words_like_one_space(void **state)
{
    struct gear *t = *state;

    types(t->a, "create    function     f", DONE);
    types(t->a, "show   unique  jobs", ".\n");
    types(t->a, "status   ", "f\t0\t0\t0\n.\n");
    types(t->a, "status x", "f\t0\t0\t0\n.\n");
    types(t->a, "status\t", UNKNOWN "status%09\r\n");
}

static void a_space_at_an_end_makes_an_empty_word_as_in_gearmand(void **state)
{
    struct gear *t = *state;

    types(t->a, " status", UNKNOWN "\r\n");
    types(t->a, " ", UNKNOWN "\r\n");
    types(t->a, "show jobs ", "ERR UNKNOWN_SHOW_ARGUMENTS\r\n");
    types(t->a, "show ", "ERR UNKNOWN_SHOW_ARGUMENTS\r\n");
    types(t->a, "create function ", "ERR CREATE_FUNCTION \r\n");
    types(t->a, "drop function ", "ERR function not found\r\n");
    types(t->a, "cancel job ", NO_SUCH_JOB);
    types(t->a, "maxqueue ", DONE);
}

static void an_unknown_command_is_named_without_a_space_before_it(void **state)
{
    struct gear *t = *state;

    types(t->a, "nonsense with words", UNKNOWN "nonsense\r\n");
    types(t->a, "shutdown", UNKNOWN "shutdown\r\n");
    types(t->a, "shutdown graceful", UNKNOWN "shutdown\r\n");
    types(t->a, "statu", UNKNOWN "statu\r\n");
    types(t->a, "statuss", UNKNOWN "statuss\r\n");
    types(t->a, "", UNKNOWN "\r\n");
}

static void more_than_five_words_are_an_unknown_command(void **state)
{
    struct gear *t = *state;

    types(t->a, "status 2 3 4 5", ".\n");
    types(t->a, "Status 2 3 4 5 6", UNKNOWN "Status\r\n");
    types(t->a, "maxqueue f 1 2 3 ", UNKNOWN "maxqueue\r\n");
    types(t->a, "version", "OK 0.1.0\n");
}

static void a_wrong_word_is_repeated_without_control_bytes(void **state)
{
    struct gear *t = *state;

    types(t->a, "%s%n%41\xc3\xa9~", UNKNOWN "%s%n%41\xc3\xa9~\r\n");
    types(t->a, "\033[2J\a\001x\0y\177", UNKNOWN "%1B[2J%07%01x%00y%7F\r\n");
}

static void a_long_word_is_repeated_in_part(void **state)
{
    struct gear *t = *state;
    char said[602];
    struct slice heard;

    memset(said, 'x', sizeof said);
    said[sizeof said - 1] = '\n';
    heard = peer_ask(t->a, slice_of(said, sizeof said));
    assert_int_equal(heard.len, strlen(UNKNOWN) + 512 + 2);
    assert_memory_equal(heard.ptr, UNKNOWN, strlen(UNKNOWN));
    assert_memory_equal(heard.ptr + strlen(UNKNOWN), said, 512);
    assert_memory_equal(heard.ptr + heard.len - 2, "\r\n", 2);
}

static void incomplete_commands_are_refused(void **state)
{
    struct gear *t = *state;

    types(t->a, "maxqueue", INCOMPLETE "maxqueue\r\n");
    types(t->a, "create", INCOMPLETE "create\r\n");
    types(t->a, "Create function", INCOMPLETE "Create\r\n");
    types(t->a, "create functions f", INCOMPLETE "create\r\n");
    types(t->a, "create function f g", INCOMPLETE "create\r\n");
    types(t->a, "drop", INCOMPLETE "drop\r\n");
    types(t->a, "drop f", INCOMPLETE "drop\r\n");
    types(t->a, "drop function", INCOMPLETE "drop\r\n");
    types(t->a, "drop function f g", INCOMPLETE "drop\r\n");
    types(t->a, "show", UNKNOWN "show\r\n");
    types(t->a, "show x", "ERR UNKNOWN_SHOW_ARGUMENTS\r\n");
    types(t->a, "show unique", "ERR UNKNOWN_SHOW_ARGUMENTS\r\n");
    types(t->a, "show jobs x", "ERR UNKNOWN_SHOW_ARGUMENTS\r\n");
    types(t->a, "show unique jobs x", "ERR UNKNOWN_SHOW_ARGUMENTS\r\n");
    types(t->a, "cancel", UNKNOWN "cancel\r\n");
    types(t->a, "cancel job", UNKNOWN "cancel\r\n");
    types(t->a, "cancel x y", "ERR UNKNOWN_ERROR\r\n");
    types(t->a, "cancel job T:1 x", "ERR UNKNOWN_ERROR\r\n");
    types(t->a, "status", ".\n");
}

static void lines_and_packets_take_turns(void **state)
{
    struct gear *t = *state;

    gear_says(t->a,
              MANY(SLICE("version\n"), REQ(ECHO_REQ, "x"), SLICE("status\r\n"), REQ(ECHO_REQ, "y"),
                   SLICE("getpid\n")),
              MANY(SLICE("OK 0.1.0\n"), RES(ECHO_RES, "x"), SLICE(".\n"), RES(ECHO_RES, "y"),
                   SLICE("OK 4242\n")));
}

//
// The process
//

static void ignore_line(void *context, enum log_level level, const char *event,
                        const struct log_field *fields, size_t count)
{
    (void)context;
    (void)level;
    (void)event;
    (void)fields;
    (void)count;
}

static void verbose_shows_the_log_level_by_gearmands_name(void **state)
{
    struct gear *t = *state;

    log_set_sink(ignore_line, NULL, LOG_LEVEL_ERROR);
    types(t->a, "verbose", "OK ERROR\n");
    log_set_sink(ignore_line, NULL, LOG_LEVEL_WARN);
    types(t->a, "verbose", "OK WARNING\n");
    log_set_sink(ignore_line, NULL, LOG_LEVEL_INFO);
    types(t->a, "verbose", "OK INFO\n");
    log_set_sink(ignore_line, NULL, LOG_LEVEL_DEBUG);
    types(t->a, "verbose", "OK DEBUG\n");
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
}

//
// Functions
//

static void a_function_that_is_created_stays_until_it_is_dropped(void **state)
{
    struct gear *t = *state;

    types(t->a, "create function f", DONE);
    types(t->b, "create function f", DONE);
    types(t->c, "status", "f\t0\t0\t0\n.\n");
    types(t->b, "drop function F", "ERR function not found\r\n");
    types(t->b, "drop function f", DONE);
    types(t->c, "status", ".\n");
    types(t->b, "drop function f", "ERR function not found\r\n");
}

static void an_invalid_function_name_is_refused(void **state)
{
    struct gear *t = *state;
    struct slice longest = slice_of(gear_run('n', QUEUE_NAME_MAX), QUEUE_NAME_MAX);

    gear_says(t->a, MANY(SLICE("create function "), longest, SLICE("\n")), SLICE(DONE));
    gear_says(t->a, MANY(SLICE("create function n"), longest, SLICE("\n")),
              MANY(SLICE("ERR CREATE_FUNCTION "), longest, SLICE("\r\n")));
    types(t->a, "create function a\0b", "ERR CREATE_FUNCTION a%00b\r\n");
}

static void a_function_is_not_dropped_while_anything_is_in_it(void **state)
{
    struct gear *t = *state;

    t->settings.on_fail = CONTRACT_FAIL_BURIES;
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", ""), RES(JOB_CREATED, "T:1"));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:1", "f", ""));
    types(t->c, "drop function f", IN_USE);
    gear_says(t->b, REQ(WORK_FAIL, "T:1"), NOTHING);
    jobs_are(t, "f", JOB_BURIED, 1);
    types(t->c, "drop function f", IN_USE);
    gear_says(t->b, REQ(CANT_DO, "f"), NOTHING);
    types(t->c, "drop function f", IN_USE);
    types(t->c, "create function f", DONE);
    types(t->c, "cancel job T:1", DONE);
    types(t->c, "drop function f", DONE);
    types(t->c, "status", ".\n");
}

static void a_function_is_not_dropped_while_a_worker_offers_it(void **state)
{
    struct gear *t = *state;

    types(t->c, "create function f", DONE);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    types(t->c, "drop function f", IN_USE);
    gear_says(t->b, REQ(RESET_ABILITIES), NOTHING);
    types(t->c, "drop function f", DONE);
}

static void a_function_is_dropped_with_its_waiting_jobs(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_EPOCH, "f", "", "1700000060", ""), RES(JOB_CREATED, "T:1"));
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", ""), RES(JOB_CREATED, "T:2"));
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "g", "", ""), RES(JOB_CREATED, "T:3"));
    types(t->c, "drop function f", DONE);
    gear_hears(t->a, RES(WORK_FAIL, "T:2"));
    types(t->c, "status", "g\t1\t0\t0\n.\n");
    types(t->c, "drop function f", "ERR function not found\r\n");
    types(t->c, "create function g", DONE);
    types(t->c, "drop function g", DONE);
    types(t->c, "status", ".\n");
    types(t->c, "show jobs", ".\n");
}

enum { JOBS = 1000 };

static void submit_more_than_a_slice(struct gear *t)
{
    for (int i = 0; i < JOBS; i++) {
        peer_ask(t->a, REQ(SUBMIT_JOB_BG, "f", "", ""));
    }
}

static void many_waiting_jobs_are_dropped_in_slices(void **state)
{
    struct gear *t = *state;

    submit_more_than_a_slice(t);
    peer_send(t->c, SLICE("drop function f\nversion\n"));
    rig_feed(t->rig);
    assert_in_range(gear_jobs(t, "f", JOB_READY), JOBS - 2 * BROKER_SLICE, JOBS - 1);
    types(t->b, "version", "OK 0.1.0\n");
    rig_run(t->rig);
    jobs_are(t, "f", JOB_READY, 0);
    gear_hears(t->c, SLICE(DONE "OK 0.1.0\n"));
}

static void a_worker_that_comes_meanwhile_keeps_the_function(void **state)
{
    struct gear *t = *state;

    submit_more_than_a_slice(t);
    peer_send(t->c, SLICE("drop function f\n"));
    rig_feed(t->rig);
    gear_says(t->b, REQ(CAN_DO, "f"), NOTHING);
    rig_run(t->rig);
    gear_hears(t->c, SLICE(IN_USE));
    types(t->c, "status", "f\t0\t0\t1\n.\n");
}

static void an_administrator_may_disconnect_during_a_drop(void **state)
{
    struct gear *t = *state;

    submit_more_than_a_slice(t);
    peer_send(t->c, SLICE("drop function f\n"));
    rig_feed(t->rig);
    peer_free(t->c);
    assert_in_range(gear_jobs(t, "f", JOB_READY), 1, JOBS - 1);
}

static void a_dropped_function_that_a_producer_uses_is_removed_after_it_disconnects(void **state)
{
    struct gear *t = *state;
    struct peer *producer = peer_new_other(t->rig);

    gear_says(producer, SLICE("use f\r\n"), SLICE("USING f\r\n"));
    types(t->a, "maxqueue f 1", DONE);
    types(t->a, "drop function f", DONE);
    types(t->a, "status", "default\t0\t0\t1\nf\t0\t0\t0\n.\n");
    gear_says(producer, SLICE("put 0 0 9 0\r\n\r\nput 0 0 9 0\r\n\r\ndelete 1\r\ndelete 2\r\n"),
              SLICE("INSERTED 1\r\nINSERTED 2\r\nDELETED\r\nDELETED\r\n"));
    peer_free(producer);
    types(t->a, "status", "default\t0\t0\t0\n.\n");
}

//
// Jobs
//

static void a_waiting_job_that_is_cancelled_is_never_handed_out(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "u", ""), RES(JOB_CREATED, "T:1"));
    types(t->c, "cancel job T:1", DONE);
    job_is_gone(t, 1);
    types(t->c, "cancel job T:1", NO_SUCH_JOB);
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(NO_JOB));
    gear_hears(t->a, NOTHING);
}

static void a_cancelled_job_fails_for_all_its_clients(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", ""), RES(JOB_CREATED, "T:1"));
    gear_says(t->b, MANY(REQ(SUBMIT_JOB, "f", "u", ""), REQ(SUBMIT_JOB, "f", "u", "")),
              MANY(RES(JOB_CREATED, "T:1"), RES(JOB_CREATED, "T:1")));
    types(t->c, "cancel job T:1", DONE);
    gear_hears(t->a, RES(WORK_FAIL, "T:1"));
    gear_hears(t->b, MANY(RES(WORK_FAIL, "T:1"), RES(WORK_FAIL, "T:1")));
}

static void the_result_of_a_cancelled_job_is_ignored(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", ""), RES(JOB_CREATED, "T:1"));
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:1", "f", ""));
    types(t->c, "cancel job T:1", DONE);
    gear_hears(t->a, RES(WORK_FAIL, "T:1"));
    gear_hears(t->b, NOTHING);
    gear_says(t->b, REQ(WORK_COMPLETE, "T:1", "late"), NOTHING);
    gear_hears(t->a, NOTHING);
    types(t->c, "status", "f\t0\t0\t1\n.\n");
    gear_fails(t->b, REQ(WORK_COMPLETE, "T:1", "again"), "JOB_NOT_FOUND");
}

static void only_a_handle_of_this_broker_names_a_job(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", ""), RES(JOB_CREATED, "T:1"));
    types(t->c, "cancel job 1", NO_SUCH_JOB);
    types(t->c, "cancel job T:", NO_SUCH_JOB);
    types(t->c, "cancel job T:01", NO_SUCH_JOB);
    types(t->c, "cancel job T:1x", NO_SUCH_JOB);
    types(t->c, "cancel job t:1", NO_SUCH_JOB);
    types(t->c, "cancel job T:18446744073709551617", NO_SUCH_JOB);
    types(t->c, "cancel job T:1", DONE);
}

//
// Splits
//

static const char script[] =
    "create function f\r\nCREATE function g\nmaxqueue f 1 2 3\nstatus\nprioritystatus\r\nworkers\n"
    "\n\r\nshow jobs\nshow unique jobs\r\nshow it\ncancel job T:1\ncancel a b\ndrop function g\r\n"
    "\0REQ\0\0\0\020\0\0\0\002x\ngetpid\nverbose\nno\033such 2 3 4 5 6 7\r\nmaxqueue\nversion\r\n";

// Plays the script in pieces with a new broker: the first has `first` bytes, the others have
// `piece`.
static void play(size_t first, size_t piece, unsigned budget, char *heard, size_t room)
{
    struct slice left = SLICE(script);
    struct slice answer;
    struct gear *t;
    void *state;

    admin_setup_with(&state, (struct rig_options){.budget = budget});
    t = state;
    peer_ask(t->b, REQ(SUBMIT_JOB_BG, "f", "u", ""));
    while (left.len > 0) {
        size_t len = left.len < first ? left.len : first;

        peer_send(t->a, slice_of(left.ptr, len));
        rig_run(t->rig);
        left = slice_from(left, len);
        first = piece;
    }
    answer = peer_hear(t->a);
    assert_true(answer.len < room && !peer_closed(t->a));
    memcpy(heard, answer.ptr, answer.len + 1);
    gear_teardown(&state);
}

static void however_lines_are_split_the_replies_are_the_same(void **state)
{
    static char whole[4096], cut[4096];

    (void)state;
    play(sizeof script, 1, 0, whole, sizeof whole);
    assert_non_null(strstr(whole, "f\t1\t0\t0\n"));
    for (size_t first = 1; first < sizeof script; first++) {
        play(first, sizeof script, 0, cut, sizeof cut);
        assert_memory_equal(whole, cut, sizeof whole);
    }
    for (size_t piece = 1; piece < 20; piece++) {
        play(piece, piece, 0, cut, sizeof cut);
        assert_memory_equal(whole, cut, sizeof whole);
        play(sizeof script, 1, (unsigned)piece, cut, sizeof cut);
        assert_memory_equal(whole, cut, sizeof whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(lf_and_crlf_end_a_line_alike),
        ADMIN(commands_ignore_case),
        ADMIN(a_run_of_spaces_separates_words_like_one_space),
        ADMIN(a_space_at_an_end_makes_an_empty_word_as_in_gearmand),
        ADMIN(an_unknown_command_is_named_without_a_space_before_it),
        ADMIN(more_than_five_words_are_an_unknown_command),
        ADMIN(a_wrong_word_is_repeated_without_control_bytes),
        ADMIN(a_long_word_is_repeated_in_part),
        ADMIN(incomplete_commands_are_refused),
        ADMIN(lines_and_packets_take_turns),
        ADMIN(verbose_shows_the_log_level_by_gearmands_name),
        ADMIN(a_function_that_is_created_stays_until_it_is_dropped),
        ADMIN(an_invalid_function_name_is_refused),
        ADMIN(a_function_is_not_dropped_while_anything_is_in_it),
        ADMIN(a_function_is_not_dropped_while_a_worker_offers_it),
        ADMIN(a_function_is_dropped_with_its_waiting_jobs),
        ADMIN(many_waiting_jobs_are_dropped_in_slices),
        ADMIN(a_worker_that_comes_meanwhile_keeps_the_function),
        ADMIN(an_administrator_may_disconnect_during_a_drop),
        ADMIN(a_dropped_function_that_a_producer_uses_is_removed_after_it_disconnects),
        ADMIN(a_waiting_job_that_is_cancelled_is_never_handed_out),
        ADMIN(a_cancelled_job_fails_for_all_its_clients),
        ADMIN(the_result_of_a_cancelled_job_is_ignored),
        ADMIN(only_a_handle_of_this_broker_names_a_job),
        cmocka_unit_test(however_lines_are_split_the_replies_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
