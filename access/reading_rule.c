/* SPDX-License-Identifier: MIT */
#include "access/reading.h"

#include "access/line.h"

#include "core/grants.h"

#include <string.h>

#define NAME_MOST 64

struct kind {
    struct slice prefix;
    const char *(*read)(struct reading *reading, struct slice text);
};

static bool begins(struct slice text, struct slice prefix)
{
    return text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0;
}

static const char *read_token(struct reading *reading, struct slice text)
{
    struct known_list *tokens = &reading->rules->tokens;
    const char *colon = text.len > 0 ? memchr(text.ptr, ':', text.len) : NULL;
    struct slice name = slice_of(text.ptr, colon ? (size_t)(colon - text.ptr) : text.len);
    struct token_digest digest;
    struct known *known;

    // The text after the name may be the token itself, by mistake, and must not be logged.
    reading->word.len -= text.len - name.len;
    if (name.len == 0 || name.len > NAME_MOST) {
        return "the name of a token has 1 to 64 bytes";
    }
    if (colon && !token_digest_read(slice_from(text, name.len + 1), &digest)) {
        return "the hash of a token has 64 hexadecimal digits, in lower case";
    }
    known = known_by_name(tokens, name);
    if (!known) {
        known = known_add(tokens, name, reading->line);
    }
    if (!known) {
        return READING_NO_MEMORY;
    }
    reading->rule->who = (struct who){.kind = WHO_TOKEN, .token = known->number};
    return colon ? known_set_digest(tokens, known, &digest) : NULL;
}

static const char *read_cert(struct reading *reading, struct slice text)
{
    size_t len = text.len;
    const char *wrong = rules_unescape(reading->rules, &text);

    reading->word.len -= len - text.len;
    return wrong ? wrong : who_read_cert(text, &reading->rule->who);
}

static const char *read_user(struct reading *reading, struct slice text)
{
    return who_read_user(text, &reading->rule->who);
}

static const char *read_group(struct reading *reading, struct slice text)
{
    return who_read_group(text, &reading->rule->who);
}

static const char *read_net(struct reading *reading, struct slice text)
{
    return who_read_net(text, &reading->rule->who);
}

// Even after an unknown kind, the text after the colon may be a token.
static void hide_rest(struct reading *reading)
{
    const char *colon = memchr(reading->word.ptr, ':', reading->word.len);

    if (colon) {
        reading->word.len = (size_t)(colon - reading->word.ptr) + 1;
    }
}

static const char *read_who(struct reading *reading, struct slice word)
{
    static const struct kind kinds[] = {
        {{"token:", 6}, read_token}, {{"cert:", 5}, read_cert}, {{"user:", 5}, read_user},
        {{"group:", 6}, read_group}, {{"net:", 4}, read_net},
    };

    if (slice_equal(word, SLICE("any"))) {
        reading->rule->who.kind = WHO_ANY;
        return NULL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (begins(word, kinds[i].prefix)) {
            return kinds[i].read(reading, slice_from(word, kinds[i].prefix.len));
        }
    }
    hide_rest(reading);
    return "WHO must be any, token:, cert:, user:, group: or net:";
}

static const char *read_may(struct reading *reading, struct slice word)
{
    static const struct {
        struct slice word;
        unsigned rights;
    } words[] = {
        {{"submit", 6}, MAY_SUBMIT},    {{"work", 4}, MAY_WORK},
        {{"observe", 7}, MAY_OBSERVE},  {{"operate", 7}, MAY_OPERATE},
        {{"admin", 5}, MAY_EVERYTHING},
    };
    struct slice item;

    while (line_item(&word, &item)) {
        unsigned rights = 0;

        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            rights |= slice_equal(item, words[i].word) ? words[i].rights : 0;
        }
        if (!rights) {
            reading->word = item;
            return "MAY must be a list of submit, work, observe, operate and admin, separated by "
                   "commas";
        }
        reading->rule->rights |= rights;
    }
    return NULL;
}

static const char *read_queues(struct reading *reading, struct slice word)
{
    struct slice glob;

    while (line_item(&word, &glob)) {
        const char *wrong = rules_add_glob(reading->rules, &glob);

        if (wrong) {
            reading->word = glob;
            return wrong;
        }
    }
    return NULL;
}

static const char *read_role(struct reading *reading, struct slice word)
{
    reading->rule->role = word;
    return word.len > NAME_MOST ? "ROLE is longer than 64 bytes" : NULL;
}

static const char *read_nothing(struct reading *reading, struct slice word)
{
    (void)reading;
    (void)word;
    return "only a comment may follow ROLE";
}

// Takes the next word; a comment ends the line.
static bool next_word(struct slice *line, struct slice *word)
{
    return line_word(line, word) && *word->ptr != '#';
}

const char *reading_rule(struct reading *reading, struct slice line)
{
    static const char *(*const readers[])(struct reading *, struct slice) = {
        read_who, read_may, read_queues, read_role, read_nothing};
    const char *wrong = line_check(line);
    size_t words = 0;

    reading->word = slice_of(NULL, 0);
    if (wrong || !next_word(&line, &reading->word)) {
        return wrong;
    }
    reading->rule = rules_add(reading->rules);
    if (!reading->rule) {
        return READING_NO_MEMORY;
    }
    do {
        wrong = readers[words++](reading, reading->word);
    } while (!wrong && next_word(&line, &reading->word));
    if (!wrong && words < 3) {
        reading->word = slice_of(NULL, 0);
        wrong = "a rule is WHO MAY QUEUES [ROLE]";
    }
    return wrong;
}
