/* SPDX-License-Identifier: MIT */
#include "server/config/credential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char word[] = "credential:";

bool credential_is_named(const char *text)
{
    return strncmp(text, word, strlen(word)) == 0;
}

bool credential_path(const char *text, char path[PATH_MAX], struct reason *why)
{
    const char *name = text + strlen(word);
    const char *dir = getenv("CREDENTIALS_DIRECTORY");
    int len;

    // Neither a way out of the directory nor the directory itself.
    if (*name == '\0' || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        reason_set(why, "`%s` is not the name of a credential", text);
        return false;
    }
    if (!dir || *dir != '/') {
        reason_set(why, "`%s`: no credentials were handed over ($CREDENTIALS_DIRECTORY)", text);
        return false;
    }
    len = snprintf(path, PATH_MAX, "%s/%s", dir, name);
    if (len < 0 || len >= PATH_MAX) {
        reason_set(why, "`%s`: the path is too long", text);
        return false;
    }
    return true;
}
