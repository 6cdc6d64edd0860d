/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BEANSTALKD_H
#define TANDEM_TRANSFER_BEANSTALKD_BEANSTALKD_H

// `beanstalkd:DIR`: the jobs in a binlog of beanstalkd's, as that would have them after its next
// start: jobs that were reserved are ready, a delay that is over is over.

#include "transfer/source.h"

extern const struct source_kind beanstalkd_source;

#endif
