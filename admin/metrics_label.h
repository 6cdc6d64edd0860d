/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_METRICS_LABEL_H
#define TANDEM_ADMIN_METRICS_LABEL_H

// The name of a queue as the value of a label. Prometheus takes UTF-8 only, and a queue may have
// any bytes but NUL for a name: one that is not UTF-8 becomes `bytes:` and the name with each byte
// that is no printable ASCII as \xNN and each backslash doubled; a name that begins with `bytes:`
// itself is treated so, too. No two names have the same label, then.

#include "core/base/slice.h"
#include "core/types.h"

#include <stddef.h>

// Each byte may be \xNN, whose backslash the format doubles.
#define METRICS_LABEL_MAX (6 + 5 * QUEUE_NAME_MAX)

// Writes the label of the queue of that name, escaped as it stands between the quotes, at most
// METRICS_LABEL_MAX bytes; returns how many.
size_t metrics_label(char *to, struct slice name);

// The same for any text: what is not UTF-8 in it is a question mark. At most twice its length.
size_t metrics_escape(char *to, struct slice text);

#endif
