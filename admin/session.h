/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SESSION_H
#define TANDEM_ADMIN_SESSION_H

// The sessions of operators: of their connections, and of what they have begun in the background.
// Such a session takes no job and watches none, so that it is told nothing.

#include "core/session.h"

extern const struct session_ops admin_session_ops;

#endif
