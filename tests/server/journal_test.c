/* SPDX-License-Identifier: MIT */
// tandemd with a journal: the jobs after a restart, and the reasons to refuse a start.

// memmem is a GNU function.
#define _GNU_SOURCE
#include "journal/file/manifest.h"
#include "tests/support/with_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SETTING_MAX 160
// So that a test's disk is not filled with space that is set aside.
#define SMALL "--set", "journal.segment_size=64k"
#define ALL_PORTS                                                                                  \
    ANY_PORT, "--set", "gearman.listen=127.0.0.1:0", "--set", "http.listen=127.0.0.1:0", "--set",  \
        "gearman.max_job_size=64k", "--set", "http.max_body=64k"

static const char *keep_in(const struct sandbox *sandbox, char text[SETTING_MAX])
{
    (void)snprintf(text, SETTING_MAX, "journal.dir=%s", sandbox->journal);
    return text;
}

static void start(struct sandbox *sandbox, const char *fsync)
{
    char sync[SETTING_MAX];
    char dir[SETTING_MAX];

    (void)snprintf(sync, sizeof sync, "journal.fsync=%s", fsync);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", keep_in(sandbox, dir), "--set", sync,
                  SMALL);
}

// Ends it by that signal.
static void end(struct sandbox *sandbox, int number)
{
    process_signal(&sandbox->process, number);
    assert_int_equal(process_wait(&sandbox->process), number == SIGKILL ? -SIGKILL : 0);
}

static void talk(int client, const char *command, const char *answer)
{
    client_send(client, command);
    client_expect(client, answer);
}

// Asks for something in YAML; all of the words must be in it.
static void expect_in_yaml(int client, const char *command, const char *const *words)
{
    char text[4096] = "";
    size_t len = 0;
    size_t size = 0;

    client_send(client, command);
    do {
        ssize_t n = recv(client, text + len, sizeof text - 1 - len, 0);

        assert_true(n > 0);
        len += (size_t)n;
        assert_memory_equal(text, "OK ", len < 3 ? len : 3);
        size = strtoul(text + 3, NULL, 10);
    } while (!strstr(text, "\r\n") || len < (size_t)(strstr(text, "\r\n") - text) + size + 4);
    for (; *words; words++) {
        if (!strstr(text, *words)) {
            fail_msg("expected \"%s\" in %s", *words, text);
        }
    }
}
#define EXPECT_IN_YAML(client, command, ...)                                                       \
    expect_in_yaml(client, command, (const char *const[]){__VA_ARGS__, NULL})

// Brings jobs into every state, and forgets no answer.
static void hand_in(int client)
{
    talk(client, "put 5 0 10 1\r\na\r\n", "INSERTED 1\r\n");
    talk(client, "put 5 0 10 1\r\nb\r\n", "INSERTED 2\r\n");
    talk(client, "put 5 0 10 1\r\nc\r\n", "INSERTED 3\r\n");
    talk(client, "put 5 1000 10 1\r\nd\r\n", "INSERTED 4\r\n");
    talk(client, "put 9 0 77 1\r\ne\r\n", "INSERTED 5\r\n");
    talk(client, "put 5 0 10 1\r\nf\r\n", "INSERTED 6\r\n");
    for (int i = 0; i < 3; i++) {
        client_send(client, "reserve\r\n");
    }
    client_expect(client, "RESERVED 1 1\r\na\r\nRESERVED 2 1\r\nb\r\nRESERVED 3 1\r\nc\r\n");
    // Buried in another order than they were handed in.
    talk(client, "bury 2 20\r\n", "BURIED\r\n");
    talk(client, "bury 1 10\r\n", "BURIED\r\n");
    talk(client, "release 3 30 2000\r\n", "RELEASED\r\n");
    talk(client, "delete 6\r\n", "DELETED\r\n");
    talk(client, "reserve\r\n", "RESERVED 5 1\r\ne\r\n");
    talk(client, "pause-tube default 3000\r\n", "PAUSED\r\n");
}

