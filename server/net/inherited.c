/* SPDX-License-Identifier: MIT */
#include "server/net/inherited.h"

#include "core/base/log.h"
#include "server/config/frontends.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

static bool is_usable(int fd)
{
    static const int families[] = {AF_INET, AF_INET6, AF_UNIX};

    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (sd_is_socket(fd, families[i], SOCK_STREAM, 1) > 0) {
            return true;
        }
    }
    return false;
}

// Names of sockets that nobody has named: sd_listen_fds_with_names' own where there are none, and
// the one that systemd gives the socket of Debian's unit for beanstalkd.
static bool is_unnamed(const char *name)
{
    static const char *const names[] = {"unknown", "beanstalkd.socket"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// Whether the name is the front-end's, by itself or, which `*tls` says, with the ending.
static bool is_of(const struct frontend *frontend, const char *name, bool *tls)
{
    size_t len = strlen(frontend->name);

    if (strncmp(name, frontend->name, len) != 0) {
        return false;
    }
    *tls = strcmp(name + len, "-tls") == 0;
    return *tls || name[len] == '\0';
}

// The place of the front-end that the socket is for; FRONTENDS where there is none of that name. To
// guess would be to offer a protocol at an address that is meant for another.
static size_t frontend_for(int fd, const char *name, bool *tls)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (is_of(frontends[i], name, tls)) {
            return i;
        }
    }
    *tls = false;
    if (!is_unnamed(name)) {
        return FRONTENDS;
    }
    log_info("inherited_by_default", log_number("fd", fd), log_string("name", name),
             log_string("protocol", frontends[0]->name));
    return 0;
}

static bool inherited_hand(int fd, const char *name, inherited_taker take, void *context,
                           struct error_text *why)
{
    size_t index;
    bool tls;

    if (!is_usable(fd)) {
        return error_set(why,
                         "descriptor %d (%s), handed over in LISTEN_FDS, is not a listening "
                         "stream socket of TCP or Unix",
                         fd, name);
    }
    index = frontend_for(fd, name, &tls);
    if (index == FRONTENDS) {
        return error_set(why,
                         "descriptor %d, handed over in LISTEN_FDS, is named `%s`, which is no "
                         "protocol: FileDescriptorName= is beanstalk, gearman or http, or one of "
                         "these with -tls behind it",
                         fd, name);
    }
    return take(context, fd, index, tls, why);
}

bool inherited_each(inherited_taker take, void *context, struct error_text *why)
{
    char **names = NULL;
    int count = sd_listen_fds_with_names(1, &names);
    bool good = count >= 0;

    if (!good) {
        error_set(why, "the sockets handed over in LISTEN_FDS: %s", strerror(-count));
    }
    for (int i = 0; i < count && good; i++) {
        good = inherited_hand(SD_LISTEN_FDS_START + i, names[i], take, context, why);
    }
    for (int i = 0; i < count; i++) {
        free(names[i]);
    }
    free(names);
    return good;
}
