/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TRANSPORT_TLS_PRIVATE_H
#define TANDEM_SERVER_TRANSPORT_TLS_PRIVATE_H

// The private parts of TLS: tls.c makes the state that connections share from the settings,
// tls_conn.c begins and ends a connection, tls_transfer.c receives, sends and answers OpenSSL's
// callbacks, tls_names.c takes the peer's identity from its certificate.

#include "core/base/memory.h"
#include "proto_common/frontend.h"
#include "server/transport/tls.h"

#include <openssl/ssl.h>

// The kind of a peer's first bytes.
enum tls_hello {
    TLS_HELLO_AWAITED, // too few bytes to tell
    TLS_HELLO_GOOD,    // the header of a client hello
    TLS_HELLO_PLAIN,   // text, or a packet of Gearman
    TLS_HELLO_OTHER    // other bytes
};

// The bytes that determine the kind: the header of a record and of the message in it.
enum { TLS_HELLO_LEN = 9 };

// The most bytes that a client may send in a handshake.
#define TLS_HANDSHAKE_MAX ((size_t)64 * 1024)
// The most bytes of its hello, and of its certificate with the chain: OpenSSL allocates the whole
// message at its first bytes.
#define TLS_HELLO_MAX ((size_t)16 * 1024)
#define TLS_CHAIN_MAX ((size_t)32 * 1024)
// The most bytes of the names in a client's certificate.
#define TLS_NAMES_MAX ((size_t)8 * 1024)

// The most key updates that a peer may request in one receive. It needs one in millions of records.
#define TLS_KEY_UPDATES_MAX 16

// OpenSSL's memory for a connection is not counted as it is allocated, but estimated: during the
// handshake, afterwards, and additionally while a record is partly received or sent.
#define TLS_HANDSHAKE_COUNTED ((size_t)48 * 1024)
#define TLS_CONN_COUNTED ((size_t)12 * 1024)
#define TLS_RECORD_COUNTED ((size_t)17 * 1024)

// The state of a connection. It must not move, because OpenSSL points to it.
struct tls_conn {
    SSL *ssl;
    const char *alpn;                           // of the service; NULL: none
    size_t (*message_len)(struct slice start);  // of the service; NULL: messages share records
    size_t message_left;                        // bytes to send before the next message begins
    char message_start[FRONTEND_MESSAGE_START]; // its bytes sent before its length was known
    uint8_t message_start_len;
    struct peer_identity identity; // owns its texts
    size_t taken;                  // bytes read from the socket
    size_t counted;                // bytes of memory counted for the connection
    int error;                     // of errno.h; 0: the connection is not lost
    uint8_t hello;                 // enum tls_hello
    uint8_t key_updates;           // in this operation
    uint8_t first_len;             // bytes in `first`
    bool done;                     // the handshake is complete
    bool drained;                  // the socket had fewer bytes than were asked for
    bool got_bytes;                // this receive has bytes for its caller
    bool stopped;                  // the peer abuses renegotiation or key updates
    bool told;                     // close_notify was sent, or cannot be
    unsigned char first[TLS_HELLO_LEN];
};

// Sets OpenSSL's callbacks.
void tls_callbacks_set(SSL_CTX *context);

// Makes OpenSSL's part of a connection from the current shared state. NULL without memory.
SSL *tls_make_ssl(struct tls *tls);

// OpenSSL's reason of the last failure in this thread, for people.
const char *tls_openssl_reason(void);

// Takes the identity from the certificate. False with the reason in `why`: without memory, or if
// the names are too long.
bool tls_names_take(struct peer_identity *identity, const X509 *certificate,
                    struct error_text *why) MUST_USE;

void tls_names_free(struct peer_identity *identity);

// Sets the bytes of memory counted for the connection.
static inline void tls_recount(struct tls_conn *conn, size_t bytes)
{
    if (bytes != conn->counted) {
        memory_count_of(MEMORY_CONNECTIONS, bytes);
        memory_uncount_of(MEMORY_CONNECTIONS, conn->counted);
        conn->counted = bytes;
    }
}

// Returns the error of the connection, set from OpenSSL's result of an operation if it is the
// first.
int tls_conn_error(struct tls_conn *conn, int failure);

// The operations of the transport that receive and send.
struct received tls_receive(int fd, void *own, const struct iovec *parts, unsigned count,
                            size_t len);
struct sent tls_send(int fd, void *own, const struct iovec *parts, unsigned count, size_t len);

static inline struct tls_conn *tls_conn_of(const void *own)
{
    return *(struct tls_conn *const *)own;
}

#endif
