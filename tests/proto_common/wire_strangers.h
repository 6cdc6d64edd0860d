/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_WIRE_STRANGERS_H
#define TANDEM_TESTS_PROTO_COMMON_WIRE_STRANGERS_H

// Which peers a front-end has told its host to be strangers: those that begin TLS.

#include "proto_common/wire.h"

// The host's `tls_hello`.
void strangers_note(const struct wire *wire);

// How many there were in this process.
unsigned strangers_noted(void);

#endif
