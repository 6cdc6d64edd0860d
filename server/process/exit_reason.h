/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_EXIT_REASON_H
#define TANDEM_SERVER_PROCESS_EXIT_REASON_H

// What keeps the process from starting, as far as its exit code tells one case from another.

enum exit_reason {
    EXIT_REASON_NONE,
    EXIT_REASON_USAGE,        // the command line or the configuration is wrong
    EXIT_REASON_JOURNAL,      // the journal's directory cannot be had
    EXIT_REASON_USER_LOOKUP,  // the list of users cannot be read
    EXIT_REASON_USER_UNKNOWN, // the user is not in it
    EXIT_REASON_USER_REFUSED, // the system does not let us become that user
    EXIT_REASON_ADDRESS,      // an address or an inherited socket cannot be listened at
    EXIT_REASON_OTHER,        // a file, memory or descriptors could not be had
};

// Whose exit codes there are: in another program's place, they are those that it has for the case.
enum exit_codes { EXIT_CODES_OURS, EXIT_CODES_BEANSTALKD, EXIT_CODES_GEARMAND };

int exit_reason_code(enum exit_reason reason, enum exit_codes whose);

#endif
