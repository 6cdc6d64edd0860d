/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_ESCAPE_H
#define TANDEM_PROTO_GEARMAN_ESCAPE_H

// Bytes that a peer chose (the name of a function, a client's id, a word that was typed) in an
// answer of the administration by text. Control bytes among them could end a line, or tell the
// administrator's terminal what to do: they are written as %XX, with two hexadecimal digits.
//
// In lists, what is written can be read back: every % that is followed by two such digits begins an
// escape, because one that is part of the name is written as %25.

#include "core/base/slice.h"
#include "proto_common/output.h"

enum gear_escape {
    GEAR_ESCAPE_ECHO,  // a word that was typed, in an error: control bytes alone are escaped
    GEAR_ESCAPE_FIELD, // a field of a list whose fields are divided by tabs
    GEAR_ESCAPE_WORD // a field of a list whose fields are divided by spaces, which are escaped, too
};

void gear_escape_write(struct output *out, struct slice text, enum gear_escape kind);

#endif
