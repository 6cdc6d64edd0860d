/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_closings.h"

#include "core/base/log.h"
#include "tests/support/with_cmocka.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void note_reason(void *context, enum log_level level, const char *event,
                        const struct log_field *fields, size_t count)
{
    char *why = context;
    size_t len = strlen(why);

    assert_int_equal(level, LOG_LEVEL_DEBUG);
    assert_string_equal(event, "closing");
    assert_int_equal(count, 2);
    (void)snprintf(why + len, CLOSINGS_ROOM - len, "%.*s.", (int)fields[1].text.len,
                   fields[1].text.ptr);
}

void closings_note(char *why)
{
    log_set_sink(note_reason, why, LOG_LEVEL_DEBUG);
}

void closings_end(void)
{
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
}
