/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_FACTS_H
#define TANDEM_CTL_FACTS_H

// Facts about one object: a label and a value on each line, added to the output of the context.

#include "core/base/slice.h"
#include "ctl/command.h"
#include "ctl/print/screen.h"

#include <stdint.h>

// Values are escaped, since clients may have chosen them.
void fact_text(struct context *context, const char *label, struct slice value);
void fact(struct context *context, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fact_styled(struct context *context, const char *label, enum style style, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

// Adds a heading.
void fact_title(struct context *context, struct slice title);

// Adds the number and the word, with a plural s unless the number is 1: "1 job", "1,234 jobs".
void add_number_of(struct text *to, uint64_t count, const char *word);

// Formats `seconds` since 1970 as local time.
struct moment {
    char text[32];
};
struct moment moment_of(double seconds);

#endif
