/* SPDX-License-Identifier: MIT */
#include "core/base/glob.h"

#include <stdint.h>

// Returned instead of a position in a malformed glob.
#define GLOB_MALFORMED SIZE_MAX

static unsigned char glob_byte(struct slice s, size_t at)
{
    return (unsigned char)s.ptr[at];
}

// Reads a byte of a set, or one end of a range, at `at`. Returns the position after it.
static size_t glob_read_member(struct slice glob, size_t at, unsigned char *byte)
{
    if (at < glob.len && glob.ptr[at] == '\\') {
        at++;
    } else if (at + 1 < glob.len && glob.ptr[at] == '[' &&
               (glob.ptr[at + 1] == ':' || glob.ptr[at + 1] == '.' || glob.ptr[at + 1] == '=')) {
        return GLOB_MALFORMED;
    }
    if (at >= glob.len) {
        return GLOB_MALFORMED;
    }
    *byte = glob_byte(glob, at);
    return at + 1;
}

// Matches the byte against the set whose members begin at `at`. Returns the position after its
// bracket.
static size_t glob_match_set(struct slice glob, size_t at, unsigned char byte, bool *fits)
{
    bool others = at < glob.len && (glob.ptr[at] == '!' || glob.ptr[at] == '^');
    bool found = false;
    size_t first;

    at += others;
    for (first = at; at == first || (at < glob.len && glob.ptr[at] != ']');) {
        unsigned char low = 0, high;

        at = glob_read_member(glob, at, &low);
        high = low;
        if (at != GLOB_MALFORMED && at + 1 < glob.len && glob.ptr[at] == '-' &&
            glob.ptr[at + 1] != ']') {
            at = glob_read_member(glob, at + 1, &high);
        }
        if (at == GLOB_MALFORMED || high < low) {
            return GLOB_MALFORMED;
        }
        found = found || (byte >= low && byte <= high);
    }
    *fits = found != others;
    return at < glob.len ? at + 1 : GLOB_MALFORMED;
}

// Matches one byte against the element at `at`, which is not a star. Returns the position after it.
static size_t glob_match_element(struct slice glob, size_t at, unsigned char byte, bool *fits)
{
    *fits = true;
    switch (glob.ptr[at]) {
    case '?':
        return at + 1;
    case '[':
        return glob_match_set(glob, at + 1, byte, fits);
    case '\\':
        if (++at == glob.len) {
            return GLOB_MALFORMED;
        }
        break;
    default:
        break;
    }
    *fits = glob_byte(glob, at) == byte;
    return at + 1;
}

bool glob_matches(struct slice glob, struct slice name)
{
    size_t at = 0, of = 0;
    // Where to retry if the part after the last star does not match here.
    size_t after_star = 0, retry_at = 0;
    bool starred = false;

    while (at < name.len) {
        bool fits = false;
        size_t next = 0;

        if (of < glob.len && glob.ptr[of] == '*') {
            starred = true;
            after_star = ++of;
            retry_at = at;
            if (of == glob.len) {
                return true;
            }
            continue;
        }
        if (of < glob.len) {
            next = glob_match_element(glob, of, glob_byte(name, at), &fits);
        }
        if (fits && next != GLOB_MALFORMED) {
            of = next;
            at++;
        } else if (starred) {
            of = after_star;
            at = ++retry_at;
        } else {
            return false;
        }
    }
    while (of < glob.len && glob.ptr[of] == '*') {
        of++;
    }
    return of == glob.len;
}

bool glob_valid(struct slice glob)
{
    bool fits;

    for (size_t at = 0; at < glob.len;) {
        at = glob.ptr[at] == '*' ? at + 1 : glob_match_element(glob, at, 0, &fits);
        if (at == GLOB_MALFORMED) {
            return false;
        }
    }
    return true;
}