static void expect_all_back(int client)
{
    talk(client, "peek 6\r\n", "NOT_FOUND\r\n");
    talk(client, "peek-ready\r\n", "FOUND 5 1\r\ne\r\n");
    EXPECT_IN_YAML(client, "stats-job 5\r\n", "state: ready", "pri: 9", "ttr: 77");
    EXPECT_IN_YAML(client, "stats-job 4\r\n", "state: delayed", "delay: 1000", "time-left: 9");
    EXPECT_IN_YAML(client, "stats-job 3\r\n", "state: delayed", "pri: 30", "delay: 2000",
                   "time-left: 19", "releases: 1");
    EXPECT_IN_YAML(client, "stats-job 2\r\n", "state: buried", "pri: 20", "buries: 1");
    EXPECT_IN_YAML(client, "stats-tube default\r\n", "pause: 3000", "pause-time-left: 29");
    talk(client, "peek-buried\r\n", "FOUND 2 1\r\nb\r\n");
    talk(client, "kick 1\r\n", "KICKED 1\r\n");
    talk(client, "peek-buried\r\n", "FOUND 1 1\r\na\r\n");
}

static void expect_survival(struct sandbox *sandbox, const char *fsync, int number)
{
    int client;

    start(sandbox, fsync);
    client = client_connect(&sandbox->process);
    hand_in(client);
    end(sandbox, number);
    (void)close(client);
    start(sandbox, fsync);
    client = client_connect(&sandbox->process);
    expect_all_back(client);
    // No id is given twice.
    talk(client, "put 0 0 10 1\r\ng\r\n", "INSERTED 65536\r\n");
    // The last changes survive, too.
    end(sandbox, number);
    (void)close(client);
    start(sandbox, fsync);
    client = client_connect(&sandbox->process);
    talk(client, "peek-buried\r\n", "FOUND 1 1\r\na\r\n");
    talk(client, "peek 65536\r\n", "FOUND 65536 1\r\ng\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
}

static void jobs_survive_a_kill_when_each_write_is_synced(void **state)
{
    expect_survival(*state, "always", SIGKILL);
}

static void jobs_survive_a_kill_when_syncs_come_now_and_then(void **state)
{
    expect_survival(*state, "50", SIGKILL);
}

static void jobs_survive_a_kill_when_nothing_is_synced(void **state)
{
    expect_survival(*state, "never", SIGKILL);
}

static void jobs_survive_a_stop_with_any_policy(void **state)
{
    struct sandbox *sandbox = *state;
    static const char *const policies[] = {"always", "50", "never"};

    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        sandbox_clear_journal(sandbox);
        expect_survival(sandbox, policies[i], SIGTERM);
    }
}

static void large_jobs_survive_small_files(void **state)
{
    enum { LARGE = 65535 };
    struct sandbox *sandbox = *state;
    char *body = calloc(1, LARGE + 1);
    char dir[SETTING_MAX];
    int client;

    memset(body, 'x', LARGE);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", keep_in(sandbox, dir), "--set",
                  "journal.segment_size=4k");
    client = client_connect(&sandbox->process);
    for (int i = 1; i <= 3; i++) {
        char answer[32];

        client_send(client, "put 0 0 10 65535\r\n");
        client_send(client, body);
        (void)snprintf(answer, sizeof answer, "INSERTED %d\r\n", i);
        talk(client, "\r\n", answer);
    }
    end(sandbox, SIGKILL);
    (void)close(client);
    start(sandbox, "always");
    client = client_connect(&sandbox->process);
    talk(client, "peek 3\r\n", "FOUND 3 65535\r\nxxx");
    process_stop(&sandbox->process);
    (void)close(client);
    free(body);
}

