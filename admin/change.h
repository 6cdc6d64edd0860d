/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_CHANGE_H
#define TANDEM_ADMIN_CHANGE_H

// How a change is answered: when what it has recorded is as safe as was asked for.

#include "core/broker.h"
#include "http1/user.h"

// What the verb just made has recorded: what the connection is sent from now on waits for that.
void change_hold(struct http1_conn *conn);

// Answers with the job as it is now; with 204 where it has gone by the change, or the caller may
// not see it where it is.
enum http1_next change_show_job(struct http1_conn *conn, uint64_t id);

// The same with the queue of that name.
enum http1_next change_show_queue(struct http1_conn *conn, struct slice name);

#endif
