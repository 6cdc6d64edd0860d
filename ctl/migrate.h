/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_H
#define TANDEM_CTL_MIGRATE_H

// Jobs of another beanstalk server, moved here, or back.

#include "ctl/command.h"

enum outcome run_migrate(struct context *context);

#endif
