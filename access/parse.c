/* SPDX-License-Identifier: MIT */
#include "access/parse.h"

#include "access/rules.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "core/grants.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LINE_MOST 4096 // bytes
#define NAME_MOST 64   // bytes of a name in a file
// Room for a name that is made for a token.
#define NAME_MAX_SIZE 32

// The rights of an HTTP token on the functions of its globs.
#define TOKEN_RIGHTS (MAY_SUBMIT | MAY_OBSERVE | MAY_CANCEL)

#define OUT_OF_MEMORY "out of memory"

// The state of reading a file. All slices are of the text that the rules own.
struct rules_reader {
    struct rules *rules;
    struct slice rest; // the lines that have not been read
    unsigned line;     // the number of the current line, from 1
    struct slice word; // the word that is being read
    struct rule *rule; // the rule that the line becomes
};

//
// Lines, words, and the items of a word that is a list
//

// Gets the next line, without LF or CR LF. False: the text has ended.
static bool parse_next_line(struct rules_reader *reader, struct slice *line)
{
    const char *end;

    if (reader->rest.len == 0) {
        return false;
    }
    end = memchr(reader->rest.ptr, '\n', reader->rest.len);
    *line = slice_of(reader->rest.ptr, end ? (size_t)(end - reader->rest.ptr) : reader->rest.len);
    reader->rest = slice_from(reader->rest, line->len + (end ? 1 : 0));
    reader->line++;
    if (line->len > 0 && line->ptr[line->len - 1] == '\r') {
        line->len--;
    }
    return true;
}

// Returns NULL if the line is valid: not too long, and without control characters except tabs.
// Otherwise returns the error.
static const char *parse_check_line(struct slice line)
{
    if (line.len > LINE_MOST) {
        return "the line is too long";
    }
    for (size_t i = 0; i < line.len; i++) {
        unsigned char byte = (unsigned char)line.ptr[i];

        if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
            return "the line has a control character";
        }
    }
    return NULL;
}

// Takes the next word, up to a blank or a tab, off the line. False: there is none.
static bool parse_word(struct slice *line, struct slice *word)
{
    size_t len = 0;

    while (line->len > 0 && slice_is_blank(*line->ptr)) {
        *line = slice_from(*line, 1);
    }
    while (len < line->len && !slice_is_blank(line->ptr[len])) {
        len++;
    }
    *word = slice_of(line->ptr, len);
    *line = slice_from(*line, len);
    return len > 0;
}

// Takes the next item, up to a comma without a \ before it, off the list. False: there is none.
// After the last item, `list->ptr` is NULL; this distinguishes the end from an empty item.
static bool parse_item(struct slice *list, struct slice *item)
{
    size_t len = 0;

    if (!list->ptr) {
        return false;
    }
    while (len < list->len && list->ptr[len] != ',') {
        len += list->ptr[len] == '\\' && len + 1 < list->len ? 2 : 1;
    }
    *item = slice_of(list->ptr, len);
    *list = len < list->len ? slice_from(*list, len + 1) : slice_of(NULL, 0);
    return true;
}

//
// A rule: WHO MAY QUEUES [ROLE]
//

static const char *parse_who_token(struct rules_reader *reader, struct slice text)
{
    struct known_tokens *tokens = &reader->rules->tokens;
    const char *colon = text.len > 0 ? memchr(text.ptr, ':', text.len) : NULL;
    struct slice name = slice_of(text.ptr, colon ? (size_t)(colon - text.ptr) : text.len);
    struct token_digest digest;
    struct known_token *known;

    // The text after the name may be the token itself, by mistake, and must not be logged.
    reader->word.len -= text.len - name.len;
    if (name.len == 0 || name.len > NAME_MOST) {
        return "the name of a token has 1 to 64 bytes";
    }
    if (colon && !token_digest_read(slice_from(text, name.len + 1), &digest)) {
        return "the hash of a token has 64 hexadecimal digits, in lower case";
    }
    known = known_token_by_name(tokens, name);
    if (!known) {
        known = known_tokens_add(tokens, name, reader->line);
    }
    if (!known) {
        return OUT_OF_MEMORY;
    }
    reader->rule->who = (struct who){.kind = WHO_TOKEN, .token = known->number};
    return colon ? known_token_set_digest(tokens, known, &digest) : NULL;
}

