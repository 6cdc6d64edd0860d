/* SPDX-License-Identifier: MIT */
#include "server/config/persona.h"

#include <string.h>

static const struct persona *const personas[] = {&persona_beanstalkd, &persona_gearmand};

static const struct persona *persona_named(const char *name)
{
    for (size_t i = 0; i < sizeof personas / sizeof *personas; i++) {
        if (strcmp(personas[i]->name, name) == 0) {
            return personas[i];
        }
    }
    return NULL;
}

// What --as says; NULL where it is not there. What stands behind `--` is no option.
static const char *asked_for(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--as=", 5) == 0) {
            return argv[i] + 5;
        }
        if (strcmp(argv[i], "--as") == 0) {
            return i + 1 < argc ? argv[i + 1] : "";
        }
    }
    return NULL;
}

bool persona_find(const struct persona **persona, int argc, char **argv, struct error_text *why)
{
    const char *name = asked_for(argc, argv);
    const char *slash;

    *persona = NULL;
    if (name) {
        *persona = persona_named(name);
        if (!*persona) {
            error_set(why, "--as: `%s` is neither beanstalkd nor gearmand", name);
        }
        return *persona != NULL;
    }
    if (argc > 0) {
        slash = strrchr(argv[0], '/');
        *persona = persona_named(slash ? slash + 1 : argv[0]);
    }
    return true;
}
