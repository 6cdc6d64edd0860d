/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_FRONTENDS_H
#define TANDEM_SERVER_CONFIG_FRONTENDS_H

// The protocols that this process speaks. Adding one is adding a folder and a line here.

#include "proto_common/frontend.h"

#define FRONTENDS 4

extern const struct frontend *const frontends[FRONTENDS];

#endif