// However large the jobs are that clients may submit.
static void a_file_has_the_size_that_was_asked_for(void **state)
{
    struct sandbox *sandbox = *state;
    char dir[SETTING_MAX];
    int client;

    PROCESS_START(&sandbox->process, ANY_PORT, "--set", "gearman.listen=127.0.0.1:0", "--set",
                  keep_in(sandbox, dir), "--set", "journal.segment_size=2M");
    client = client_connect(&sandbox->process);
    EXPECT_IN_YAML(client, "stats\r\n", "binlog-max-size: 2097152");
    process_stop(&sandbox->process);
    (void)close(client);
}

// Connects to its n-th listener.
static int connect_to(struct process *process, unsigned n)
{
    char address[128];
    int client;

    process_address(process, n, address);
    client = client_try(address);
    assert_true(client >= 0);
    return client;
}

static void submit_by_gearman(struct process *process)
{
    static const char submit[] = "\0REQ\0\0\0\x12\0\0\0\x08lines\0\0g";
    static const char created[] = "\0RES\0\0\0\x08";
    char reply[sizeof created - 1];
    int client = connect_to(process, 1);

    // The length takes the name, an empty unique, and a byte of workload.
    assert_int_equal(send(client, submit, sizeof submit - 1, MSG_NOSIGNAL), sizeof submit - 1);
    assert_int_equal(recv(client, reply, sizeof reply, MSG_WAITALL), sizeof reply);
    assert_memory_equal(reply, created, sizeof reply);
    (void)close(client);
}

static void submit_by_http(struct process *process)
{
    int client = connect_to(process, 2);

    talk(client,
         "POST /lines HTTP/1.1\r\nHost: localhost\r\nX-Gearman-Background: true\r\n"
         "Content-Length: 1\r\n\r\nh",
         "HTTP/1.1 200 OK\r\n");
    (void)close(client);
}

