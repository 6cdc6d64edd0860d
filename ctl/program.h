/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PROGRAM_H
#define TANDEM_CTL_PROGRAM_H

// The program: a command line in, an exit code (enum outcome) out.

int program_run(int count, char **arguments);

#endif
