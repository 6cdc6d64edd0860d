/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BEANSTALKD_H
#define TANDEM_TRANSFER_BEANSTALKD_BEANSTALKD_H

#include "transfer/source.h"

// `beanstalkd:DIR`: the jobs in a binlog of beanstalkd, as beanstalkd would have them after its
// next start: reserved jobs are ready, and so are jobs whose delay has passed.

extern const struct source_kind beanstalkd_source;

#endif