static void jobs_of_all_protocols_survive(void **state)
{
    struct sandbox *sandbox = *state;
    char dir[SETTING_MAX];
    int client;

    PROCESS_START(&sandbox->process, ALL_PORTS, "--set", keep_in(sandbox, dir), SMALL);
    client = connect_to(&sandbox->process, 0);
    talk(client, "use lines\r\n", "USING lines\r\n");
    talk(client, "put 70000 0 10 1\r\nb\r\n", "INSERTED 1\r\n");
    submit_by_gearman(&sandbox->process);
    submit_by_http(&sandbox->process);
    end(sandbox, SIGKILL);
    (void)close(client);
    PROCESS_START(&sandbox->process, ALL_PORTS, "--set", keep_in(sandbox, dir), SMALL);
    client = connect_to(&sandbox->process, 0);
    talk(client, "watch lines\r\n", "WATCHING 2\r\n");
    client_send(client, "reserve\r\nreserve\r\nreserve\r\n");
    client_expect(client, "RESERVED 2 1\r\ng\r\nRESERVED 3 1\r\nh\r\nRESERVED 1 1\r\nb\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
}

// As if the journal had begun on a host of that name.
static void give_host(const struct sandbox *sandbox, const char *host)
{
    struct journal_io io;
    struct manifest about;
    int error;

    assert_int_equal(journal_disk_open(&io, sandbox->journal), 0);
    assert_int_equal(manifest_load(&about, &io, &error), MANIFEST_GOOD);
    (void)snprintf(about.host, sizeof about.host, "%s", host);
    assert_int_equal(manifest_save(&about, &io), 0);
    journal_disk_close(&io);
}

// Handles that clients have kept, of jobs that are still there: by Gearman and by HTTP.
static void handles_are_good_though_the_host_has_a_new_name(void **state)
{
    static const char ask[] = "\0REQ\0\0\0\x0f\0\0\0\x0dH:elsewhere:1";
    static const char known[] = "\0RES\0\0\0\x14\0\0\0\x15H:elsewhere:1\0"
                                "1";
    struct sandbox *sandbox = *state;
    char reply[sizeof known - 1];
    char dir[SETTING_MAX];
    int client;

    PROCESS_START(&sandbox->process, ALL_PORTS, "--set", keep_in(sandbox, dir), SMALL);
    submit_by_gearman(&sandbox->process);
    process_stop(&sandbox->process);
    give_host(sandbox, "elsewhere");
    PROCESS_START(&sandbox->process, ALL_PORTS, "--set", keep_in(sandbox, dir), SMALL);
    process_expect(&sandbox->process, "journal_host host=elsewhere", &(size_t){0});
    client = connect_to(&sandbox->process, 1);
    assert_int_equal(send(client, ask, sizeof ask - 1, MSG_NOSIGNAL), sizeof ask - 1);
    assert_int_equal(recv(client, reply, sizeof reply, MSG_WAITALL), sizeof reply);
    assert_memory_equal(reply, known, sizeof reply);
    (void)close(client);
    process_stop(&sandbox->process);
}

// Its user did not leave: the process did.
static void the_pause_of_an_idle_tube_survives_a_stop(void **state)
{
    struct sandbox *sandbox = *state;
    int client;

    start(sandbox, "always");
    client = client_connect(&sandbox->process);
    talk(client, "use x\r\npause-tube x 3000\r\n", "USING x\r\nPAUSED\r\n");
    end(sandbox, SIGTERM);
    (void)close(client);
    start(sandbox, "always");
    client = client_connect(&sandbox->process);
    EXPECT_IN_YAML(client, "stats-tube x\r\n", "pause: 3000", "pause-time-left: 29");
    process_stop(&sandbox->process);
    (void)close(client);
}

static void the_pause_of_an_unused_tube_is_restored(void **state)
{
    struct sandbox *sandbox = *state;
    int client;

    start(sandbox, "always");
    client = client_connect(&sandbox->process);
    talk(client, "use x\r\npause-tube x 3000\r\n", "USING x\r\nPAUSED\r\n");
    talk(client, "use y\r\nuse x\r\nput 0 0 10 1\r\na\r\n", "USING y\r\nUSING x\r\nINSERTED 1\r\n");
    end(sandbox, SIGTERM);
    (void)close(client);
    start(sandbox, "always");
    client = client_connect(&sandbox->process);
    talk(client, "watch x\r\nreserve-with-timeout 0\r\n", "WATCHING 2\r\nTIMED_OUT\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
}

static void without_a_directory_the_log_warns_that_jobs_are_in_memory(void **state)
{
    struct process *process = &((struct sandbox *)*state)->process;

    PROCESS_START(process, ANY_PORT);
    process_expect(process, " info no_journal note=\"jobs are in memory only", NULL);
    process_stop(process);
}

static void directory_is_created_for_the_user_alone(void **state)
{
    struct sandbox *sandbox = *state;
    const struct dirent *entry;
    struct stat st;
    DIR *listing;

    start(sandbox, "always");
    process_expect(&sandbox->process, " info journal_opened dir=", NULL);
    assert_int_equal(stat(sandbox->journal, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    listing = opendir(sandbox->journal);
    while ((entry = readdir(listing))) {
        if (entry->d_name[0] != '.') {
            assert_int_equal(fstatat(dirfd(listing), entry->d_name, &st, 0), 0);
            assert_int_equal(st.st_mode & 07777, 0600);
        }
    }
    (void)closedir(listing);
    process_stop(&sandbox->process);
}

static void second_broker_on_a_directory_is_refused(void **state)
{
    struct sandbox *sandbox = *state;
    struct process second;
    char dir[SETTING_MAX];

    start(sandbox, "always");
    process_expect(&sandbox->process, " info started ", NULL);
    PROCESS_START(&second, ANY_PORT, "--set", keep_in(sandbox, dir));
    process_expect_exit(&second, 1, "another process uses this journal");
    PROCESS_START(&second, "-l127.0.0.1", "-p0", "-b", sandbox->journal);
    process_expect_exit(&second, 10, "another process uses this journal");
    process_stop(&sandbox->process);
    // The pid file of the ended process does not block a start.
    start(sandbox, "always");
    process_expect(&sandbox->process, " info started ", NULL);
    end(sandbox, SIGKILL);
    start(sandbox, "always");
    process_expect(&sandbox->process, " info started ", NULL);
    process_stop(&sandbox->process);
}

// A file in the journal's directory, which is made if need be.
static void leave_file(const struct sandbox *sandbox, const char *name)
{
    char path[128];
    int file;

    (void)mkdir(sandbox->journal, 0700);
    (void)snprintf(path, sizeof path, "%s/%s", sandbox->journal, name);
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, "\7\0\0\0", 4), 4);
    (void)close(file);
}

static void jobs_of_beanstalkd_are_not_left_behind_silently(void **state)
{
    struct sandbox *sandbox = *state;
    char dir[SETTING_MAX];

    leave_file(sandbox, "binlog.x");
    start(sandbox, "always");
    process_expect(&sandbox->process, " info started ", NULL);
    process_stop(&sandbox->process);
    leave_file(sandbox, "binlog.17");
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", keep_in(sandbox, dir));
    process_expect_exit(&sandbox->process, 1, "beanstalkd has left files with jobs here");
    PROCESS_START(&sandbox->process, "-l127.0.0.1", "-p0", "-b", sandbox->journal);
    process_expect(&sandbox->process, " info import_done ", NULL);
    process_stop(&sandbox->process);
    PROCESS_START(&sandbox->process, "-l127.0.0.1", "-p0", "-b", sandbox->journal,
                  "--ignore-binlog");
    process_expect(&sandbox->process, " info journal_opened ", NULL);
    process_expect(&sandbox->process, " fsync=50 ", NULL);
    process_stop(&sandbox->process);
}

static void as_in_beanstalkd_the_directory_must_exist(void **state)
{
    struct sandbox *sandbox = *state;
    char words[128];

    (void)snprintf(words, sizeof words, "journal %s: No such file or directory", sandbox->journal);
    PROCESS_START(&sandbox->process, "-l127.0.0.1", "-p0", "-b", sandbox->journal);
    process_expect_exit(&sandbox->process, 10, words);
    assert_int_equal(access(sandbox->journal, F_OK), -1);
    PROCESS_START(&sandbox->process, "-l127.0.0.1", "-p0", "-b/dev/null");
    process_expect_exit(&sandbox->process, 10, "journal /dev/null: Not a directory");
}

// A process that has changed its user cannot be searched for leaks.
static void without_leak_check(void *context)
{
    (void)context;
    (void)setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

static void directory_that_may_not_be_written_to_is_refused(void **state)
{
    struct sandbox *sandbox = *state;
    const char *user = geteuid() == 0 ? "nobody" : "";
    char become[SETTING_MAX];
    char dir[SETTING_MAX];

    assert_int_equal(mkdir(sandbox->journal, 0500), 0);
    (void)snprintf(become, sizeof become, "server.user=%s", user);
    PROCESS_PREPARED(&sandbox->process, without_leak_check, NULL, ANY_PORT, "--set",
                     keep_in(sandbox, dir), "--set", become);
    process_expect_exit(&sandbox->process, 1, "Permission denied");
}

// Changes a byte in the body of the first job.
static void damage(const struct sandbox *sandbox)
{
    char path[128];
    char bytes[4096];
    ssize_t len;
    char *body;
    int file;

    (void)snprintf(path, sizeof path, "%s/journal.0000000001", sandbox->journal);
    file = open(path, O_RDWR | O_CLOEXEC);
    len = pread(file, bytes, sizeof bytes, 0);
    assert_true(len > 0);
    body = memmem(bytes, (size_t)len, "precious", 8);
    assert_non_null(body);
    assert_int_equal(pwrite(file, "P", 1, body - bytes), 1);
    (void)close(file);
}

static void leave_damaged(struct sandbox *sandbox)
{
    int client;

    start(sandbox, "always");
    client = client_connect(&sandbox->process);
    talk(client, "put 0 0 10 8\r\nprecious\r\n", "INSERTED 1\r\n");
    talk(client, "put 0 0 10 1\r\nx\r\n", "INSERTED 2\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
    damage(sandbox);
}

static void damage_stops_the_start_unless_it_is_to_be_repaired(void **state)
{
    struct sandbox *sandbox = *state;
    char dir[SETTING_MAX];
    int client;

    leave_damaged(sandbox);
    start(sandbox, "always");
    process_expect_exit(&sandbox->process, 1, "journal.0000000001");
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", keep_in(sandbox, dir), SMALL, "--repair");
    client = client_connect(&sandbox->process);
    talk(client, "peek 1\r\n", "NOT_FOUND\r\n");
    talk(client, "peek 2\r\n", "FOUND 2 1\r\nx\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
    // The repaired journal is not damaged.
    start(sandbox, "always");
    client = client_connect(&sandbox->process);
    talk(client, "peek 2\r\n", "FOUND 2 1\r\nx\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
}

static void with_manager(void *context)
{
    (void)setenv("NOTIFY_SOCKET", context, 1);
}

static void manager_is_notified_once_all_jobs_are_restored(void **state)
{
    struct sandbox *sandbox = *state;
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char dir[SETTING_MAX];
    char text[256];
    int client;

    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", sandbox->socket);
    assert_int_equal(bind(manager, (const struct sockaddr *)&addr, sizeof addr), 0);
    leave_damaged(sandbox);
    PROCESS_PREPARED(&sandbox->process, with_manager, sandbox->socket, ANY_PORT, "--set",
                     keep_in(sandbox, dir), SMALL);
    process_expect_exit(&sandbox->process, 1, "journal.0000000001");
    assert_int_equal(recv(manager, text, sizeof text, MSG_DONTWAIT), -1);
    PROCESS_PREPARED(&sandbox->process, with_manager, sandbox->socket, ANY_PORT, "--set",
                     keep_in(sandbox, dir), SMALL, "--repair");
    assert_int_equal(recv(manager, text, sizeof text, 0), 7);
    assert_memory_equal(text, "READY=1", 7);
    client = client_connect(&sandbox->process);
    talk(client, "peek-ready\r\n", "FOUND 2 1\r\nx\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
    (void)close(manager);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(jobs_survive_a_kill_when_each_write_is_synced),
        SANDBOX_TEST(jobs_survive_a_kill_when_syncs_come_now_and_then),
        SANDBOX_TEST(jobs_survive_a_kill_when_nothing_is_synced),
        SANDBOX_TEST(jobs_survive_a_stop_with_any_policy),
        SANDBOX_TEST(large_jobs_survive_small_files),
        SANDBOX_TEST(a_file_has_the_size_that_was_asked_for),
        SANDBOX_TEST(jobs_of_all_protocols_survive),
        SANDBOX_TEST(the_pause_of_an_idle_tube_survives_a_stop),
        SANDBOX_TEST(the_pause_of_an_unused_tube_is_restored),
        SANDBOX_TEST(without_a_directory_the_log_warns_that_jobs_are_in_memory),
        SANDBOX_TEST(directory_is_created_for_the_user_alone),
        SANDBOX_TEST(second_broker_on_a_directory_is_refused),
        SANDBOX_TEST(jobs_of_beanstalkd_are_not_left_behind_silently),
        SANDBOX_TEST(as_in_beanstalkd_the_directory_must_exist),
        SANDBOX_TEST(directory_that_may_not_be_written_to_is_refused),
        SANDBOX_TEST(handles_are_good_though_the_host_has_a_new_name),
        SANDBOX_TEST(damage_stops_the_start_unless_it_is_to_be_repaired),
        SANDBOX_TEST(manager_is_notified_once_all_jobs_are_restored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