static const char *parse_who_cert(struct rules_reader *reader, struct slice text)
{
    size_t len = text.len;
    const char *wrong = rules_unescape(reader->rules, &text);

    reader->word.len -= len - text.len;
    return wrong ? wrong : who_read_cert(text, &reader->rule->who);
}

static const char *parse_who_user(struct rules_reader *reader, struct slice text)
{
    return who_read_user(text, &reader->rule->who);
}

static const char *parse_who_group(struct rules_reader *reader, struct slice text)
{
    return who_read_group(text, &reader->rule->who);
}

static const char *parse_who_net(struct rules_reader *reader, struct slice text)
{
    return who_read_net(text, &reader->rule->who);
}

static const char *parse_who(struct rules_reader *reader, struct slice word)
{
    static const struct {
        struct slice prefix;
        const char *(*parse)(struct rules_reader *reader, struct slice text);
    } kinds[] = {
        {{"token:", 6}, parse_who_token}, {{"cert:", 5}, parse_who_cert},
        {{"user:", 5}, parse_who_user},   {{"group:", 6}, parse_who_group},
        {{"net:", 4}, parse_who_net},
    };
    const char *colon;

    if (slice_equal(word, SLICE("any"))) {
        reader->rule->who.kind = WHO_ANY;
        return NULL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct slice prefix = kinds[i].prefix;

        if (word.len >= prefix.len && memcmp(word.ptr, prefix.ptr, prefix.len) == 0) {
            return kinds[i].parse(reader, slice_from(word, prefix.len));
        }
    }
    // Even after an unknown kind, the text after the colon may be a token.
    colon = memchr(word.ptr, ':', word.len);
    if (colon) {
        reader->word.len = (size_t)(colon - word.ptr) + 1;
    }
    return "WHO must be any, token:, cert:, user:, group: or net:";
}

static const char *parse_may(struct rules_reader *reader, struct slice word)
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

    while (parse_item(&word, &item)) {
        unsigned rights = 0;

        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            rights |= slice_equal(item, words[i].word) ? words[i].rights : 0;
        }
        if (!rights) {
            reader->word = item;
            return "MAY must be a list of submit, work, observe, operate and admin, separated by "
                   "commas";
        }
        reader->rule->rights |= rights;
    }
    return NULL;
}

static const char *parse_queues(struct rules_reader *reader, struct slice word)
{
    struct slice glob;

    while (parse_item(&word, &glob)) {
        const char *wrong = rules_add_glob(reader->rules, &glob);

        if (wrong) {
            reader->word = glob;
            return wrong;
        }
    }
    return NULL;
}

static const char *parse_role(struct rules_reader *reader, struct slice word)
{
    reader->rule->role = word;
    return word.len > NAME_MOST ? "ROLE is longer than 64 bytes" : NULL;
}

static const char *parse_excess(struct rules_reader *reader, struct slice word)
{
    (void)reader;
    (void)word;
    return "only a comment may follow ROLE";
}

// Takes the next word; a comment ends the line.
static bool parse_next_word(struct slice *line, struct slice *word)
{
    return parse_word(line, word) && *word->ptr != '#';
}

// These two read one line and add at most one rule. They return NULL, or the error, which is about
// `word`, or, if that is empty, about the line.
static const char *parse_rule_line(struct rules_reader *reader, struct slice line)
{
    static const char *(*const readers[])(struct rules_reader *, struct slice) = {
        parse_who, parse_may, parse_queues, parse_role, parse_excess};
    const char *wrong = parse_check_line(line);
    size_t words = 0;

    reader->word = slice_of(NULL, 0);
    if (wrong || !parse_next_word(&line, &reader->word)) {
        return wrong;
    }
    reader->rule = rules_add(reader->rules);
    if (!reader->rule) {
        return OUT_OF_MEMORY;
    }
    do {
        wrong = readers[words++](reader, reader->word);
    } while (!wrong && parse_next_word(&line, &reader->word));
    if (!wrong && words < 3) {
        reader->word = slice_of(NULL, 0);
        wrong = "a rule is WHO MAY QUEUES [ROLE]";
    }
    return wrong;
}

