/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_COMMON_RECORD_QUOTA_H
#define TANDEM_TESTS_PROTO_COMMON_RECORD_QUOTA_H

// A store that has room for a number of records, and keeps none of them. For the options of a rig:
//
//   options.broker.recorder = &record_quota;
//   options.broker.store = &left; // a size_t: the number of further records
//
// It aborts if a record needs space that was reserved when the job was submitted: the record of its
// end or burial.

#include "core/record.h"

// More than any test writes.
#define RECORD_QUOTA_PLENTY SIZE_MAX

extern const struct recorder record_quota;

#endif
