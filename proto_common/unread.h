/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_UNREAD_H
#define TANDEM_PROTO_COMMON_UNREAD_H

// The limit for clients that do not read. Reports about jobs are stored for a client until it takes
// them, so a slow client holds up neither jobs nor workers. But memory is limited: a client that
// takes no output at present, and has left too much unread, is dropped. A client that keeps reading
// may have any amount of output on the way.
//
// Replies to commands need no such limit, because no further commands are parsed meanwhile.
//
// If the memory in use exceeds its limit, a client may leave little more unread than the output
// that a reading client has on the way.

#include "core/base/memory.h"

#include "proto_common/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The maximum of unread bytes while memory is short.
#define UNREAD_OVER ((uint64_t)64 * 1024)

// With up to this many unread bytes, a connection never exceeds the limit of its memory.
#define UNREAD_SMALL ((size_t)1024 * 1024)

// To be called before output is staged that the client has not just requested. True: the client was
// dropped, because it has left more than `most` bytes unread, or the connection uses more memory
// than its host allows. `elsewhere`: bytes that will be staged after the wire's output.
static inline bool wire_drop_unread(struct wire *wire, size_t elsewhere, uint64_t most)
{
    size_t unread = output_pending(&wire->out) + elsewhere;

    if (!wire->out.stalled) {
        return false;
    }
    if (memory_is_over() && most > UNREAD_OVER) {
        most = UNREAD_OVER;
    }
    if (unread <= most) {
        return unread > UNREAD_SMALL && wire->host->overflows(wire);
    }
    wire_drop(wire, "does not read what its jobs send");
    return true;
}

#endif
