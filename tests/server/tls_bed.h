/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_TLS_BED_H
#define TANDEM_TESTS_SERVER_TLS_BED_H

// The transport of TLS at one end of a socket pair, OpenSSL's client at the other, both driven by
// one thread.

#include "server/transport/tls.h"
#include "tests/server/tls_files.h"

#include <openssl/ssl.h>

struct tls_bed {
    char folder[FOLDER_ROOM];
    struct pair authority;
    struct pair server;
    struct tls_settings settings;
    struct tls *tls;
    struct tls_service service;
    SSL_CTX *client_context; // trusts the authority, and keeps the last ticket in `session`
    SSL_SESSION *session;
};

// One connection.
struct tls_link {
    int fd;       // the server's end
    int peer;     // the client's end
    uint64_t own; // the transport's state
    SSL *client;
    enum handshake handshake; // as of the last step
    struct error_text why;
};

// Files, and a client; `tls` is there, too.
void tls_bed_open(struct tls_bed *bed);
void tls_bed_close(struct tls_bed *bed);

// The same for cmocka: the state is the bed.
int tls_bed_setup(void **state);
int tls_bed_teardown(void **state);

// The settings have changed.
void tls_bed_reload(struct tls_bed *bed);

// A handshake that fails, for this reason.
void tls_bed_expect_refused(struct tls_bed *bed, const char *why);

// One that does not.
void tls_bed_expect_good(struct tls_bed *bed);

// The client starts again, without a ticket.
void tls_bed_forget_session(struct tls_bed *bed);

// Has the client show a certificate.
void tls_bed_show(struct tls_bed *bed, const struct pair *pair);

// A socket pair; the transport has begun, and the client, too.
void tls_link_open(struct tls_link *link, struct tls_bed *bed);
// The same without OpenSSL at the client's end.
void tls_link_open_raw(struct tls_link *link, struct tls_bed *bed);

// Has both go on with the handshake until the server's end is done or has failed.
void tls_link_shake(struct tls_link *link);

// Both of these: the handshake is done at both ends, and the client has its ticket.
void tls_link_connect(struct tls_link *link, struct tls_bed *bed);

void tls_link_close(struct tls_link *link);

// One receive into one part, and one send of one.
struct received tls_link_receive(struct tls_link *link, void *bytes, size_t len);
struct sent tls_link_send(struct tls_link *link, const void *bytes, size_t len);

// The client sends all of it, in one record.
void tls_link_say(const struct tls_link *link, const void *bytes, size_t len);
// It receives this and nothing else, for now.
void tls_link_hear(const struct tls_link *link, const char *text);

// OpenSSL's reason (ERR_GET_REASON) for the end of the client's last operation.
int tls_link_client_reason(void);

#endif
