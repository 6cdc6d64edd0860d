/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_UNREAD_H
#define TANDEM_PROTO_COMMON_UNREAD_H

// The rule for clients that do not read. What jobs send to a client that waits for them is kept for
// it until it takes it: neither a job nor its worker is held up by a slow client. But nobody can be
// made to read, and memory has an end: where the peer takes no more at present, and has left too
// much unread, it is dropped. Of a client that takes all that it is sent, any amount may be on its
// way.
//
// What is answered to commands needs no such rule: nothing more is parsed meanwhile.
//
// Where more memory is in use than there may be, little more is kept for it than a connection that
// is read has on its way at a time.

#include "core/base/memory.h"

#include "proto_common/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a client may leave unread while there is too little memory.
#define UNREAD_OVER ((uint64_t)64 * 1024)

// Up to so many unread bytes, a connection never keeps more than it may.
#define UNREAD_SMALL ((size_t)1024 * 1024)

// To be called before something is staged that the client has not just asked for. True: it has left
// more than `most` unread, or all that the connection keeps is more than the host allows, and it is
// dropped. `elsewhere` is what waits to be staged behind what is in the wire's output.
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
