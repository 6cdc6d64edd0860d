/* SPDX-License-Identifier: MIT */
#include "server/transport/proxy_head.h"

#include "core/base/digits.h"

#include <arpa/inet.h>
#include <string.h>

static const char proxy_line_start[] = "PROXY ";
static const unsigned char proxy_signature[] = {'\r', '\n', '\r', '\n', 0,   '\r',
                                                '\n', 'Q',  'U',  'I',  'T', '\n'};

// The fields of version 2 behind the signature (proxy-protocol.txt, 2.2).
enum {
    PROXY_FIELD_COMMAND = 12, // and the version, in the upper half
    PROXY_FIELD_FAMILY = 13,  // in the upper half, and the kind of socket
    PROXY_FIELD_LENGTH = 14,  // of what follows
    PROXY_FIELDS_END = 16,
    PROXY_VERSION = 2,
    PROXY_COMMAND_LOCAL = 0,
    PROXY_COMMAND_PROXY = 1,
    PROXY_FAMILY_UNSPEC = 0,
    PROXY_FAMILY_INET = 1,
    PROXY_FAMILY_INET6 = 2,
    PROXY_FAMILY_UNIX = 3,
    PROXY_SOCKET_STREAM = 1,
    PROXY_SOCKET_DGRAM = 2,
    PROXY_INET_LENGTH = 12,
    PROXY_INET6_LENGTH = 36,
    PROXY_UNIX_LENGTH = 216
};

_Static_assert((int)PROXY_FIELDS_END + (int)PROXY_INET6_LENGTH == PROXY_HEAD_WRITE_MAX,
               "the longest head that is written");
_Static_assert(PROXY_HEAD_WRITE_MAX <= PROXY_HEAD_LINE_MAX, "heads of both versions have room");

void client_address_set_v4(struct client_address *address, const void *bytes)
{
    memset(address->address.s6_addr, 0, 10);
    memset(address->address.s6_addr + 10, 0xff, 2);
    memcpy(address->address.s6_addr + 12, bytes, 4);
    address->known = true;
}

//
// Version 1
//

// Takes the next word off the line; the words are separated by single spaces.
static struct slice proxy_word(struct slice *line)
{
    const char *space = line->len > 0 ? memchr(line->ptr, ' ', line->len) : NULL;
    size_t len = space ? (size_t)(space - line->ptr) : line->len;
    struct slice word = slice_of(line->ptr, len);

    *line = slice_from(*line, space ? len + 1 : len);
    return word;
}

static bool proxy_read_address(struct slice word, bool v6, struct client_address *address)
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr v4;

    if (word.len == 0 || word.len >= sizeof text || memchr(word.ptr, '\0', word.len)) {
        return false;
    }
    memcpy(text, word.ptr, word.len);
    text[word.len] = '\0';
    if (v6) {
        address->known = inet_pton(AF_INET6, text, &address->address) == 1;
    } else if (inet_pton(AF_INET, text, &v4) == 1) {
        client_address_set_v4(address, &v4);
    }
    return address->known;
}

static bool proxy_read_port(struct slice word, struct client_address *address)
{
    uint64_t number;

    if (!digits_read(word, &number) || number > UINT16_MAX || (word.len > 1 && *word.ptr == '0')) {
        return false;
    }
    address->port = (uint16_t)number;
    return true;
}

// Reads the line, which begins as it must and is without its end.
static bool proxy_read_line(struct proxy_head *head, struct slice line)
{
    struct client_address client = {.known = false};
    struct client_address server = {.known = false};
    struct slice family;

    line = slice_from(line, sizeof proxy_line_start - 1);
    family = proxy_word(&line);
    if (slice_equal(family, SLICE("UNKNOWN"))) {
        // Whatever follows is to be ignored.
        return true;
    }
    if (!slice_equal(family, SLICE("TCP4")) && !slice_equal(family, SLICE("TCP6"))) {
        return false;
    }
    if (!proxy_read_address(proxy_word(&line), family.ptr[3] == '6', &client) ||
        !proxy_read_address(proxy_word(&line), family.ptr[3] == '6', &server) ||
        !proxy_read_port(proxy_word(&line), &client) || !proxy_read_port(line, &server)) {
        return false;
    }
    head->client = client;
    return true;
}

