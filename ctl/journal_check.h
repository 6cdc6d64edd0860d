/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_JOURNAL_CHECK_H
#define TANDEM_CTL_JOURNAL_CHECK_H

// Checks a journal that no broker uses.

#include "ctl/command.h"

enum outcome run_journal_check(struct context *context);

#endif
