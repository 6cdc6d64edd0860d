/* SPDX-License-Identifier: MIT */
#include "ctl/program.h"

#include <signal.h>

int main(int count, char **arguments)
{
    // Who reads the output may have enough of it: writing fails then.
    (void)signal(SIGPIPE, SIG_IGN);
    return program_run(count - 1, arguments + 1);
}
