/* SPDX-License-Identifier: MIT */
#include "server/config/credential.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static const char word[] = "credential:";

bool credential_is_named(const char *text)
{
    return strncmp(text, word, strlen(word)) == 0;
}

bool credential_path(const char *text, char path[PATH_MAX], struct error_text *why)
{
    const char *name = text + strlen(word);
    const char *dir = getenv("CREDENTIALS_DIRECTORY");
    int len;

    // Neither a way out of the directory nor the directory itself.
    if (*name == '\0' || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return error_set(why, "`%s` is not the name of a credential", text);
    }
    if (!dir || *dir != '/') {
        return error_set(why, "`%s`: no credentials were handed over ($CREDENTIALS_DIRECTORY)",
                         text);
    }
    len = snprintf(path, PATH_MAX, "%s/%s", dir, name);
    if (len < 0 || len >= PATH_MAX) {
        return error_set(why, "`%s`: the path is too long", text);
    }
    return true;
}

// How many bytes there are; -1 with the reason in `why`.
static ssize_t read_file(const char *path, char line[CREDENTIAL_ROOM], struct error_text *why)
{
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(line, 1, CREDENTIAL_ROOM, file) : 0;
    int error = errno;

    if (!file || ferror(file)) {
        error_set(why, "%s: %s", path, strerror(error));
        len = SIZE_MAX;
    }
    if (file) {
        (void)fclose(file);
    }
    return len == SIZE_MAX ? -1 : (ssize_t)len;
}

bool credential_read(const char *text, char line[CREDENTIAL_ROOM], struct error_text *why)
{
    char path[PATH_MAX];
    ssize_t len = credential_path(text, path, why) ? read_file(path, line, why) : -1;

    if (len < 0) {
        return false;
    }
    if (len > 0 && line[len - 1] == '\n') {
        len--;
    }
    if (len == CREDENTIAL_ROOM || memchr(line, '\n', (size_t)len) ||
        memchr(line, '\0', (size_t)len)) {
        return error_set(why, "%s: not one line of less than %d bytes", path, CREDENTIAL_ROOM);
    }
    line[len] = '\0';
    return true;
}
