/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_TRANSPORT_TLS_H
#define TANDEM_SERVER_TRANSPORT_TLS_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "server/transport/transport.h"

#include <stdbool.h>

// TLS as a transport, by OpenSSL, which reads and writes the socket's descriptor itself. A struct
// tls is what all connections share: certificate, key, authorities, session tickets. It can be
// read again from the files while threads have connections open and do handshakes; existing
// connections keep the old state.
//
// OpenSSL cannot suppress SIGPIPE, so the process must ignore it.

// The values of `client_certs` and `min_version`, in the order of the choices in the setting.
enum tls_client_certs {
    TLS_CLIENT_CERTS_NONE,
    TLS_CLIENT_CERTS_OPTIONAL,
    TLS_CLIENT_CERTS_REQUIRED
};
enum tls_min_version { TLS_MIN_VERSION_1_2, TLS_MIN_VERSION_1_3 };

// The [tls] section. The files are in PEM.
struct tls_settings {
    char *certificate; // path; the file may hold the chain, too. Empty: no listener uses TLS
    char *key;         // path; empty: the key is in the certificate's file
    char *client_ca;   // path of the authorities of clients' certificates; empty: none
    char *ciphers;     // for TLS 1.2, in OpenSSL's notation; empty: OpenSSL's default
    int client_certs;  // enum tls_client_certs
    int min_version;   // enum tls_min_version
};

struct tls;

// Whether the settings are valid: the files exist and fit each other. Otherwise sets the reason,
// which begins with the key and names the file.
bool tls_check(const struct tls_settings *settings, struct error_text *why) MUST_USE;

// Reads the files. NULL with the reason in `why`, as above.
struct tls *tls_new(const struct tls_settings *settings, struct error_text *why) MUST_USE;

// Reads the files again, for tls_adopt(). False with the reason in `why`: nothing is prepared.
bool tls_prepare(struct tls *tls, const struct tls_settings *settings,
                 struct error_text *why) MUST_USE;

// Uses what was prepared for new handshakes, or discards it. Nothing if nothing is prepared.
void tls_adopt(struct tls *tls);
void tls_discard(struct tls *tls);

// Must be called after all connections are closed. NULL is allowed.
void tls_free(struct tls *tls);

// The argument `shared` of the transport's `begin`, one for each protocol.
struct tls_service {
    struct tls *tls;
    const char *alpn; // of struct frontend; NULL: the client's offers are ignored
    size_t (*message_len)(struct slice start); // of struct frontend; NULL: messages share records
};

extern const struct transport transport_tls;

#endif
