/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_PROGRAM_H
#define TANDEM_CTL_PROGRAM_H

// The program: parses a command line, runs the command, and returns the exit code (enum outcome).

int program_run(int count, char **arguments);

#endif
