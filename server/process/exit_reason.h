/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_EXIT_REASON_H
#define TANDEM_SERVER_PROCESS_EXIT_REASON_H

// What keeps the process from starting, as far as its exit code tells one case from another.

#include <stdbool.h>

enum fault {
    FAULT_NONE,
    FAULT_USAGE,        // the command line or the configuration is wrong
    FAULT_JOURNAL,      // the journal's directory cannot be had
    FAULT_USER_LOOKUP,  // the list of users cannot be read
    FAULT_USER_UNKNOWN, // the user is not in it
    FAULT_USER_REFUSED, // the system does not let us become that user
    FAULT_ADDRESS,      // an address or an inherited socket cannot be listened at
    FAULT_OTHER,        // a file, memory or descriptors could not be had
};

// The exit code; in beanstalkd's place it is the one that beanstalkd has for the case.
int fault_exit_code(enum fault fault, bool as_beanstalkd);

#endif
