/* SPDX-License-Identifier: MIT */
#include "tests/server/hung_disk.h"

#include "tests/support/with_cmocka.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Bytes of the head of a segment, which is read before all else.
enum { HEAD = 72, ARGS_MAX = 24 };

const char *journal_setting(const struct sandbox *sandbox, char text[JOURNAL_SETTING_MAX])
{
    (void)snprintf(text, JOURNAL_SETTING_MAX, "journal.dir=%s", sandbox->journal);
    return text;
}

void leave_journal(struct sandbox *sandbox)
{
    char dir[JOURNAL_SETTING_MAX];
    int client;

    PROCESS_START(&sandbox->process, ANY_PORT, "--set", journal_setting(sandbox, dir));
    client = client_connect(&sandbox->process);
    client_send(client, "put 0 0 10 1\r\na\r\n");
    client_expect(client, "INSERTED 1\r\n");
    process_signal(&sandbox->process, SIGKILL);
    (void)process_wait(&sandbox->process);
    (void)close(client);
}

// Sends a descriptor to the process at the other end of the socket.
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

// The disk does not answer: a call that reads this many bytes blocks until the process at the other
// end of the socket decides its result.
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
    if (listener < 0 || fcntl(listener, F_SETFD, 0) != 0 || !send_descriptor(*socket, listener)) {
        _exit(99);
    }
}

// Starts a process that lets all blocked calls continue. The caller kills it.
static pid_t let_disk_answer(int listener)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    while (pid == 0) {
        struct seccomp_notif call = {0};
        struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

        // ioctl() of musl takes an int, which these numbers do not fit.
        if (syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
            _exit(99);
        }
        answer.id = call.id;
        (void)syscall(SYS_ioctl, listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    assert_true(pid > 0);
    return pid;
}

void hung_disk_start(struct hung_disk *disk, struct sandbox *sandbox, const char *const *args)
{
    char dir[JOURNAL_SETTING_MAX];
    const char *all[ARGS_MAX + 1] = {ANY_PORT, "--set", journal_setting(sandbox, dir)};

    for (int i = 0; args[i]; i++) {
        assert_in_range(i, 0, ARGS_MAX - 5);
        all[i + 4] = args[i];
    }
    *disk = (struct hung_disk){.sandbox = sandbox};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, disk->sockets), 0);
    leave_journal(sandbox);
    process_start_prepared(&sandbox->process, hang_disk, &disk->sockets[1], all);
    process_expect(&sandbox->process, "listening", NULL);
}

void hung_disk_answer(struct hung_disk *disk)
{
    disk->answers = let_disk_answer(receive_descriptor(disk->sockets[0]));
}

void hung_disk_stop(const struct hung_disk *disk)
{
    struct process *process = &disk->sandbox->process;

    process_signal(process, SIGTERM);
    // Two that come at once could be one.
    process_expect(process, "stopping", NULL);
    process_signal(process, SIGTERM);
    process_expect_exit(process, 0, "stopped");
}

void hung_disk_close(struct hung_disk *disk)
{
    if (disk->answers > 0) {
        assert_int_equal(kill(disk->answers, SIGKILL), 0);
        assert_int_equal(waitpid(disk->answers, NULL, 0), disk->answers);
    }
    (void)close(disk->sockets[0]);
    (void)close(disk->sockets[1]);
}
