/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_HTTP1_CONN_H
#define TANDEM_HTTP1_CONN_H

// The state machine of a connection. The functions from http1_open() on implement the front-end
// functions of the same names; the front-end's connection begins with a struct http1_conn.

#include "core/broker.h"
#include "proto_common/frontend.h"

#include "http1/context.h"
#include "http1/user.h"

// Initializes the state that all connections share, in the front-end's `start`. `own` are the names
// of its `count` headers, numbered from HTTP1_FIELD_COUNT. All arguments must stay valid.
void http1_shared_begin(struct http1_shared *shared, const struct http1_user *user,
                        struct broker *broker, const struct http1_options *options,
                        const struct process_facts *facts, const char *const *own, unsigned count);

// Ends a waiting request that was answered by something other than `step`, and frees it. The next
// request is read once the connection is woken (wire_wake()).
void http1_answered(struct http1_conn *conn);

enum status http1_open(void *conn, void *shared, struct wire *wire);
enum grant_progress http1_granted(void *conn, struct grants *grants);
struct feed http1_feed(void *conn, struct slice input, unsigned budget);
struct feed http1_filled(void *conn, size_t len, unsigned budget);
bool http1_eof(void *conn);
void http1_expired(void *conn);
struct pace http1_pace(void *conn);
void http1_overdue(void *conn, enum pace_verdict verdict, struct slice kept);
void http1_stopping(void *conn);
size_t http1_holds(const void *conn);
struct frontend_about http1_about(const void *conn);
uint64_t http1_commands(const void *shared);
void http1_close(void *conn);

#endif
