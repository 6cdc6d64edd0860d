/* SPDX-License-Identifier: MIT */
#include "proto_gearman/packet.h"

#include "core/digits.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_LEN 4
#define MAGIC_REQ "\0REQ"
#define MAGIC_RES "\0RES"

struct shape {
    bool known;
    uint8_t args;
    bool data;
};

static const struct shape shapes[GEAR_TYPE_COUNT] = {
#define X(number, name, args, data) [number] = {true, args, data},
    GEAR_TYPES(X)
#undef X
};

bool gear_magic_good(struct slice input)
{
    size_t len = input.len < MAGIC_LEN ? input.len : MAGIC_LEN;

    return memcmp(input.ptr, MAGIC_REQ, len) == 0 || memcmp(input.ptr, MAGIC_RES, len) == 0;
}

static uint32_t read_u32(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;

    return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
}

static enum gear_magic read_magic(const char *at)
{
    if (memcmp(at, MAGIC_REQ, MAGIC_LEN) == 0) {
        return GEAR_MAGIC_REQ;
    }
    return memcmp(at, MAGIC_RES, MAGIC_LEN) == 0 ? GEAR_MAGIC_RES : GEAR_MAGIC_BAD;
}

struct gear_head gear_head_read(const char *input)
{
    return (struct gear_head){
        .magic = read_magic(input),
        .type = read_u32(input + 4),
        .len = read_u32(input + 8),
    };
}

bool gear_type_known(uint32_t type)
{
    return type < GEAR_TYPE_COUNT && shapes[type].known;
}

bool gear_type_has_data(uint32_t type)
{
    return shapes[type].data;
}

// Whether the last argument of a body that is all there may end with it.
static bool may_end_with_body(const struct shape *shape)
{
    return !shape->data || shape->args == 1;
}

enum gear_split gear_packet_split(enum gear_type type, struct slice body, bool whole,
                                  struct gear_packet *packet, size_t *used)
{
    const struct shape *shape = &shapes[type];
    struct slice rest = body;

    *packet = (struct gear_packet){.type = type};
    for (unsigned i = 0; i < shape->args; i++) {
        bool ends_with_body = whole && i + 1 == shape->args && may_end_with_body(shape);
        const char *nul = rest.len == 0 ? NULL : memchr(rest.ptr, 0, rest.len);
        size_t len = nul ? (size_t)(nul - rest.ptr) : rest.len;

        if (!nul && !ends_with_body) {
            return body.len >= GEAR_FIXED_MAX ? GEAR_SPLIT_TOO_LONG : GEAR_SPLIT_MORE;
        }
        packet->args[i] = slice_of(rest.ptr, len);
        rest = slice_from(rest, nul ? len + 1 : len);
    }
    *used = body.len - rest.len;
    return *used > GEAR_FIXED_MAX ? GEAR_SPLIT_TOO_LONG : GEAR_SPLIT_DONE;
}

int64_t gear_number_read(struct slice text)
{
    char copy[DIGITS_MAX + 2];
    size_t spaces = 0;
    size_t len;

    while (spaces < text.len && isspace((unsigned char)text.ptr[spaces])) {
        spaces++;
    }
    len = text.len - spaces < sizeof copy - 1 ? text.len - spaces : sizeof copy - 1;
    memcpy(copy, text.ptr + spaces, len);
    copy[len] = '\0';
    return strtoll(copy, NULL, 10);
}
