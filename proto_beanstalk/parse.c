/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/parse.h"

#include <stddef.h>

typedef enum bean_verdict (*parse_fn)(struct slice rest, struct bean_command *command);

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct slice skip_spaces(struct slice rest)
{
    while (rest.len && *rest.ptr == ' ') {
        rest = slice_from(rest, 1);
    }
    return rest;
}

// Takes decimal digits, at least one, off the front. False where there is none or they exceed max.
static bool take_digits(struct slice *rest, uint64_t max, uint64_t *number)
{
    const char *at = rest->ptr;
    const char *end = at + rest->len;
    const uint64_t most = max / 10;
    const unsigned last = (unsigned)(max % 10);
    uint64_t value = 0;

    while (at < end && is_digit(*at)) {
        unsigned digit = (unsigned)(*at++ - '0');

        if (value > most || (value == most && digit > last)) {
            return false;
        }
        value = value * 10 + digit;
    }
    if (at == rest->ptr) {
        return false;
    }
    *rest = slice_of(at, (size_t)(end - at));
    *number = value;
    return true;
}

static bool take_u64(struct slice *rest, uint64_t *number)
{
    *rest = skip_spaces(*rest);
    return take_digits(rest, UINT64_MAX, number);
}

static bool take_u32(struct slice *rest, uint32_t *number)
{
    uint64_t value;

    *rest = skip_spaces(*rest);
    if (!take_digits(rest, UINT32_MAX, &value)) {
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

// The last number must end the line.
static enum bean_verdict good_at_end(bool good, struct slice rest)
{
    return good && rest.len == 0 ? BEAN_GOOD : BEAN_BAD;
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
    bool good = take_u64(&rest, &command->id);

    return good_at_end(good, rest);
}

static enum bean_verdict parse_bury(struct slice rest, struct bean_command *command)
{
    bool good = take_u64(&rest, &command->id) && take_u32(&rest, &command->pri);

    return good_at_end(good, rest);
}

static enum bean_verdict parse_release(struct slice rest, struct bean_command *command)
{
    bool good = take_u64(&rest, &command->id) && take_u32(&rest, &command->pri) &&
                take_u32(&rest, &command->delay);

    return good_at_end(good, rest);
}

static enum bean_verdict parse_put(struct slice rest, struct bean_command *command)
{
    bool good = take_u32(&rest, &command->pri) && take_u32(&rest, &command->delay) &&
                take_u32(&rest, &command->ttr) && take_u32(&rest, &command->bytes);

    if (!good) {
        return BEAN_BAD;
    }
    return rest.len ? BEAN_BAD_LATE : BEAN_GOOD;
}

// Whatever follows the number is ignored.
static enum bean_verdict parse_timeout(struct slice rest, struct bean_command *command)
{
    bool good = take_u32(&rest, &command->timeout);

    return good && command->timeout <= INT32_MAX ? BEAN_GOOD : BEAN_BAD;
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

    rest = skip_spaces(rest);
    name = slice_of(rest.ptr, name_bytes(rest));
    rest = slice_from(rest, name.len);
    if (name.len == 0 || !take_u32(&rest, &command->delay) || rest.len) {
        return BEAN_BAD;
    }
    command->name = name;
    return bean_name_valid(name) ? BEAN_GOOD : BEAN_BAD_LATE;
}

struct form {
    struct slice token;
    parse_fn parse;
};

#define FORM(token, parse)                                                                         \
    {                                                                                              \
        {(token), sizeof(token) - 1}, (parse)                                                      \
    }

static const struct form forms[BEAN_VERBS + 1] = {
    [BEAN_BURY] = FORM("bury ", parse_bury),
    [BEAN_DELETE] = FORM("delete ", parse_id),
    [BEAN_IGNORE] = FORM("ignore ", parse_name),
    [BEAN_KICK] = FORM("kick ", parse_kick),
    [BEAN_KICK_JOB] = FORM("kick-job ", parse_id),
    [BEAN_LIST_TUBES_WATCHED] = FORM("list-tubes-watched", parse_nothing),
    [BEAN_LIST_TUBES] = FORM("list-tubes", parse_nothing),
    [BEAN_LIST_TUBE_USED] = FORM("list-tube-used", parse_nothing),
    [BEAN_PUT] = FORM("put ", parse_put),
    [BEAN_PEEK] = FORM("peek ", parse_id),
    [BEAN_PEEK_READY] = FORM("peek-ready", parse_nothing),
    [BEAN_PEEK_DELAYED] = FORM("peek-delayed", parse_nothing),
    [BEAN_PEEK_BURIED] = FORM("peek-buried", parse_nothing),
    [BEAN_PAUSE_TUBE] = FORM("pause-tube", parse_pause),
    [BEAN_QUIT] = FORM("quit", parse_anything),
    [BEAN_RESERVE_WITH_TIMEOUT] = FORM("reserve-with-timeout ", parse_timeout),
    [BEAN_RESERVE_JOB] = FORM("reserve-job ", parse_id),
    [BEAN_RESERVE] = FORM("reserve", parse_nothing),
    [BEAN_RELEASE] = FORM("release ", parse_release),
    [BEAN_STATS_JOB] = FORM("stats-job ", parse_id),
    [BEAN_STATS_TUBE] = FORM("stats-tube ", parse_name),
    [BEAN_STATS] = FORM("stats", parse_nothing),
    [BEAN_TOUCH] = FORM("touch ", parse_id),
    [BEAN_USE] = FORM("use ", parse_name),
    [BEAN_WATCH] = FORM("watch ", parse_name),
    [BEAN_VERBS] = FORM("~", NULL), // begins with no command's letter: ends every search
};

// The first form that begins with each letter, 0 for none.
static const unsigned char first_form['z' - 'a' + 1] = {
    ['b' - 'a'] = BEAN_BURY,
    ['d' - 'a'] = BEAN_DELETE,
    ['i' - 'a'] = BEAN_IGNORE,
    ['k' - 'a'] = BEAN_KICK,
    ['l' - 'a'] = BEAN_LIST_TUBES_WATCHED,
    ['p' - 'a'] = BEAN_PUT,
    ['q' - 'a'] = BEAN_QUIT,
    ['r' - 'a'] = BEAN_RESERVE_WITH_TIMEOUT,
    ['s' - 'a'] = BEAN_STATS_JOB,
    ['t' - 'a'] = BEAN_TOUCH,
    ['u' - 'a'] = BEAN_USE,
    ['w' - 'a'] = BEAN_WATCH,
};

static bool begins_with(struct slice line, struct slice token)
{
    return line.len >= token.len && memcmp(line.ptr, token.ptr, token.len) == 0;
}

static enum bean_verb find_verb(struct slice line)
{
    unsigned verb = BEAN_UNKNOWN;
    char letter;

    if (line.len == 0) {
        return BEAN_UNKNOWN;
    }
    letter = *line.ptr;
    if (letter >= 'a' && letter <= 'z') {
        verb = first_form[letter - 'a'];
    }
    for (; verb != BEAN_UNKNOWN && *forms[verb].token.ptr == letter; verb++) {
        if (begins_with(line, forms[verb].token)) {
            return (enum bean_verb)verb;
        }
    }
    return BEAN_UNKNOWN;
}

void bean_parse(struct slice line, struct bean_command *command)
{
    command->verb = BEAN_UNKNOWN;
    command->verdict = BEAN_BAD;
    if (line.len && memchr(line.ptr, '\0', line.len)) {
        return;
    }
    command->verb = find_verb(line);
    if (command->verb == BEAN_UNKNOWN) {
        command->verdict = BEAN_GOOD;
        return;
    }
    command->verdict =
        forms[command->verb].parse(slice_from(line, forms[command->verb].token.len), command);
}

bool bean_name_valid(struct slice name)
{
    return name.len > 0 && name.len <= BEAN_NAME_MAX && *name.ptr != '-' &&
           name_bytes(name) == name.len;
}
