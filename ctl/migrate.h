/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_H
#define TANDEM_CTL_MIGRATE_H

// Migrates jobs between this broker and another beanstalk server, in either direction.

#include "ctl/command.h"

enum outcome run_migrate(struct context *context);

#endif
