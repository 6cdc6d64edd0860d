/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_IMPORT_H
#define TANDEM_CTL_IMPORT_H

// Imports jobs into a running broker, from lines of JSON or from the store of another broker.

#include "ctl/command.h"

enum outcome run_import(struct context *context);

#endif