// One more byte of a line was read.
static enum proxy_head_step proxy_judge_line(struct proxy_head *head)
{
    const char *text = (const char *)head->bytes;
    size_t len = head->len;

    if (len < sizeof proxy_line_start) {
        return memcmp(text, proxy_line_start, len) == 0 ? PROXY_HEAD_MORE : PROXY_HEAD_BAD;
    }
    if (text[len - 1] != '\n') {
        return len < PROXY_HEAD_LINE_MAX ? PROXY_HEAD_MORE : PROXY_HEAD_BAD;
    }
    return text[len - 2] == '\r' && proxy_read_line(head, slice_of(text, len - 2)) ? PROXY_HEAD_DONE
                                                                                   : PROXY_HEAD_BAD;
}

//
// Version 2
//

// The bytes of an address of that family and kind of socket. False: there is no such family.
static bool proxy_address_length(unsigned family_byte, size_t *length)
{
    static const size_t lengths[] = {[PROXY_FAMILY_UNSPEC] = 0,
                                     [PROXY_FAMILY_INET] = PROXY_INET_LENGTH,
                                     [PROXY_FAMILY_INET6] = PROXY_INET6_LENGTH,
                                     [PROXY_FAMILY_UNIX] = PROXY_UNIX_LENGTH};
    unsigned family = family_byte >> 4;

    if (family > PROXY_FAMILY_UNIX || (family_byte & 0xf) > PROXY_SOCKET_DGRAM) {
        return false;
    }
    *length = lengths[family];
    return true;
}

// The fields were read: decides which bytes behind them count.
static enum proxy_head_step proxy_judge_fields(struct proxy_head *head)
{
    const unsigned char *bytes = head->bytes;
    unsigned command = bytes[PROXY_FIELD_COMMAND] & 0xf;
    size_t length = (size_t)bytes[PROXY_FIELD_LENGTH] << 8 | bytes[PROXY_FIELD_LENGTH + 1];
    size_t address_length = 0;
    bool is_tcp = bytes[PROXY_FIELD_FAMILY] == (PROXY_FAMILY_INET << 4 | PROXY_SOCKET_STREAM) ||
                  bytes[PROXY_FIELD_FAMILY] == (PROXY_FAMILY_INET6 << 4 | PROXY_SOCKET_STREAM);

    if (bytes[PROXY_FIELD_COMMAND] >> 4 != PROXY_VERSION || command > PROXY_COMMAND_PROXY ||
        length > PROXY_HEAD_MOST - PROXY_FIELDS_END) {
        return PROXY_HEAD_BAD;
    }
    head->skip = length;
    if (command == PROXY_COMMAND_LOCAL) {
        head->says = PROXY_SAYS_NOTHING;
        head->skips = true;
    } else if (!proxy_address_length(bytes[PROXY_FIELD_FAMILY], &address_length) ||
               length < address_length) {
        return PROXY_HEAD_BAD;
    } else {
        head->skips = !is_tcp;
        head->skip -= is_tcp ? address_length : 0;
    }
    return head->skips && head->skip == 0 ? PROXY_HEAD_DONE : PROXY_HEAD_MORE;
}

static enum proxy_head_step proxy_judge_addresses(struct proxy_head *head)
{
    const unsigned char *at = head->bytes + PROXY_FIELDS_END;
    bool v4 = head->bytes[PROXY_FIELD_FAMILY] >> 4 == PROXY_FAMILY_INET;
    size_t end = (size_t)PROXY_FIELDS_END + (v4 ? PROXY_INET_LENGTH : PROXY_INET6_LENGTH);

