/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_GEARMAN_ESCAPE_H
#define TANDEM_PROTO_GEARMAN_ESCAPE_H

// Bytes that somebody chose (a function's name, a client's, a word that was typed) in an answer of
// text. Control bytes among them could end a line, or tell the terminal of whoever reads it what to
// do: they are written as %XX, with two hexadecimal digits.
//
// In lists, what is written can be read back: every % that is followed by two such digits begins an
// escape, because one that is part of the name is written as %25.

#include "proto_common/output.h"
#include "core/base/slice.h"

enum gear_escape {
    GEAR_ESCAPE_ECHO,  // what was typed: nothing but control bytes is escaped
    GEAR_ESCAPE_FIELD, // a field of a list, which tabs and line ends divide
    GEAR_ESCAPE_WORD   // the same where spaces divide, which are escaped, too
};

void gear_escape_write(struct output *out, struct slice text, enum gear_escape kind);

#endif
