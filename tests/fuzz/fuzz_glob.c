/* SPDX-License-Identifier: MIT */

// A glob and a name: the first byte says how long the glob is, and the name is the rest. Whether it
// is valid, and whether it fits, is worked out in another way, too: each element of the glob
// becomes the set of the bytes that it stands for, and how much of the name fits how many of them
// is a table.

#include "core/base/glob.h"
#include "core/base/macros.h"

#include <stdint.h>
#include <string.h>

#define NAME_MAX_SIZE 256
#define ELEMENTS_MAX 256

struct element {
    bool star;
    bool has[256];
};

static bool opens_class(unsigned char byte)
{
    return byte == ':' || byte == '.' || byte == '=';
}

static bool quoted(const unsigned char **at, const unsigned char *end, unsigned char *byte)
{
    if (*at < end && **at == '\\') {
        ++*at;
    } else if (end - *at > 1 && **at == '[' && opens_class((*at)[1])) {
        return false;
    }
    if (*at >= end) {
        return false;
    }
    *byte = *(*at)++;
    return true;
}

static bool read_set(const unsigned char **at, const unsigned char *end, struct element *element)
{
    bool others = *at < end && (**at == '!' || **at == '^');
    bool any = false;

    *at += others;
    while (*at < end && (**at != ']' || !any)) {
        unsigned char low, high;

        any = true;
        if (!quoted(at, end, &low)) {
            return false;
        }
        high = low;
        if (end - *at > 1 && **at == '-' && (*at)[1] != ']') {
            ++*at;
            if (!quoted(at, end, &high) || high < low) {
                return false;
            }
        }
        memset(element->has + low, true, (size_t)(high - low) + 1);
    }
    for (size_t i = 0; i < 256; i++) {
        element->has[i] = element->has[i] != others;
    }
    return any && *at < end && *(*at)++ == ']';
}

static bool read_element(const unsigned char **at, const unsigned char *end,
                         struct element *element)
{
    *element = (struct element){.star = **at == '*'};
    if (**at == '[') {
        ++*at;
        return read_set(at, end, element);
    }
    if (**at == '?') {
        memset(element->has, true, sizeof element->has);
    } else if (**at == '\\' && ++*at == end) {
        return false;
    } else {
        element->has[**at] = true;
    }
    ++*at;
    return true;
}

// Whether the name is as the elements say.
static bool fits(const struct element *elements, size_t count, const unsigned char *name,
                 size_t len)
{
    bool reached[NAME_MAX_SIZE + 1] = {true};

    for (size_t i = 0; i < count; i++) {
        bool next[NAME_MAX_SIZE + 1] = {false};

        for (size_t j = 0; j <= len; j++) {
            if (elements[i].star) {
                next[j] = reached[j] || (j > 0 && next[j - 1]);
            } else {
                next[j] = j > 0 && reached[j - 1] && elements[i].has[name[j - 1]];
            }
        }
        memcpy(reached, next, sizeof next);
    }
    return reached[len];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct element elements[ELEMENTS_MAX];
    size_t glob_len = size > 0 && data[0] < size ? data[0] : 0;
    const unsigned char *at = data + 1, *end = at + glob_len;
    size_t len = size > 0 ? size - 1 - glob_len : 0, count = 0;
    struct slice glob, name;
    bool valid = true;

    if (size == 0 || len > NAME_MAX_SIZE) {
        return 0;
    }
    glob = slice_of((const char *)at, glob_len);
    name = slice_of((const char *)end, len);
    while (valid && at < end) {
        valid = read_element(&at, end, &elements[count++]);
    }
    ENSURE(glob_valid(glob) == valid);
    ENSURE(glob_matches(glob, name) == (valid && fits(elements, count, end, len)));
    return 0;
}