//
// An HTTP token: HASH GLOBS. It may submit to these functions, and observe and cancel their jobs.
// Its name has the number of the first line with its hash.
//

static struct known_token *parse_token_of_line(struct rules_reader *reader,
                                               const struct token_digest *digest)
{
    struct known_tokens *tokens = &reader->rules->tokens;
    struct known_token *known = known_token_by_digest(tokens, digest);
    char name[NAME_MAX_SIZE];
    int len;

    if (known) {
        return known;
    }
    len = snprintf(name, sizeof name, "http.tokens:%u", reader->line);
    known = known_tokens_add(tokens, slice_of(name, (size_t)len), reader->line);
    return known && !known_token_set_digest(tokens, known, digest) ? known : NULL;
}

// Blanks separate globs as commas do, and empty globs are skipped.
static const char *parse_globs(struct rules_reader *reader, struct slice line)
{
    const char *wrong = NULL;
    struct slice glob;

    while (!wrong && parse_word(&line, &reader->word)) {
        struct slice list = reader->word;

        while (!wrong && parse_item(&list, &glob)) {
            wrong = glob.len > 0 ? rules_add_glob(reader->rules, &glob) : NULL;
            reader->word = wrong ? glob : reader->word;
        }
    }
    return wrong || reader->rule->globs > 0 ? wrong : "the line names no functions";
}

static const char *parse_token_line(struct rules_reader *reader, struct slice line)
{
    const char *wrong = parse_check_line(line);
    struct token_digest digest;
    struct known_token *known;

    reader->word = slice_of(NULL, 0);
    if (wrong || (line.len > 0 && *line.ptr == '#') || !parse_word(&line, &reader->word)) {
        return wrong;
    }
    if (!token_digest_read(reader->word, &digest)) {
        // The word may be the token itself, by mistake, and must not be logged.
        reader->word.len = 0;
        return "the line does not begin with the hash of a token";
    }
    reader->rule = rules_add(reader->rules);
    known = reader->rule ? parse_token_of_line(reader, &digest) : NULL;
    if (!known) {
        return OUT_OF_MEMORY;
    }
    reader->rule->who = (struct who){.kind = WHO_TOKEN, .token = known->number};
    reader->rule->rights = TOKEN_RIGHTS;
    return parse_globs(reader, line);
}

//
// A file
//

// Finds a token that is named, but whose hash no line gives.
static struct parse_error parse_find_unhashed(const struct known_tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++) {
        const struct known_token *known = tokens->list[i];

        if (!known->has_digest) {
            return (struct parse_error){known->line, known->name,
                                        "no line gives the hash of this token"};
        }
    }
    return (struct parse_error){.what = NULL};
}

static struct parse_error parse_text(struct slice text, struct rules *rules,
                                     const char *(*read_line)(struct rules_reader *, struct slice))
{
    struct rules_reader reader = {.rules = rules};
    const char *wrong = NULL;
    struct slice line;

    if (!rules_init(rules, text)) {
        return (struct parse_error){.what = OUT_OF_MEMORY};
    }
    reader.rest = slice_of(rules->text, text.len);
    while (!wrong && parse_next_line(&reader, &line)) {
        wrong = read_line(&reader, line);
    }
    return wrong ? (struct parse_error){reader.line, reader.word, wrong}
                 : parse_find_unhashed(&rules->tokens);
}

struct parse_error parse_rules(struct slice text, struct rules *rules)
{
    return parse_text(text, rules, parse_rule_line);
}

struct parse_error parse_tokens(struct slice text, struct rules *rules)
{
    return parse_text(text, rules, parse_token_line);
}
