/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_ADVERTISE_H
#define TANDEM_SERVER_ADVERTISE_H

// Where a process that shares its journal with others can be reached, as it tells them: words
// parted by blanks, `PROTOCOL=HOST:PORT` for each address that it listens at, `PROTOCOL+tls=` where
// that is with TLS. The host is what the operator says, or the name of the machine: an address that
// is listened at may be any of the machine's. An IPv6 address stands in brackets. Unix sockets are
// left out.

#include "server/net/listener.h"

#include <stddef.h>

// Writes the text and a NUL to `text`; words for which there is no room are left out.
void advertise_write(const struct listeners *listeners, const char *host, char *text, size_t size);

#endif
