/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_API_API_INPUT_H
#define TANDEM_ADMIN_API_API_INPUT_H

// Checks of the input (admin/request/input.h) that several routes share. Errors are noted in the
// input.

#include "core/status.h"

#include "admin/request/input.h"

#include <stddef.h>

// Begins the input of a request that takes neither a body nor parameters.
static inline void input_begin_plain(struct input *input, struct http1_conn *conn)
{
    static const char *const no_parameters[] = {NULL};

    input_begin_query(input, conn);
    input_parameters(input, no_parameters);
}

static inline void input_blame_forbidden(struct input *input)
{
    input_blame(input, 403, "%s", status_text(STATUS_FORBIDDEN));
}

static inline void input_blame_cursor(struct input *input)
{
    input_blame(input, 400, "cursor is not valid: use the `next` of the previous page");
}

#endif
