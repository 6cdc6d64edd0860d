/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_DAEMON_H
#define TANDEM_SERVER_PROCESS_DAEMON_H

// How the process becomes a daemon: in the background, as another user. If it cannot start, its
// exit code says why.

#include "core/base/error_text.h"
#include "core/base/macros.h"

#include <stdbool.h>
#include <sys/types.h>

// The causes of a failed start, as far as exit codes distinguish them.
enum exit_reason {
    EXIT_REASON_NONE,
    EXIT_REASON_USAGE,        // the command line or the configuration is wrong
    EXIT_REASON_JOURNAL,      // the journal cannot be opened
    EXIT_REASON_USER_LOOKUP,  // the list of users cannot be read
    EXIT_REASON_USER_UNKNOWN, // the user is not in it
    EXIT_REASON_USER_REFUSED, // the system does not allow us to become that user
    EXIT_REASON_ADDRESS,      // listening on an address or an inherited socket fails
    EXIT_REASON_OTHER,        // a file, memory or descriptors are not available
};

// The program whose exit codes are used: ours, or those of the program that we stand in for.
enum exit_codes { EXIT_CODES_OURS, EXIT_CODES_BEANSTALKD, EXIT_CODES_GEARMAND };

int exit_reason_code(enum exit_reason reason, enum exit_codes whose);

// Running in the background. A child process in a session of its own does the work. The process
// that was started waits until the child is ready or has failed, so that its exit code tells the
// result. Only the calling thread exists in the child, so enter the background before starting
// other threads.
struct background {
    int starter; /* private: a pipe to the waiting process; -1: no process waits */
};

// No process waits.
static inline void background_none(struct background *background)
{
    background->starter = -1;
}

// Returns true in the child. The process that was started exits with 0 once the child is ready; if
// the child ends before, with the child's exit code, or 1 if that is 0. Without a child, returns
// false in the process that was started, with the reason in `why`.
bool background_enter(struct background *background, struct error_text *why) MUST_USE;

// Ends the process that waits, with success, and makes /dev/null the standard files, so that no
// terminal or pipe of the starter stays open. Does nothing if no process waits.
void background_ready(struct background *background);

// The user that the process becomes once the work that needs root (ports, files in /run) is done.
struct identity {
    uid_t uid;
    gid_t gid;
    char name[64];
};

// Finds the user by name. EXIT_REASON_NONE, or the reason in `why`.
enum exit_reason privilege_find(const char *name, struct identity *identity,
                                struct error_text *why) MUST_USE;

// Becomes the user for good, with the user's own group and no other. If the process runs as that
// user already and may not drop its groups, it keeps them. EXIT_REASON_NONE; otherwise the reason
// is in `why` and the process must end.
enum exit_reason privilege_become(const struct identity *identity, struct error_text *why) MUST_USE;

#endif
