/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_RECORD_QUOTA_H
#define TANDEM_TESTS_PROTO_COMMON_RECORD_QUOTA_H

// A store that has room for so many records, and forgets them all. For the options of a rig:
//
//   options.broker.recorder = &record_quota;
//   options.broker.store = &left; // a size_t: how many more records there is room for
//
// It aborts when it is asked for room that a submission has been promised: that of the job's end
// or burial.

#include "core/record.h"

// More than any test writes.
#define RECORD_QUOTA_PLENTY SIZE_MAX

extern const struct recorder record_quota;

#endif
