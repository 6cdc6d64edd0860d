/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_IO_THREADS_H
#define TANDEM_SERVER_CONFIG_IO_THREADS_H

// How many I/O threads there are, as an operator says it: a number, or `auto`.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>

// The most that may be asked for.
#define IO_THREADS_MOST 64

// What `auto` stands for on a machine where the process may use so many processors: half of them,
// and none below four. The other half is for the core's thread, which needs a quarter of what two
// I/O threads need, for the journal, for the kernel's share of the network, and for clients on the
// same machine. With two processors that clients use, too, threads have been measured to be slower
// than none (server/io/IO.md).
unsigned io_threads_auto(unsigned processors);

// False with the reason in `why`.
bool io_threads_parse(const char *text, unsigned *count, struct error_text *why) MUST_USE;

#endif
