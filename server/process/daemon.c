/* SPDX-License-Identifier: MIT */
// pipe2, setgroups, setresuid and similar functions are not in POSIX.
#define _GNU_SOURCE
#include "server/process/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// By enum exit_codes.
static const int exit_codes[][3] = {
    [EXIT_REASON_NONE] = {0, 0, 0},          [EXIT_REASON_USAGE] = {2, 5, 1},
    [EXIT_REASON_JOURNAL] = {1, 10, 1},      [EXIT_REASON_USER_LOOKUP] = {1, 32, 1},
    [EXIT_REASON_USER_UNKNOWN] = {1, 33, 1}, [EXIT_REASON_USER_REFUSED] = {1, 34, 1},
    [EXIT_REASON_ADDRESS] = {1, 111, 1},     [EXIT_REASON_OTHER] = {1, 1, 1},
};

int exit_reason_code(enum exit_reason reason, enum exit_codes whose)
{
    return exit_codes[reason][whose];
}

static const char READY = 'r';

// Exits with 0 when the child is ready, otherwise with the child's exit code. A child that was told
// to stop before it was ready exits with 0, but has not started: then the code is 1.
static _Noreturn void background_wait(pid_t child, int pipe)
{
    char ready;
    ssize_t len;
    int status = 0;

    do {
        len = read(pipe, &ready, 1);
    } while (len < 0 && errno == EINTR);
    if (len == 1) {
        _exit(EXIT_SUCCESS);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    _exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : EXIT_FAILURE);
}

bool background_enter(struct background *background, struct error_text *why)
{
    int ends[2];
    pid_t child;

    background_none(background);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_set(why, "going to the background: %s", strerror(errno));
    }
    child = fork();
    if (child < 0) {
        error_set(why, "going to the background: %s", strerror(errno));
        (void)close(ends[0]);
        (void)close(ends[1]);
        return false;
    }
    if (child > 0) {
        (void)close(ends[1]);
        background_wait(child, ends[0]);
    }
    (void)close(ends[0]);
    // Cannot fail: a new process does not lead a process group.
    (void)setsid();
    background->starter = ends[1];
    return true;
}

void background_ready(struct background *background)
{
    int null;

    if (background->starter < 0) {
        return;
    }
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++) {
        (void)dup2(null, fd);
    }
    if (null > STDERR_FILENO) {
        (void)close(null);
    }
    // If this fails, the process that waited has ended.
    (void)!write(background->starter, &READY, 1);
    (void)close(background->starter);
    background_none(background);
}

enum exit_reason privilege_find(const char *name, struct identity *identity, struct error_text *why)
{
    const struct passwd *entry;
    int error;

    errno = 0;
    entry = getpwnam(name);
    error = errno;
    // The manual of getpwnam lists these errors for an unknown user.
    if (!entry &&
        (error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM)) {
        error_set(why, "user %s: no such user", name);
        return EXIT_REASON_USER_UNKNOWN;
    }
    if (!entry) {
        error_set(why, "user %s: %s", name, strerror(error));
        return EXIT_REASON_USER_LOOKUP;
    }
    identity->uid = entry->pw_uid;
    identity->gid = entry->pw_gid;
    (void)snprintf(identity->name, sizeof identity->name, "%s", name);
    return EXIT_REASON_NONE;
}

// Whether the real, effective and saved ids are those of the user.
static bool is_identity(const struct identity *identity)
{
    uid_t uids[3];
    gid_t gids[3];

    if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 ||
        getresgid(&gids[0], &gids[1], &gids[2]) != 0) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (uids[i] != identity->uid || gids[i] != identity->gid) {
            return false;
        }
    }
    return true;
}

enum exit_reason privilege_become(const struct identity *identity, struct error_text *why)
{
    bool already = is_identity(identity);

    if (setgroups(0, NULL) != 0 && !already) {
        error_set(why, "user %s: the groups cannot be dropped: %s", identity->name,
                  strerror(errno));
        return EXIT_REASON_USER_REFUSED;
    }
    if (setresgid(identity->gid, identity->gid, identity->gid) != 0 ||
        setresuid(identity->uid, identity->uid, identity->uid) != 0) {
        error_set(why, "user %s: %s", identity->name, strerror(errno));
        return EXIT_REASON_USER_REFUSED;
    }
    // A capability that is still there would allow the process to become root again.
    if (!is_identity(identity) || (identity->uid != 0 && setuid(0) == 0)) {
        error_set(why, "user %s: root could not be given up for good", identity->name);
        return EXIT_REASON_USER_REFUSED;
    }
    return EXIT_REASON_NONE;
}
