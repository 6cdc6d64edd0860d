/* SPDX-License-Identifier: MIT */
#include "access/rules.h"

#include "access/line.h"

#include "core/base/glob.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16

bool rules_init(struct rules *rules, struct slice text)
{
    *rules = (struct rules){.text = malloc(text.len > 0 ? text.len : 1)};
    known_init(&rules->tokens);
    if (!rules->text) {
        return false;
    }
    if (text.len > 0) {
        memcpy(rules->text, text.ptr, text.len);
    }
    return true;
}

void rules_clear(struct rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        who_clear(&rules->list[i].who);
    }
    free(rules->list);
    free(rules->globs);
    known_clear(&rules->tokens);
    free(rules->text);
}

struct rule *rules_add(struct rules *rules)
{
    size_t room = rules->room ? 2 * rules->room : FIRST_ROOM;

    if (rules->count == rules->room) {
        struct rule *list = realloc(rules->list, room * sizeof *list);

        if (!list) {
            return NULL;
        }
        rules->list = list;
        rules->room = room;
    }
    rules->list[rules->count] = (struct rule){.glob = rules->glob_count};
    return &rules->list[rules->count++];
}

const char *rules_unescape(struct rules *rules, struct slice *glob)
{
    size_t len = line_unescape(rules->text + (glob->ptr - rules->text), glob->len);

    if (len > glob->len) {
        return "\\x is not followed by two hexadecimal digits";
    }
    glob->len = len;
    return NULL;
}

const char *rules_add_glob(struct rules *rules, struct slice *glob)
{
    size_t room = rules->glob_room ? 2 * rules->glob_room : FIRST_ROOM;
    const char *wrong = rules_unescape(rules, glob);

    if (wrong) {
        return wrong;
    }
    if (glob->len == 0) {
        return "the list of queues has an empty glob";
    }
    if (!glob_valid(*glob)) {
        return "the glob is malformed: a set, a range or a \\ is not complete";
    }
    if (rules->glob_count == rules->glob_room) {
        struct slice *globs = realloc(rules->globs, room * sizeof *globs);

        if (!globs) {
            return "out of memory";
        }
        rules->globs = globs;
        rules->glob_room = room;
    }
    rules->globs[rules->glob_count++] = *glob;
    rules->list[rules->count - 1].globs++;
    return NULL;
}
