/* SPDX-License-Identifier: MIT */
#include "server/frontends.h"

#include "proto_beanstalk/beanstalk.h"

const struct frontend *const frontends[FRONTENDS] = {
    &beanstalk_frontend,
};
