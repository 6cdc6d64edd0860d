/* SPDX-License-Identifier: MIT */
// pipe2 is not in POSIX.
#define _GNU_SOURCE
#include "server/process/background.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char READY = 'r';

// Ends well once the other process is ready, and otherwise as that does: not well, even where it
// was told to stop and has obeyed.
static _Noreturn void wait_for(pid_t other, int news)
{
    char word;
    ssize_t len;
    int status = 0;

    do {
        len = read(news, &word, 1);
    } while (len < 0 && errno == EINTR);
    if (len == 1) {
        _exit(EXIT_SUCCESS);
    }
    while (waitpid(other, &status, 0) < 0 && errno == EINTR) {
    }
    _exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : EXIT_FAILURE);
}

bool background_enter(struct background *background, struct error_text *why)
{
    int ends[2];
    pid_t other;

    background_none(background);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_set(why, "going to the background: %s", strerror(errno));
    }
    other = fork();
    if (other < 0) {
        error_set(why, "going to the background: %s", strerror(errno));
        (void)close(ends[0]);
        (void)close(ends[1]);
        return false;
    }
    if (other > 0) {
        (void)close(ends[1]);
        wait_for(other, ends[0]);
    }
    (void)close(ends[0]);
    // It cannot fail: a process that has just been made leads no group.
    (void)setsid();
    background->starter = ends[1];
    return true;
}

void background_ready(struct background *background)
{
    int null;
    ssize_t ignored;

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
    // Where nobody reads it any more, nobody waits.
    ignored = write(background->starter, &READY, 1);
    (void)ignored;
    (void)close(background->starter);
    background_none(background);
}
