/* SPDX-License-Identifier: MIT */
// tandemd while its journal is being opened: it can be stopped, whatever the disk does.
#include "tests/server/server_cmocka.h"
#include "tests/server/server_sandbox.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTING_MAX 160
// Bytes of the head of a segment, which is read before all else.
enum { HEAD = 72 };

static const char *keep_in(const struct sandbox *sandbox, char text[SETTING_MAX])
{
    (void)snprintf(text, SETTING_MAX, "journal.dir=%s", sandbox->journal);
    return text;
}

// Leaves a journal with a job.
static void leave_journal(struct sandbox *sandbox)
{
    char dir[SETTING_MAX];
    int client;

    PROCESS_START(&sandbox->process, ANY_PORT, "--set", keep_in(sandbox, dir));
    client = client_connect(&sandbox->process);
    client_send(client, "put 0 0 10 1\r\na\r\n");
    client_expect(client, "INSERTED 1\r\n");
    process_signal(&sandbox->process, SIGKILL);
    (void)process_wait(&sandbox->process);
    (void)close(client);
}

// Hands a descriptor to whoever has the other end of the socket.
static bool send_descriptor(int socket, int fd)
{
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec byte = {.iov_base = "", .iov_len = 1};
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(socket, &message, 0) == 1;
}

static int receive_descriptor(int socket)
{
    int fd;
    char control[CMSG_SPACE(sizeof fd)];
    char text[1];
    struct iovec byte = {.iov_base = text, .iov_len = 1};
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};

    assert_int_equal(recvmsg(socket, &message, 0), 1);
    assert_true(message.msg_controllen >= sizeof control);
    memcpy(&fd, CMSG_DATA((struct cmsghdr *)(void *)control), sizeof fd);
    return fd;
}

// The disk does not answer: a call that reads so many bytes waits for somebody who says what
// becomes of it. Nobody does, unless there is a socket that whoever is to do so listens at.
static void hang_disk(void *context)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pread64, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HEAD, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    const int *socket = context;
    int listener;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        _exit(99);
    }
    listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                            &program);
    // It stays open in tandemd, which knows nothing of it.
    if (listener < 0 || fcntl(listener, F_SETFD, 0) != 0 ||
        (socket && !send_descriptor(*socket, listener))) {
        _exit(99);
    }
}

// From now on every call that waits is carried out, by a process that is to be killed.
static pid_t let_disk_answer(int listener)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    while (pid == 0) {
        struct seccomp_notif call = {0};
        struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
            _exit(99);
        }
        answer.id = call.id;
        (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    assert_true(pid > 0);
    return pid;
}

static void start_on_hung_disk(struct sandbox *sandbox, int *socket)
{
    char dir[SETTING_MAX];

    leave_journal(sandbox);
    PROCESS_PREPARED(&sandbox->process, hang_disk, socket, ANY_PORT, "--set",
                     keep_in(sandbox, dir));
    process_expect(&sandbox->process, "listening", NULL);
}

static void a_start_that_hangs_in_the_disk_says_so_and_can_be_stopped(void **state)
{
    struct sandbox *sandbox = *state;

    start_on_hung_disk(sandbox, NULL);
    process_expect(&sandbox->process, "journal_slow", NULL);
    process_signal(&sandbox->process, SIGTERM);
    process_expect_exit(&sandbox->process, 0, "the disk does not answer");
}

// It may not have come to the disk yet.
static void a_start_can_be_stopped_at_once(void **state)
{
    struct sandbox *sandbox = *state;

    start_on_hung_disk(sandbox, NULL);
    process_signal(&sandbox->process, SIGTERM);
    process_expect(&sandbox->process, "stopping", NULL);
    process_signal(&sandbox->process, SIGINT);
    process_expect_exit(&sandbox->process, 0, "stopped");
}

// The last one of those that contradict each other counts.
static void signals_that_come_during_the_start_take_effect_in_their_order(void **state)
{
    struct sandbox *sandbox = *state;
    int sockets[2];
    int client;
    pid_t disk;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    start_on_hung_disk(sandbox, &sockets[1]);
    process_signal(&sandbox->process, SIGUSR2);
    process_expect(&sandbox->process, "journal_slow", NULL);
    process_signal(&sandbox->process, SIGUSR1);
    disk = let_disk_answer(receive_descriptor(sockets[0]));
    process_expect(&sandbox->process, "started", NULL);
    client = client_connect(&sandbox->process);
    client_send(client, "put 0 0 10 1\r\nb\r\n");
    client_expect(client, "DRAINING\r\n");
    process_stop(&sandbox->process);
    assert_int_equal(kill(disk, SIGKILL), 0);
    assert_int_equal(waitpid(disk, NULL, 0), disk);
    (void)close(client);
    (void)close(sockets[0]);
    (void)close(sockets[1]);
}

// What a reader of all of it would take hours for.
static void a_youngest_file_that_is_one_great_hole_costs_nothing(void **state)
{
    struct sandbox *sandbox = *state;
    char path[SETTING_MAX];
    char dir[SETTING_MAX];
    int client;

    leave_journal(sandbox);
    (void)snprintf(path, sizeof path, "%s/journal.0000000001", sandbox->journal);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    PROCESS_START(&sandbox->process, ANY_PORT, "--set", keep_in(sandbox, dir));
    client = client_connect(&sandbox->process);
    client_send(client, "peek-ready\r\n");
    client_expect(client, "FOUND 1 1\r\na\r\n");
    process_stop(&sandbox->process);
    (void)close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(a_start_that_hangs_in_the_disk_says_so_and_can_be_stopped),
        SANDBOX_TEST(a_start_can_be_stopped_at_once),
        SANDBOX_TEST(signals_that_come_during_the_start_take_effect_in_their_order),
        SANDBOX_TEST(a_youngest_file_that_is_one_great_hole_costs_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