    if (head->len < end) {
        return PROXY_HEAD_MORE;
    }
    // Both addresses, then both ports.
    if (v4) {
        client_address_set_v4(&head->client, at);
        at += 8;
    } else {
        memcpy(&head->client.address, at, sizeof head->client.address);
        head->client.known = true;
        at += 32;
    }
    head->client.port = (uint16_t)(at[0] << 8 | at[1]);
    head->skips = true;
    return head->skip == 0 ? PROXY_HEAD_DONE : PROXY_HEAD_MORE;
}

// One more byte of a binary head was read.
static enum proxy_head_step proxy_judge_binary(struct proxy_head *head)
{
    if (head->len <= sizeof proxy_signature) {
        return memcmp(head->bytes, proxy_signature, head->len) == 0 ? PROXY_HEAD_MORE
                                                                    : PROXY_HEAD_BAD;
    }
    if (head->len < PROXY_FIELDS_END) {
        return PROXY_HEAD_MORE;
    }
    return head->len == PROXY_FIELDS_END ? proxy_judge_fields(head) : proxy_judge_addresses(head);
}

enum proxy_head_step proxy_head_feed(struct proxy_head *head, struct slice input, size_t *taken)
{
    enum proxy_head_step step = PROXY_HEAD_MORE;
    size_t passed;

    *taken = 0;
    while (step == PROXY_HEAD_MORE && *taken < input.len && !head->skips) {
        head->bytes[head->len++] = (unsigned char)input.ptr[(*taken)++];
        step = head->bytes[0] == proxy_signature[0] ? proxy_judge_binary(head)
                                                    : proxy_judge_line(head);
    }
    if (step == PROXY_HEAD_MORE && head->skips) {
        passed = input.len - *taken < head->skip ? input.len - *taken : head->skip;
        *taken += passed;
        head->skip -= passed;
        step = head->skip == 0 ? PROXY_HEAD_DONE : PROXY_HEAD_MORE;
    }
    return step;
}

bool proxy_head_begins(struct slice input, bool *whole)
{
    size_t len = input.len < sizeof proxy_signature ? input.len : sizeof proxy_signature;

    *whole = len == sizeof proxy_signature;
    return memcmp(input.ptr, proxy_signature, len) == 0;
}

size_t proxy_head_write(unsigned char out[PROXY_HEAD_WRITE_MAX],
                        const struct client_address *client, const struct client_address *server)
{
    unsigned ends_count = client && client->known ? 2 : 0;
    // A unix socket has no address that would go with the client's.
    const struct client_address *ends[] = {client,
                                           ends_count > 0 && !server->known ? client : server};
    bool v4 = ends_count > 0 && IN6_IS_ADDR_V4MAPPED(&ends[0]->address) &&
              IN6_IS_ADDR_V4MAPPED(&ends[1]->address);
    unsigned family = v4 ? PROXY_FAMILY_INET : PROXY_FAMILY_INET6;
    size_t size = v4 ? 4 : 16;
    unsigned char *at = out + PROXY_FIELDS_END;
    size_t length;

    memcpy(out, proxy_signature, sizeof proxy_signature);
    for (unsigned i = 0; i < ends_count; i++, at += size) {
        memcpy(at, ends[i]->address.s6_addr + (16 - size), size);
    }
    for (unsigned i = 0; i < ends_count; i++) {
        *at++ = (unsigned char)(ends[i]->port >> 8);
        *at++ = (unsigned char)(ends[i]->port & 0xff);
    }
    length = (size_t)(at - out) - PROXY_FIELDS_END;
    out[PROXY_FIELD_COMMAND] =
        (unsigned char)(PROXY_VERSION << 4 | (client ? PROXY_COMMAND_PROXY : PROXY_COMMAND_LOCAL));
    out[PROXY_FIELD_FAMILY] =
        (unsigned char)(ends_count > 0 ? family << 4 | PROXY_SOCKET_STREAM : PROXY_FAMILY_UNSPEC);
    out[PROXY_FIELD_LENGTH] = 0;
    out[PROXY_FIELD_LENGTH + 1] = (unsigned char)length;
    return PROXY_FIELDS_END + length;
}
