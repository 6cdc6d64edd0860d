/* SPDX-License-Identifier: MIT */
#include "server/config/fsync.h"

#include "core/base/digits.h"

#include <string.h>

bool fsync_parse(const char *text, nsec_t *every_for, struct error_text *why)
{
    uint64_t ms;

    if (strcmp(text, "always") == 0) {
        *every_for = 0;
        return true;
    }
    if (strcmp(text, "never") == 0) {
        *every_for = NSEC_NEVER;
        return true;
    }
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0') {
        return error_set(why, "`%s` is neither `always` nor `never` nor a number of milliseconds",
                         text);
    }
    if (!digits_read(slice_str(text), &ms) || ms > FSYNC_MOST_MS) {
        return error_set(why, "more than %d milliseconds", FSYNC_MOST_MS);
    }
    *every_for = (nsec_t)ms * NSEC_PER_MSEC;
    return true;
}
