/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_FACT_LINES_H
#define TANDEM_CTL_FACT_LINES_H

// Facts about one object: a label and a value on each line, added to the output of the context.
// Values are escaped, since clients may have chosen them.

#include "core/base/slice.h"
#include "ctl/command.h"
#include "ctl/print/screen.h"

void fact_text(struct context *context, const char *label, struct slice value);
void fact(struct context *context, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fact_styled(struct context *context, const char *label, enum style style, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

// Adds a heading.
void fact_title(struct context *context, struct slice title);

// Adds the number and the total duration of syncs as "1,234, 5 ms on average"; nothing if there
// were none. `syncs` is the member of that name.
void fact_syncs(struct context *context, const json_t *syncs);

#endif
