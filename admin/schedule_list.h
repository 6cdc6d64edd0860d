/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_SCHEDULE_LIST_H
#define TANDEM_ADMIN_SCHEDULE_LIST_H

// A page of schedules, by name, made in slices.

#include "core/base/slice.h"
#include "http1/user.h"

enum http1_next schedule_list_answer(struct http1_conn *conn, struct slice body, struct blob *blob);

#endif
