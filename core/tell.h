/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_TELL_H
#define TANDEM_CORE_TELL_H

// Private to the core: telling sessions of the events of the jobs that they watch.

#include "core/broker.h"

// Tells of the events of all jobs, in turn, at most `*budget` times.
void interest_tell_all(struct broker *broker, unsigned *budget);

#endif
