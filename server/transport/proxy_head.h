/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TRANSPORT_PROXY_HEAD_H
#define TANDEM_SERVER_TRANSPORT_PROXY_HEAD_H

// The head by which a proxy names its client, in front of the bytes of that client: the PROXY
// protocol of HAProxy (proxy-protocol.txt), version 1, a line of text, and version 2, binary. The
// addresses of TCP are read; other addresses and all extensions (TLVs) are skipped.

#include "core/base/macros.h"
#include "core/base/slice.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The address and the port of one end of a connection. Zeroed: unknown.
struct client_address {
    bool known;
    uint16_t port;
    struct in6_addr address; // an IPv4 address is mapped (::ffff:a.b.c.d)
};

// Sets the address, and `known`, from the four bytes of an IPv4 address.
void client_address_set_v4(struct client_address *address, const void *bytes);

enum proxy_head_step {
    PROXY_HEAD_MORE, // the head goes on
    PROXY_HEAD_DONE,
    PROXY_HEAD_BAD // this is not a head, or it is malformed
};

// What a head says about the connection.
enum proxy_head_says {
    PROXY_SAYS_CLIENT, // it is a client's, whose address is in `client`
    PROXY_SAYS_NOTHING // it is the proxy's own, as for a check of health
};

// The longest line of version 1, with its end.
#define PROXY_HEAD_LINE_MAX 107
// The longest head of version 2, with its extensions. A proxy may add a client's certificate.
#define PROXY_HEAD_MOST ((size_t)16384)

// A head that is being read. Zeroed: nothing of it was read.
struct proxy_head {
    struct client_address client; // after PROXY_HEAD_DONE; unknown: the proxy does not tell it
    enum proxy_head_says says;    // after PROXY_HEAD_DONE
    size_t len;                   /* private: bytes in `bytes` */
    size_t skip;                  /* private: bytes to pass over behind those */
    bool skips;                   /* private: all bytes that count were read */
    unsigned char bytes[PROXY_HEAD_LINE_MAX]; /* private */
};

// Reads on. `*taken`: the bytes of the input that belong to the head; the rest is the client's.
enum proxy_head_step proxy_head_feed(struct proxy_head *head, struct slice input, size_t *taken);

// Whether the input, which is not empty, may be the beginning of a head of version 2; `*whole`: the
// whole signature is there. No command of a protocol begins with it.
bool proxy_head_begins(struct slice input, bool *whole);

// Room for a head with addresses.
#define PROXY_HEAD_WRITE_MAX 52

// Writes a head of version 2, and returns its length: the connection is that of `client`, which may
// be unknown, to the address `server`; or, if `client` is NULL, it is the writer's own.
size_t proxy_head_write(unsigned char out[PROXY_HEAD_WRITE_MAX],
                        const struct client_address *client, const struct client_address *server);

#endif
