/* SPDX-License-Identifier: MIT */
#include "ctl/program.h"

#include <signal.h>

int main(int count, char **arguments)
{
    // Writing to a closed pipe fails with EPIPE and does not end the process.
    (void)signal(SIGPIPE, SIG_IGN);
    return program_run(count - 1, arguments + 1);
}
