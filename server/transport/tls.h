/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TRANSPORT_TLS_H
#define TANDEM_SERVER_TRANSPORT_TLS_H

// TLS as a transport, by OpenSSL, on the socket's descriptor itself. What all connections have in
// common (certificate, key, authorities, session tickets) is a struct tls; it can be read again
// while connections are open and handshakes are made, on any thread: those that have begun keep
// what they began with.
//
// OpenSSL writes to sockets without a flag against SIGPIPE: the process ignores that.

#include "core/base/macros.h"
#include "core/base/error_text.h"
#include "server/transport/transport.h"

#include <stdbool.h>

// The values of `client_certs` and `min_version`, in the order of their choices.
enum tls_client_certs {
    TLS_CLIENT_CERTS_NONE,
    TLS_CLIENT_CERTS_OPTIONAL,
    TLS_CLIENT_CERTS_REQUIRED
};
enum tls_min_version { TLS_MIN_VERSION_1_2, TLS_MIN_VERSION_1_3 };

// The [tls] section. Names of files in PEM.
struct tls_settings {
    char *certificate; // with the chain behind it; empty: nothing listens with TLS
    char *key;         // empty: it is in the same file as the certificate
    char *client_ca;   // authorities of clients' certificates; empty: none
    char *ciphers;     // of TLS 1.2, in OpenSSL's notation; empty: OpenSSL's own choice
    int client_certs;  // enum tls_client_certs
    int min_version;   // enum tls_min_version
};

struct tls;

// Whether connections can begin with these settings: the files are there and fit each other.
// Otherwise the reason, which begins with the key and names the file.
bool tls_check(const struct tls_settings *settings, struct error_text *why) MUST_USE;

// Reads the files. NULL with the reason in `why`, as above.
struct tls *tls_new(const struct tls_settings *settings, struct error_text *why) MUST_USE;

// Reads them again, and keeps what they hold aside. False with the reason in `why`: nothing is
// kept.
bool tls_prepare(struct tls *tls, const struct tls_settings *settings,
                 struct error_text *why) MUST_USE;

// Handshakes from now on use what was kept aside, or it is thrown away; if there is such.
void tls_adopt(struct tls *tls);
void tls_discard(struct tls *tls);

// No connection is there any more. NULL is allowed.
void tls_free(struct tls *tls);

// What `begin` of the transport is handed: `shared` of the services that speak one protocol.
struct tls_service {
    struct tls *tls;
    const char *alpn; // struct frontend's; NULL: what the client offers is not heard
    size_t (*message_len)(struct slice start); // struct frontend's; NULL: messages share records
};

extern const struct transport transport_tls;

#endif
