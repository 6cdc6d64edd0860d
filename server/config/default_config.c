/* SPDX-License-Identifier: MIT */
#include "server/config/default_config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// TANDEM_SYSCONFDIR is as the project was configured: empty where it follows from the prefix.
static const char fixed[] = TANDEM_SYSCONFDIR;

// How many letters of the program's path are its prefix; false where it is in no `bin`.
static bool prefix_of(const char *program, int *len)
{
    static const char bin[] = "/bin";
    const char *name = strrchr(program, '/');
    size_t dir = name ? (size_t)(name - program) : 0;

    if (dir < strlen(bin) || memcmp(name - strlen(bin), bin, strlen(bin)) != 0) {
        return false;
    }
    *len = (int)(dir - strlen(bin));
    return true;
}

static bool is_below(const char *program, const char *dir)
{
    return strncmp(program, dir, strlen(dir)) == 0;
}

bool default_config_of(const char *program, char path[PATH_MAX])
{
    static const char name[] = "tandem/tandemd.conf";
    int prefix = 0;
    int len;

    if (*fixed) {
        len = snprintf(path, PATH_MAX, "%s/%s", fixed, name);
    } else if (!prefix_of(program, &prefix) || prefix == 0 || is_below(program, "/usr/bin/")) {
        len = snprintf(path, PATH_MAX, "%s", DEFAULT_CONFIG);
    } else if (is_below(program, "/opt/") && prefix > (int)strlen("/opt")) {
        len = snprintf(path, PATH_MAX, "/etc%.*s/%s", prefix, program, name);
    } else {
        len = snprintf(path, PATH_MAX, "%.*s/etc/%s", prefix, program, name);
    }
    return len > 0 && len < PATH_MAX;
}

void default_config(char path[PATH_MAX])
{
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program);

    if (len < 0 || (size_t)len == sizeof program) {
        len = 0;
    }
    program[len] = '\0';
    if (!default_config_of(program, path)) {
        (void)snprintf(path, PATH_MAX, "%s", DEFAULT_CONFIG);
    }
}
