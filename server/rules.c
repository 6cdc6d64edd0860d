/* SPDX-License-Identifier: MIT */
#include "server/rules.h"

#include <stdlib.h>

struct rules *rules_read(const char *path, struct reason *why)
{
    struct rules *rules = calloc(1, sizeof *rules);
    struct access_reason reason = {"out of memory"};

    if (rules) {
        rules->references = 1;
        rules->access = access_read(path, &reason);
    }
    if (!rules || !rules->access) {
        reason_set(why, "[server] access_file: %s", reason.text);
        free(rules);
        return NULL;
    }
    return rules;
}

struct rules *rules_ref(struct rules *rules)
{
    if (rules) {
        rules->references++;
    }
    return rules;
}

void rules_unref(struct rules *rules)
{
    if (rules && --rules->references == 0) {
        access_free(rules->access);
        free(rules);
    }
}
