/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_IMPORT_H
#define TANDEM_CTL_IMPORT_H

// Jobs brought in to a running broker: lines of JSON, or what another broker has left behind.

#include "ctl/command.h"

enum outcome run_import(struct context *context);

#endif
