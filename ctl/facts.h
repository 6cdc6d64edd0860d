/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_FACTS_H
#define TANDEM_CTL_FACTS_H

// What is known of one thing: a label and a value on each line, added to what is to be printed.

#include "core/base/slice.h"
#include "ctl/command.h"
#include "ctl/print/style.h"

#include <stdint.h>

// Values may be other people's: they are escaped.
void fact_text(struct context *context, const char *label, struct slice value);
void fact(struct context *context, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fact_styled(struct context *context, const char *label, enum style style, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

// A heading.
void fact_title(struct context *context, struct slice title);

// "1 job", "1,234 jobs": the word with an s where it is not one.
void add_number_of(struct text *to, uint64_t count, const char *word);

// A moment in seconds since 1970, by the clock of the wall, here.
struct moment {
    char text[32];
};
struct moment moment_of(double seconds);

#endif
