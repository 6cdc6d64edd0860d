/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_PRIVILEGE_H
#define TANDEM_SERVER_PROCESS_PRIVILEGE_H

// Giving up root for good once its work (ports, files in /run) is done.

#include "core/base/macros.h"
#include "server/process/exit_reason.h"
#include "core/base/error_text.h"

#include <sys/types.h>

struct identity {
    uid_t uid;
    gid_t gid;
    char name[64];
};

// Looks the user up by name. EXIT_REASON_NONE, or the reason in `why`.
enum exit_reason privilege_find(const char *name, struct identity *identity,
                                struct error_text *why) MUST_USE;

// Becomes the user, with the user's own group and no other, so that nothing leads back. Whoever is
// that user already stays it, and keeps the groups where the system does not let them be dropped.
// EXIT_REASON_NONE; otherwise the reason in `why`, and the process must not go on.
enum exit_reason privilege_become(const struct identity *identity, struct error_text *why) MUST_USE;

#endif
