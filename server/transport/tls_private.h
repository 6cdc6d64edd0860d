/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TRANSPORT_TLS_PRIVATE_H
#define TANDEM_SERVER_TRANSPORT_TLS_PRIVATE_H

// The inside of TLS, for its own sources: tls.c (what the connections share), tls_context.c (makes
// it from the settings), tls_callbacks.c, tls_file.c, tls_names.c and tls_name_list.c (who the peer
// is), tls_hello.c (what a peer begins with), tls_bio.c (between OpenSSL and the socket),
// tls_conn.c (a connection's life) and tls_transfer.c (what it receives and sends).

#include "core/base/memory.h"
#include "proto_common/frontend.h"
#include "server/transport/tls.h"

#include <openssl/ssl.h>

// What a peer has begun with.
enum tls_hello {
    TLS_HELLO_AWAITED, // not enough of it is there
    TLS_HELLO_GOOD,    // a client's hello, as far as can be seen
    TLS_HELLO_PLAIN,   // text, or a packet of Gearman
    TLS_HELLO_OTHER    // something else
};

// As much of the first bytes as tells what they are: the header of a record and that of the
// message in it.
enum { TLS_HELLO_LEN = 9 };

// A handshake in which the client sends more than this is none.
#define TLS_HANDSHAKE_MAX ((size_t)64 * 1024)
// The same for its hello, and for its certificate with the chain. OpenSSL makes room for the whole
// of a message when its first bytes have come.
#define TLS_HELLO_MAX ((size_t)16 * 1024)
#define TLS_CHAIN_MAX ((size_t)32 * 1024)
// The names in a client's certificate take no more than this.
#define TLS_NAMES_MAX ((size_t)8 * 1024)

// So often may a peer have new keys made by one receive. It needs them once in millions of records.
#define TLS_KEY_UPDATES_MAX 16

// What OpenSSL has for a connection is not counted as it is allocated, but by these: while its
// handshake is under way, afterwards, and beyond that for the rest of a record that it has begun to
// receive or to send.
#define TLS_HANDSHAKE_COUNTED ((size_t)48 * 1024)
#define TLS_CONN_COUNTED ((size_t)12 * 1024)
#define TLS_RECORD_COUNTED ((size_t)17 * 1024)

// A connection's own. It does not move: OpenSSL points to it.
struct tls_conn {
    SSL *ssl;
    const char *alpn;                           // of the service; NULL: none
    size_t (*message_len)(struct slice start);  // of the service; NULL: messages share records
    size_t message_left;                        // bytes to leave before the next message begins
    char message_start[FRONTEND_MESSAGE_START]; // those of it that left before its length was known
    uint8_t message_start_len;
    struct peer_identity identity; // its texts are ours
    size_t taken;                  // bytes from the socket
    size_t counted;                // bytes of memory, in all
    int error;                     // of errno.h, once the connection is lost
    uint8_t hello;                 // enum tls_hello
    uint8_t key_updates;           // since the operation began
    uint8_t first_len;             // how many bytes of `first` are there
    bool done;                     // the handshake is
    bool drained;                  // the socket had less than was asked for
    bool handed_on;                // the receive has something to hand on
    bool stopped;                  // the peer asks for what no peer needs
    bool told;                     // the peer knows that nothing more comes
    unsigned char first[TLS_HELLO_LEN];
};

// A file that was read.
struct tls_file {
    char *bytes;
    size_t len;
    bool is_public; // everybody may read it, or write it
};

// Reads a regular file that `key` of [tls] names. False with the reason in `why`, which begins with
// key and file.
bool tls_file_read(struct tls_file *file, const char *key, const char *path,
                   struct error_text *why) MUST_USE;

// Zeroes are allowed.
void tls_file_free(struct tls_file *file);

// What connections share, by the settings. NULL with the reason in `why`.
SSL_CTX *tls_context_new(const struct tls_settings *settings, struct error_text *why) MUST_USE;

// Has OpenSSL ask and tell what it needs to.
void tls_callbacks_set(SSL_CTX *context);

// The beginning of a connection with what is shared at present. NULL without memory.
SSL *tls_make_ssl(struct tls *tls);

// OpenSSL's reason for what failed last in this thread, for a person.
const char *tls_openssl_reason(void);

// What `len` bytes, the first ones from a peer, are.
enum tls_hello tls_hello_judge(const unsigned char *bytes, size_t len);

// Takes the identity from the certificate. False with the reason in `why`: without memory, or where
// its texts are too long.
bool tls_names_take(struct peer_identity *identity, const X509 *certificate,
                    struct error_text *why) MUST_USE;

// The names alone, in one block. False without memory.
bool tls_name_list_take(struct peer_identity *identity, const X509 *certificate) MUST_USE;

void tls_names_free(struct peer_identity *identity);

// Puts the socket behind `conn->ssl`. False without memory.
bool tls_bio_begin(struct tls_conn *conn, int fd) MUST_USE;

// An operation begins: the socket may have something again.
static inline void tls_bio_look_again(struct tls_conn *conn)
{
    conn->drained = false;
    conn->handed_on = false;
    conn->key_updates = 0;
}

// So many bytes of memory are for the connection now.
static inline void tls_recount(struct tls_conn *conn, size_t bytes)
{
    if (bytes != conn->counted) {
        memory_count_of(MEMORY_CONNECTIONS, bytes);
        memory_uncount_of(MEMORY_CONNECTIONS, conn->counted);
        conn->counted = bytes;
    }
}

// What has become of the connection where OpenSSL says that an operation failed.
int tls_conn_error(struct tls_conn *conn, int failure);

// The operations of the transport that move bytes.
struct received tls_receive(int fd, void *own, const struct iovec *parts, unsigned count,
                            size_t len);
struct sent tls_send(int fd, void *own, const struct iovec *parts, unsigned count, size_t len);

static inline struct tls_conn *tls_conn_of(const void *own)
{
    return *(struct tls_conn *const *)own;
}

#endif
