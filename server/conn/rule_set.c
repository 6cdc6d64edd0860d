/* SPDX-License-Identifier: MIT */
#include "server/conn/rule_set.h"

#include <stdlib.h>

struct rule_set *rule_set_read(const char *path, struct error_text *why)
{
    struct rule_set *rules = calloc(1, sizeof *rules);

    if (!rules) {
        (void)error_set(why, "[server] access_file: out of memory");
        return NULL;
    }
    rules->references = 1;
    rules->access = access_read(path, why);
    if (!rules->access) {
        (void)error_prefix(why, "[server] access_file: ");
        free(rules);
        return NULL;
    }
    return rules;
}

struct rule_set *rule_set_ref(struct rule_set *rules)
{
    if (rules) {
        rules->references++;
    }
    return rules;
}

void rule_set_unref(struct rule_set *rules)
{
    if (rules && --rules->references == 0) {
        access_free(rules->access);
        free(rules);
    }
}
