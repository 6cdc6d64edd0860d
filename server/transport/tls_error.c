/* SPDX-License-Identifier: MIT */
#include "server/transport/tls_private.h"

#include <errno.h>
#include <openssl/err.h>
#include <string.h>

const char *tls_openssl_reason(void)
{
    unsigned long code = ERR_peek_error();
    const char *text =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);

    return text ? text : "OpenSSL does not say why";
}

int tls_conn_error(struct tls_conn *conn, int failure)
{
    int error = errno;

    if (conn->error == 0) {
        bool gone = failure == SSL_ERROR_SYSCALL ||
                    ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;

        // Without a word of TLS, an end may have been made by anybody between the peer and us.
        conn->error = !gone ? EPROTO : error ? error : ECONNRESET;
    }
    return conn->error;
}
