/* SPDX-License-Identifier: MIT */
#include "tests/bench/floor_script.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

static struct floor_text read_text(const char *digits)
{
    struct floor_text text = {.len = strlen(digits) / 2};
    if (text.len > FLOOR_TEXT_MAX)
        errx(2, "%s: longer than %d bytes", digits, FLOOR_TEXT_MAX);
    for (size_t i = 0; i < text.len; i++) {
        const char pair[] = {digits[2 * i], digits[2 * i + 1], '\0'};
        text.bytes[i] = (char)strtoul(pair, NULL, 16);
    }
    return text;
}

static void read_step(struct floor_side *side, const char *word)
{
    char *at;
    struct floor_step step = {.request_len = strtoul(word, &at, 10)};
    if (step.request_len == 0 || side->count == FLOOR_STEPS_MAX)
        errx(2, "%s: no step, or one too many", word);
    for (; *at && *at != ':'; at++) {
        step.gives_notice |= *at == 'n';
        step.waits |= *at == 'w';
        if (*at == 'o')
            side->repeat_from = side->count + 1;
    }
    if (*at != ':')
        errx(2, "%s: a step is BYTES[o][n][w]:REPLY", word);
    step.reply = read_text(at + 1);
    side->steps[side->count++] = step;
}

void floor_script_read(struct floor_script *script, char **words)
{
    *script = (struct floor_script){0};
    for (; *words; words++) {
        if (**words != '@') {
            if (script->count == 0)
                errx(2, "%s: a side begins with @", *words);
            read_step(&script->sides[script->count - 1], *words);
        } else if (script->count < FLOOR_SIDES_MAX) {
            script->sides[script->count++].notice = read_text(*words + 1);
        } else {
            errx(2, "%s: one side too many", *words);
        }
    }
    for (size_t i = 0; i < script->count; i++) {
        if (script->sides[i].repeat_from >= script->sides[i].count)
            errx(2, "a side has no step to repeat");
    }
    if (script->count == 0)
        errx(2, "there is no side");
}
