/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/bean_parse.h"

#include "core/base/digits.h"
#include "proto_common/wire.h"

#include <stddef.h>

typedef enum bean_validity (*bean_parse_fn)(struct slice rest, struct bean_command *command);

// The CR after the line is neither a space nor a digit, and ends the loops here.

static inline void bean_skip_spaces(struct slice *rest)
{
    const char *at = rest->ptr, *end = slice_end(*rest);

    while (*at == ' ') {
        at++;
    }
    *rest = slice_of(at, (size_t)(end - at));
}

// Takes decimal digits off the front. False: there are none, or the number is above UINT64_MAX.
static inline bool bean_take_digits(struct slice *rest, uint64_t *number)
{
    const char *end = slice_end(*rest);
    const char *at = digits_take(rest->ptr, number);

    if (!at) {
        return false;
    }
    *rest = slice_of(at, (size_t)(end - at));
    return true;
}

static inline bool bean_take_u64(struct slice *rest, uint64_t *number)
{
    bean_skip_spaces(rest);
    return bean_take_digits(rest, number);
}

static inline bool bean_take_u32(struct slice *rest, uint32_t *number)
{
    uint64_t value;

    if (!bean_take_u64(rest, &value) || value > UINT32_MAX) {
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

// The last argument must end the line.
static enum bean_validity bean_check_end(bool taken, struct slice rest)
{
    return taken && rest.len == 0 ? BEAN_GOOD : BEAN_BAD;
}

static enum bean_validity bean_parse_nothing(struct slice rest, struct bean_command *command)
{
    (void)command;
    return bean_check_end(true, rest);
}

static enum bean_validity bean_parse_anything(struct slice rest, struct bean_command *command)
{
    (void)rest;
    (void)command;
    return BEAN_GOOD;
}

static enum bean_validity bean_parse_id(struct slice rest, struct bean_command *command)
{
    return bean_check_end(bean_take_u64(&rest, &command->id), rest);
}

static enum bean_validity bean_parse_bury(struct slice rest, struct bean_command *command)
{
    bool taken = bean_take_u64(&rest, &command->id) && bean_take_u32(&rest, &command->pri);

    return bean_check_end(taken, rest);
}

static enum bean_validity bean_parse_release(struct slice rest, struct bean_command *command)
{
    bool taken = bean_take_u64(&rest, &command->id) && bean_take_u32(&rest, &command->pri) &&
                 bean_take_u32(&rest, &command->delay);

    return bean_check_end(taken, rest);
}

static inline bool bean_take_put(struct slice *rest, struct bean_command *command)
{
    return bean_take_u32(rest, &command->pri) && bean_take_u32(rest, &command->delay) &&
           bean_take_u32(rest, &command->ttr) && bean_take_u32(rest, &command->bytes);
}

static enum bean_validity bean_parse_put(struct slice rest, struct bean_command *command)
{
    if (!bean_take_put(&rest, command)) {
        return BEAN_BAD;
    }
    return rest.len ? BEAN_BAD_COUNTED : BEAN_GOOD;
}

// Clients choose keys: any bytes are allowed except blanks and other control characters.
static bool bean_key_valid(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if (byte <= ' ' || byte == 0x7f) {
            return false;
        }
    }
    return text.len > 0 && text.len <= BEAN_KEY_MAX;
}

static enum bean_validity bean_parse_put_unique(struct slice rest, struct bean_command *command)
{
    if (!bean_take_put(&rest, command)) {
        return BEAN_BAD;
    }
    if (rest.len == 0 || *rest.ptr != ' ' || !bean_key_valid(slice_from(rest, 1))) {
        return BEAN_BAD_COUNTED;
    }
    command->key = slice_from(rest, 1);
    return BEAN_GOOD;
}

static enum bean_validity bean_parse_complete(struct slice rest, struct bean_command *command)
{
    bool taken = bean_take_u64(&rest, &command->id) && bean_take_u32(&rest, &command->bytes);

    return bean_check_end(taken, rest);
}

static enum bean_validity bean_parse_progress(struct slice rest, struct bean_command *command)
{
    bool taken = bean_take_u64(&rest, &command->id) && bean_take_u32(&rest, &command->done) &&
                 bean_take_u32(&rest, &command->total);

    return bean_check_end(taken, rest);
}

// `reserve-batch` is found here, and not in the table of commands, where every later command would
// be compared with it.
static enum bean_validity bean_parse_reserve(struct slice rest, struct bean_command *command)
{
    static const struct slice batch = {"-batch ", 7};
    bool taken;

    if (rest.len == 0) {
        return BEAN_GOOD;
    }
    if (rest.len < batch.len || memcmp(rest.ptr, batch.ptr, batch.len) != 0) {
        return BEAN_BAD;
    }
    command->verb = BEAN_RESERVE_BATCH;
    rest = slice_from(rest, batch.len);
    taken = bean_take_u32(&rest, &command->bound) && bean_take_u32(&rest, &command->timeout) &&
            command->bound > 0 && command->bound <= BEAN_BATCH_MAX && command->timeout <= INT32_MAX;
    return bean_check_end(taken, rest);
}

// Ignores the text after the number, as beanstalkd does.
static enum bean_validity bean_parse_timeout(struct slice rest, struct bean_command *command)
{
    return bean_take_u32(&rest, &command->timeout) && command->timeout <= INT32_MAX ? BEAN_GOOD
                                                                                    : BEAN_BAD;
}

// beanstalkd reads this number with strtoul: white space, a sign and trailing text are allowed, and
// the number is cut to 32 bits.
static enum bean_validity bean_parse_kick(struct slice rest, struct bean_command *command)
{
    bool negative;
    uint64_t value;

    while (rest.len && (*rest.ptr == ' ' || (*rest.ptr >= '\t' && *rest.ptr <= '\r'))) {
        rest = slice_from(rest, 1);
    }
    negative = rest.len && *rest.ptr == '-';
    if (negative || (rest.len && *rest.ptr == '+')) {
        rest = slice_from(rest, 1);
    }
    if (!bean_take_digits(&rest, &value)) {
        return BEAN_BAD;
    }
    command->bound = (uint32_t)(negative ? 0 - value : value);
    return BEAN_GOOD;
}

// The bytes that a name may contain.
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

// The number of bytes at the front that a name may contain.
static size_t bean_name_prefix(struct slice text)
{
    size_t len = 0;

    while (len < text.len && name_byte[(unsigned char)text.ptr[len]]) {
        len++;
    }
    return len;
}

static enum bean_validity bean_parse_name(struct slice rest, struct bean_command *command)
{
    command->name = rest;
    return bean_name_valid(rest) ? BEAN_GOOD : BEAN_BAD;
}

// As in beanstalkd, the name ends at the first byte that a name may not contain, and the command
// counts in the statistics if only the length or the first byte of the name is wrong.
static enum bean_validity bean_parse_pause(struct slice rest, struct bean_command *command)
{
    struct slice name;

    bean_skip_spaces(&rest);
    name = slice_of(rest.ptr, bean_name_prefix(rest));
    rest = slice_from(rest, name.len);
    if (name.len == 0 || !bean_take_u32(&rest, &command->delay) || rest.len > 0) {
        return BEAN_BAD;
    }
    command->name = name;
    return bean_name_valid(name) ? BEAN_GOOD : BEAN_BAD_COUNTED;
}

static enum bean_validity bean_parse_token(struct slice rest, struct bean_command *command)
{
    command->token = rest;
    return wire_token_valid(rest) ? BEAN_GOOD : BEAN_BAD;
}

// The syntax of a command: the beginning of the line, and the function that reads the rest.
struct bean_syntax {
    struct slice token;
    bean_parse_fn parse;
    bool ignores_rest; // `parse` does not read the whole line
};

#define SYNTAX(token, parse)                                                                       \
    {                                                                                              \
        {(token), sizeof(token) - 1}, (parse), false                                               \
    }
#define SYNTAX_WITH_REST(token, parse)                                                             \
    {                                                                                              \
        {(token), sizeof(token) - 1}, (parse), true                                                \
    }

static const struct bean_syntax bean_syntaxes[BEAN_RESERVE_BATCH] = {
    [BEAN_PUT] = SYNTAX("put ", bean_parse_put),
    [BEAN_DELETE] = SYNTAX("delete ", bean_parse_id),
    [BEAN_RESERVE_WITH_TIMEOUT] = SYNTAX_WITH_REST("reserve-with-timeout ", bean_parse_timeout),
    [BEAN_RESERVE_JOB] = SYNTAX("reserve-job ", bean_parse_id),
    [BEAN_RESERVE] = SYNTAX("reserve", bean_parse_reserve),
    [BEAN_RELEASE] = SYNTAX("release ", bean_parse_release),
    [BEAN_TOUCH] = SYNTAX("touch ", bean_parse_id),
    [BEAN_BURY] = SYNTAX("bury ", bean_parse_bury),
    [BEAN_USE] = SYNTAX("use ", bean_parse_name),
    [BEAN_WATCH] = SYNTAX("watch ", bean_parse_name),
    [BEAN_IGNORE] = SYNTAX("ignore ", bean_parse_name),
    [BEAN_KICK] = SYNTAX_WITH_REST("kick ", bean_parse_kick),
    [BEAN_KICK_JOB] = SYNTAX("kick-job ", bean_parse_id),
    [BEAN_PEEK] = SYNTAX("peek ", bean_parse_id),
    [BEAN_PEEK_READY] = SYNTAX("peek-ready", bean_parse_nothing),
    [BEAN_PEEK_DELAYED] = SYNTAX("peek-delayed", bean_parse_nothing),
    [BEAN_PEEK_BURIED] = SYNTAX("peek-buried", bean_parse_nothing),
    [BEAN_STATS_JOB] = SYNTAX("stats-job ", bean_parse_id),
    [BEAN_STATS_TUBE] = SYNTAX("stats-tube ", bean_parse_name),
    [BEAN_STATS] = SYNTAX("stats", bean_parse_nothing),
    [BEAN_LIST_TUBES_WATCHED] = SYNTAX("list-tubes-watched", bean_parse_nothing),
    [BEAN_LIST_TUBES] = SYNTAX("list-tubes", bean_parse_nothing),
    [BEAN_LIST_TUBE_USED] = SYNTAX("list-tube-used", bean_parse_nothing),
    [BEAN_PAUSE_TUBE] = SYNTAX("pause-tube", bean_parse_pause),
    [BEAN_QUIT] = SYNTAX_WITH_REST("quit", bean_parse_anything),
    [BEAN_AUTH] = SYNTAX("auth ", bean_parse_token),
    [BEAN_PUT_UNIQUE] = SYNTAX("put-unique ", bean_parse_put_unique),
    [BEAN_COMPLETE] = SYNTAX("complete ", bean_parse_complete),
    [BEAN_PROGRESS] = SYNTAX("progress ", bean_parse_progress),
    [BEAN_CLEAR_TUBE] = SYNTAX("clear-tube ", bean_parse_name),
};

// Comparing the first byte without a call of memcmp is worth 2.5 % of a reserve and a delete, by
// tests/budget.
static bool bean_begins_with(struct slice line, struct slice token)
{
    return line.len >= token.len && *line.ptr == *token.ptr &&
           memcmp(line.ptr, token.ptr, token.len) == 0;
}

static enum bean_verb bean_find_verb(struct slice line)
{
    for (unsigned verb = BEAN_UNKNOWN + 1; verb < BEAN_RESERVE_BATCH; verb++) {
        if (bean_begins_with(line, bean_syntaxes[verb].token)) {
            return (enum bean_verb)verb;
        }
    }
    return BEAN_UNKNOWN;
}

void bean_parse(struct slice line, struct bean_command *command)
{
    const struct bean_syntax *syntax = NULL;
    enum bean_validity validity = BEAN_GOOD;

    command->verb = bean_find_verb(line);
    if (command->verb != BEAN_UNKNOWN) {
        syntax = &bean_syntaxes[command->verb];
        validity = syntax->parse(slice_from(line, syntax->token.len), command);
    }
    // If `parse` has read every byte, none of them is NUL. Skipping the search then is worth 1.8 %
    // of a pipelined put, by tests/budget.
    if ((!syntax || syntax->ignores_rest || validity != BEAN_GOOD) && line.len &&
        memchr(line.ptr, '\0', line.len)) {
        command->verb = BEAN_UNKNOWN;
        validity = BEAN_BAD;
    }
    command->validity = validity;
}

bool bean_is_put_unique(struct slice line)
{
    return bean_begins_with(line, bean_syntaxes[BEAN_PUT_UNIQUE].token);
}

bool bean_name_valid(struct slice name)
{
    return name.len > 0 && name.len <= BEAN_NAME_MAX && *name.ptr != '-' &&
           bean_name_prefix(name) == name.len;
}
