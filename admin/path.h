/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_PATH_H
#define TANDEM_ADMIN_PATH_H

// The path of a request, compared with a pattern such as `/api/v1/queues/{name}/jobs`. It is
// divided at its slashes first and decoded then: a name may have any byte in it, a slash as %2F.

#include "core/base/slice.h"

#include <stdbool.h>

// The most segments in braces of a pattern.
#define PATH_ARGS_MAX 2

// Whether the path, as it came, is of that pattern; `args` are the segments that stand for the ones
// in braces, as they came. Such a segment is never empty.
bool path_matches(struct slice path, const char *pattern, struct slice args[PATH_ARGS_MAX]);

#endif
