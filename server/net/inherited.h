/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NET_INHERITED_H
#define TANDEM_SERVER_NET_INHERITED_H

// Sockets that listen already and were handed to us by systemd (LISTEN_FDS and what belongs to
// it). A socket whose name (FileDescriptorName=) is a front-end's goes to that front-end, and with
// `-tls` behind it speaks TLS; one that nobody has named goes to the first one; any other name is
// an error.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>
#include <stddef.h>

// Takes the descriptor over in any case; `index` is a place in `frontends`, `tls`: it speaks TLS.
// False, with the reason in `why`, stops the walk.
typedef bool (*inherited_taker)(void *context, int fd, size_t index, bool tls,
                                struct error_text *why);

// Hands over each inherited socket; the environment says nothing of them afterwards. True where
// there are none. False with the reason in `why`: one is no stream socket of TCP or Unix that
// listens, has a name that says nothing, or was not taken; the process is not to go on then.
bool inherited_each(inherited_taker take, void *context, struct error_text *why) MUST_USE;

#endif
