/* SPDX-License-Identifier: MIT */
#include "ctl/verbs.h"

#include <stddef.h>

static const struct {
    struct slice action;
    const char *past;
    bool queues;
} verbs[] = {
    {{"delete", 6}, "deleted", false}, {{"kick", 4}, "kicked", false},
    {{"bury", 4}, "buried", false},    {{"release", 7}, "released", false},
    {{"move", 4}, "moved", false},     {{"change", 6}, "changed", false},
    {{"touch", 5}, "touched", false},  {{"pause", 5}, "paused", true},
    {{"resume", 6}, "resumed", true},
};

const char *verb_past(struct slice action)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (slice_equal(verbs[i].action, action)) {
            return verbs[i].past;
        }
    }
    return "done";
}

bool verb_is_of_queues(struct slice action)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (slice_equal(verbs[i].action, action)) {
            return verbs[i].queues;
        }
    }
    return false;
}
