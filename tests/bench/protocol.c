/* SPDX-License-Identifier: MIT */
#include "tests/bench/protocol.h"

#include <string.h>

static const struct protocol *const protocols[] = {&protocol_beanstalk, &protocol_gearman,
                                                   &protocol_http};

const struct protocol *protocol_find(const char *name)
{
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        if (strcmp(name, protocols[i]->name) == 0)
            return protocols[i];
    }
    return NULL;
}
