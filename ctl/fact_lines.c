/* SPDX-License-Identifier: MIT */
#include "ctl/fact_lines.h"

#include "ctl/print/units.h"

#include <stdarg.h>
#include <string.h>

#define LABEL_WIDTH 14

static void add_fact(struct context *context, const char *label, enum style style,
                     struct slice value)
{
    struct text *out = &context->out;
    struct text escaped = {0};

    text_add_escaped(&escaped, value, false);
    style_add(out, STYLE_FAINT, context->screen.colour, slice_str(label));
    text_fill(out, ' ', strlen(label) < LABEL_WIDTH ? LABEL_WIDTH - strlen(label) : 1);
    style_add(out, style, context->screen.colour, text_slice(&escaped));
    text_put_char(out, '\n');
    text_free(&escaped);
}

__attribute__((format(printf, 4, 0))) static void
add_formatted_fact(struct context *context, const char *label, enum style style, const char *format,
                   va_list args)
{
    struct text value = {0};

    text_vformat(&value, format, args);
    add_fact(context, label, style, text_slice(&value));
    text_free(&value);
}

void fact_text(struct context *context, const char *label, struct slice value)
{
    add_fact(context, label, STYLE_PLAIN, value);
}

void fact(struct context *context, const char *label, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_formatted_fact(context, label, STYLE_PLAIN, format, args);
    va_end(args);
}

void fact_styled(struct context *context, const char *label, enum style style, const char *format,
                 ...)
{
    va_list args;

    va_start(args, format);
    add_formatted_fact(context, label, style, format, args);
    va_end(args);
}

void fact_title(struct context *context, struct slice title)
{
    struct text escaped = {0};

    text_add_escaped(&escaped, title, false);
    style_add(&context->out, STYLE_STRONG, context->screen.colour, text_slice(&escaped));
    text_put_char(&context->out, '\n');
    text_free(&escaped);
}

void fact_syncs(struct context *context, const json_t *syncs)
{
    uint64_t count = field_count(syncs, "count");

    if (count > 0) {
        fact(context, "syncs", "%s, %s on average", units_count(count).text,
             units_seconds(field_number(syncs, "sum_seconds") / (double)count).text);
    }
}
