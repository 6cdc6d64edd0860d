/* SPDX-License-Identifier: MIT */
#include "ctl/program.h"

#include "ctl/api/problem.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

// The parent process may have closed them. Then the next file or socket would get one of these
// numbers, and output and messages would be written to it. They are opened the wrong way round, so
// that using them fails as it does if they are closed.
static bool open_closed_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags) != fd) {
            return false;
        }
    }
    return true;
}

int main(int count, char **arguments)
{
    // Writing to a closed pipe fails with EPIPE and does not end the process.
    (void)signal(SIGPIPE, SIG_IGN);
    if (!open_closed_files()) {
        return OUTCOME_FAILED;
    }
    return program_run(count - 1, arguments + 1);
}
