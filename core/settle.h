/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_SETTLE_H
#define TANDEM_CORE_SETTLE_H

// Private to the core: what broker_settle() has still to do.

#include <stdbool.h>

struct broker;

// Is anything left for broker_settle()?
bool settle_pending(const struct broker *broker);

#endif
