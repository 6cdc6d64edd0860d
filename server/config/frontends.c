/* SPDX-License-Identifier: MIT */
#include "server/config/frontends.h"

#include "admin/admin.h"
#include "proto_beanstalk/beanstalk.h"
#include "proto_gearman/gearman.h"
#include "proto_http/http.h"

const struct frontend *const frontends[FRONTENDS] = {
    &beanstalk_frontend,
    &gearman_frontend,
    &http_frontend,
    &admin_frontend,
};
