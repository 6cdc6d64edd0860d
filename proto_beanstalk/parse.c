/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/parse.h"

#include "core/base/digits.h"
#include "proto_common/caller.h"

#include <stddef.h>

typedef enum bean_verdict (*parse_fn)(struct slice rest, struct bean_command *command);

static inline void skip_spaces(struct slice *rest)
{
    const char *at = rest->ptr, *end = slice_end(*rest);

    while (at < end && *at == ' ') {
        at++;
    }
    *rest = slice_of(at, (size_t)(end - at));
}

// Takes decimal digits, at least one, off the front. False where there is none or they exceed max.
static inline bool take_digits(struct slice *rest, uint64_t max, uint64_t *number)
{
    const char *start = rest->ptr, *end = slice_end(*rest);
    const char *at = digits_take(start, end, number);

    if (!at || at == start || *number > max) {
        return false;
    }
    *rest = slice_of(at, (size_t)(end - at));
    return true;
}

static inline bool take_u64(struct slice *rest, uint64_t *number)
{
    skip_spaces(rest);
    return take_digits(rest, UINT64_MAX, number);
}

static inline bool take_u32(struct slice *rest, uint32_t *number)
{
    uint64_t value;

    skip_spaces(rest);
    if (!take_digits(rest, UINT32_MAX, &value)) {
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

// The last number must end the line.
static enum bean_verdict good_at_end(bool taken, struct slice rest)
{
    return taken && rest.len == 0 ? BEAN_GOOD : BEAN_BAD;
}

static enum bean_verdict parse_nothing(struct slice rest, struct bean_command *command)
{
    (void)command;
    return good_at_end(true, rest);
}

static enum bean_verdict parse_anything(struct slice rest, struct bean_command *command)
{
    (void)rest;
    (void)command;
    return BEAN_GOOD;
}

static enum bean_verdict parse_id(struct slice rest, struct bean_command *command)
{
    return good_at_end(take_u64(&rest, &command->id), rest);
}

static enum bean_verdict parse_bury(struct slice rest, struct bean_command *command)
{
    bool taken = take_u64(&rest, &command->id) && take_u32(&rest, &command->pri);

    return good_at_end(taken, rest);
}

static enum bean_verdict parse_release(struct slice rest, struct bean_command *command)
{
    bool taken = take_u64(&rest, &command->id) && take_u32(&rest, &command->pri) &&
                 take_u32(&rest, &command->delay);

    return good_at_end(taken, rest);
}

static inline bool take_put(struct slice *rest, struct bean_command *command)
{
    return take_u32(rest, &command->pri) && take_u32(rest, &command->delay) &&
           take_u32(rest, &command->ttr) && take_u32(rest, &command->bytes);
}

static enum bean_verdict parse_put(struct slice rest, struct bean_command *command)
{
    if (!take_put(&rest, command)) {
        return BEAN_BAD;
    }
    return rest.len ? BEAN_BAD_COUNTED : BEAN_GOOD;
}

// Keys are somebody's own names: any bytes but blanks and other control characters.
static bool is_key(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if (byte <= ' ' || byte == 0x7f) {
            return false;
        }
    }
    return text.len > 0 && text.len <= BEAN_KEY_MAX;
}

static enum bean_verdict parse_put_unique(struct slice rest, struct bean_command *command)
{
    if (!take_put(&rest, command)) {
        return BEAN_BAD;
    }
    if (rest.len == 0 || *rest.ptr != ' ' || !is_key(slice_from(rest, 1))) {
        return BEAN_BAD_COUNTED;
    }
    command->key = slice_from(rest, 1);
    return BEAN_GOOD;
}

static enum bean_verdict parse_complete(struct slice rest, struct bean_command *command)
{
    bool taken = take_u64(&rest, &command->id) && take_u32(&rest, &command->bytes);

    return good_at_end(taken, rest);
}

static enum bean_verdict parse_progress(struct slice rest, struct bean_command *command)
{
    bool taken = take_u64(&rest, &command->id) && take_u32(&rest, &command->done) &&
                 take_u32(&rest, &command->total);

    return good_at_end(taken, rest);
}

static enum bean_verdict parse_batch(struct slice rest, struct bean_command *command)
{
    bool taken = take_u32(&rest, &command->bound) && take_u32(&rest, &command->timeout);

    if (good_at_end(taken, rest) != BEAN_GOOD || command->bound == 0 ||
        command->bound > BEAN_BATCH_MAX || command->timeout > INT32_MAX) {
        return BEAN_BAD;
    }
    return BEAN_GOOD;
}

// A longer line is malformed, but for a `reserve-batch`. To compare with that, too, would burden
// each command that is compared with later.
static enum bean_verdict parse_reserve(struct slice rest, struct bean_command *command)
{
    static const struct slice batch = {"-batch ", 7};

    if (rest.len == 0) {
        return BEAN_GOOD;
    }
    if (rest.len < batch.len || memcmp(rest.ptr, batch.ptr, batch.len) != 0) {
        return BEAN_BAD;
    }
    command->verb = BEAN_RESERVE_BATCH;
    return parse_batch(slice_from(rest, batch.len), command);
}

// Whatever follows the number is ignored.
static enum bean_verdict parse_timeout(struct slice rest, struct bean_command *command)
{
    return take_u32(&rest, &command->timeout) && command->timeout <= INT32_MAX ? BEAN_GOOD
                                                                               : BEAN_BAD;
}

static bool is_c_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// The reference reads this one with strtoul: white space, a sign and trailing text are accepted,
// and what exceeds 32 bits is cut to them.
static enum bean_verdict parse_kick(struct slice rest, struct bean_command *command)
{
    bool negative;
    uint64_t value;

    while (rest.len && is_c_space(*rest.ptr)) {
        rest = slice_from(rest, 1);
    }
    negative = rest.len && *rest.ptr == '-';
    if (negative || (rest.len && *rest.ptr == '+')) {
        rest = slice_from(rest, 1);
    }
    if (!take_digits(&rest, UINT64_MAX, &value)) {
        return BEAN_BAD;
    }
    command->bound = (uint32_t)(negative ? 0 - value : value);
    return BEAN_GOOD;
}

// Which bytes a name may contain.
static const bool name_byte[256] = {
    ['+'] = 1, ['-'] = 1, ['/'] = 1, [';'] = 1, ['.'] = 1, ['$'] = 1, ['_'] = 1, ['('] = 1,
    [')'] = 1, ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1,
    ['7'] = 1, ['8'] = 1, ['9'] = 1, ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1,
    ['F'] = 1, ['G'] = 1, ['H'] = 1, ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1,
    ['N'] = 1, ['O'] = 1, ['P'] = 1, ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1,
    ['V'] = 1, ['W'] = 1, ['X'] = 1, ['Y'] = 1, ['Z'] = 1, ['a'] = 1, ['b'] = 1, ['c'] = 1,
    ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1,
    ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1,
    ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1,
};

// How many bytes at the beginning may stand in a name.
static size_t name_bytes(struct slice text)
{
    size_t len = 0;

    while (len < text.len && name_byte[(unsigned char)text.ptr[len]]) {
        len++;
    }
    return len;
}

static enum bean_verdict parse_name(struct slice rest, struct bean_command *command)
{
    command->name = rest;
    return bean_name_valid(rest) ? BEAN_GOOD : BEAN_BAD;
}

// The name is as long as its bytes may stand in a name. Whether it is too long, or begins with a
// `-`, is looked at late.
static enum bean_verdict parse_pause(struct slice rest, struct bean_command *command)
{
    struct slice name;

    skip_spaces(&rest);
    name = slice_of(rest.ptr, name_bytes(rest));
    rest = slice_from(rest, name.len);
    if (name.len == 0 || !take_u32(&rest, &command->delay) || rest.len > 0) {
        return BEAN_BAD;
    }
    command->name = name;
    return bean_name_valid(name) ? BEAN_GOOD : BEAN_BAD_COUNTED;
}

static enum bean_verdict parse_token(struct slice rest, struct bean_command *command)
{
    command->token = rest;
    return wire_token_valid(rest) ? BEAN_GOOD : BEAN_BAD;
}

// How a command is written: what a line begins with, and what reads the rest of it.
struct syntax {
    struct slice token;
    parse_fn parse;
    bool ignores_rest; // whatever follows what `parse` reads
};

#define SYNTAX(token, parse)                                                                       \
    {                                                                                              \
        {(token), sizeof(token) - 1}, (parse), false                                               \
    }
#define SYNTAX_WITH_REST(token, parse)                                                             \
    {                                                                                              \
        {(token), sizeof(token) - 1}, (parse), true                                                \
    }

static const struct syntax syntaxes[BEAN_RESERVE_BATCH] = {
    [BEAN_PUT] = SYNTAX("put ", parse_put),
    [BEAN_DELETE] = SYNTAX("delete ", parse_id),
    [BEAN_RESERVE_WITH_TIMEOUT] = SYNTAX_WITH_REST("reserve-with-timeout ", parse_timeout),
    [BEAN_RESERVE_JOB] = SYNTAX("reserve-job ", parse_id),
    [BEAN_RESERVE] = SYNTAX("reserve", parse_reserve),
    [BEAN_RELEASE] = SYNTAX("release ", parse_release),
    [BEAN_TOUCH] = SYNTAX("touch ", parse_id),
    [BEAN_BURY] = SYNTAX("bury ", parse_bury),
    [BEAN_USE] = SYNTAX("use ", parse_name),
    [BEAN_WATCH] = SYNTAX("watch ", parse_name),
    [BEAN_IGNORE] = SYNTAX("ignore ", parse_name),
    [BEAN_KICK] = SYNTAX_WITH_REST("kick ", parse_kick),
    [BEAN_KICK_JOB] = SYNTAX("kick-job ", parse_id),
    [BEAN_PEEK] = SYNTAX("peek ", parse_id),
    [BEAN_PEEK_READY] = SYNTAX("peek-ready", parse_nothing),
    [BEAN_PEEK_DELAYED] = SYNTAX("peek-delayed", parse_nothing),
    [BEAN_PEEK_BURIED] = SYNTAX("peek-buried", parse_nothing),
    [BEAN_STATS_JOB] = SYNTAX("stats-job ", parse_id),
    [BEAN_STATS_TUBE] = SYNTAX("stats-tube ", parse_name),
    [BEAN_STATS] = SYNTAX("stats", parse_nothing),
    [BEAN_LIST_TUBES_WATCHED] = SYNTAX("list-tubes-watched", parse_nothing),
    [BEAN_LIST_TUBES] = SYNTAX("list-tubes", parse_nothing),
    [BEAN_LIST_TUBE_USED] = SYNTAX("list-tube-used", parse_nothing),
    [BEAN_PAUSE_TUBE] = SYNTAX("pause-tube", parse_pause),
    [BEAN_QUIT] = SYNTAX_WITH_REST("quit", parse_anything),
    [BEAN_AUTH] = SYNTAX("auth ", parse_token),
    [BEAN_PUT_UNIQUE] = SYNTAX("put-unique ", parse_put_unique),
    [BEAN_COMPLETE] = SYNTAX("complete ", parse_complete),
    [BEAN_PROGRESS] = SYNTAX("progress ", parse_progress),
    [BEAN_CLEAR_TUBE] = SYNTAX("clear-tube ", parse_name),
};

// That most first bytes differ, seen without a call of memcmp, is worth 2.5 % of a reserve and a
// delete, by tests/budget.
static bool begins_with(struct slice line, struct slice token)
{
    return line.len >= token.len && *line.ptr == *token.ptr &&
           memcmp(line.ptr, token.ptr, token.len) == 0;
}

static enum bean_verb find_verb(struct slice line)
{
    for (unsigned verb = BEAN_UNKNOWN + 1; verb < BEAN_RESERVE_BATCH; verb++) {
        if (begins_with(line, syntaxes[verb].token)) {
            return (enum bean_verb)verb;
        }
    }
    return BEAN_UNKNOWN;
}

void bean_parse(struct slice line, struct bean_command *command)
{
    const struct syntax *syntax = NULL;
    enum bean_verdict verdict = BEAN_GOOD;

    command->verb = find_verb(line);
    if (command->verb != BEAN_UNKNOWN) {
        syntax = &syntaxes[command->verb];
        verdict = syntax->parse(slice_from(line, syntax->token.len), command);
    }
    // Where every byte was understood, none is NUL. Not to look for one there is worth 1.8 % of a
    // pipelined put, by tests/budget.
    if ((!syntax || syntax->ignores_rest || verdict != BEAN_GOOD) && line.len &&
        memchr(line.ptr, '\0', line.len)) {
        command->verb = BEAN_UNKNOWN;
        verdict = BEAN_BAD;
    }
    command->verdict = verdict;
}

bool bean_is_put_unique(struct slice line)
{
    return begins_with(line, syntaxes[BEAN_PUT_UNIQUE].token);
}

bool bean_name_valid(struct slice name)
{
    return name.len > 0 && name.len <= BEAN_NAME_MAX && *name.ptr != '-' &&
           name_bytes(name) == name.len;
}
