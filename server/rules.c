/* SPDX-License-Identifier: MIT */
#include "server/rules.h"

#include <stdlib.h>

struct rules *rules_read(const char *path, struct error_text *why)
{
    struct rules *rules = calloc(1, sizeof *rules);

    (void)error_set(why, "out of memory");
    if (rules) {
        rules->references = 1;
        rules->access = access_read(path, why);
    }
    if (!rules || !rules->access) {
        (void)error_prefix(why, "[server] access_file: ");
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
