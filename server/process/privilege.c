/* SPDX-License-Identifier: MIT */
// setgroups, setresuid and their like are not in POSIX.
#define _GNU_SOURCE
#include "server/process/privilege.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// What getpwnam's page names for a user that is not there, apart from no error at all.
static bool means_unknown(int error)
{
    return error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM;
}

enum exit_reason privilege_find(const char *name, struct identity *identity, struct error_text *why)
{
    const struct passwd *entry;
    int error;

    errno = 0;
    entry = getpwnam(name);
    error = errno;
    if (!entry && means_unknown(error)) {
        error_set(why, "user %s: no such user", name);
        return EXIT_REASON_USER_UNKNOWN;
    }
    if (!entry) {
        error_set(why, "user %s: %s", name, strerror(error));
        return EXIT_REASON_USER_LOOKUP;
    }
    identity->uid = entry->pw_uid;
    identity->gid = entry->pw_gid;
    (void)snprintf(identity->name, sizeof identity->name, "%s", name);
    return EXIT_REASON_NONE;
}

// All three of the user's and the group's numbers.
static bool is_identity(const struct identity *identity)
{
    uid_t uids[3];
    gid_t gids[3];

    if (getresuid(&uids[0], &uids[1], &uids[2]) != 0 ||
        getresgid(&gids[0], &gids[1], &gids[2]) != 0) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        if (uids[i] != identity->uid || gids[i] != identity->gid) {
            return false;
        }
    }
    return true;
}

enum exit_reason privilege_become(const struct identity *identity, struct error_text *why)
{
    bool already = is_identity(identity);

    if (setgroups(0, NULL) != 0 && !already) {
        error_set(why, "user %s: the groups cannot be dropped: %s", identity->name,
                  strerror(errno));
        return EXIT_REASON_USER_REFUSED;
    }
    if (setresgid(identity->gid, identity->gid, identity->gid) != 0 ||
        setresuid(identity->uid, identity->uid, identity->uid) != 0) {
        error_set(why, "user %s: %s", identity->name, strerror(errno));
        return EXIT_REASON_USER_REFUSED;
    }
    // A capability that outlived the change would open the way back.
    if (!is_identity(identity) || (identity->uid != 0 && setuid(0) == 0)) {
        error_set(why, "user %s: root could not be given up for good", identity->name);
        return EXIT_REASON_USER_REFUSED;
    }
    return EXIT_REASON_NONE;
}
