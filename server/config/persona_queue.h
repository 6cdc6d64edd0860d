/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_PERSONA_QUEUE_H
#define TANDEM_SERVER_CONFIG_PERSONA_QUEUE_H

// gearmand's persistent queues: its jobs come over at the first start, and a journal keeps them
// from then on.

#include "core/base/macros.h"
#include "server/config/gearmand_options.h"

// Adds what -q says, with the options of its type, unless the settings have a journal of their own.
// EXIT_REASON_NONE, or the reason in `why`: jobs that are kept elsewhere would be left behind.
enum exit_reason persona_queue_plan(struct command_line *command,
                                    const struct gearmand_options *options,
                                    struct error_text *why) MUST_USE;

#endif
