/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_LISTING_H
#define TANDEM_PROTO_BEANSTALK_LISTING_H

// `list-tubes` and `list-tubes-watched`. The size of the list is sent before it, so all of it is
// composed first, a slice of the names at a time. Names that beanstalk cannot spell are left out.

#include "proto_beanstalk/conn.h"

void bean_list_tubes(struct bean_conn *conn, const struct bean_command *command);
void bean_list_tubes_watched(struct bean_conn *conn, const struct bean_command *command);

// BEAN_LISTING: adds the next names, and answers after the last. Many names count for several
// commands.
enum step bean_listing_step(struct bean_conn *conn, struct feed_turn *turn);

// The connection is gone in the middle of a list.
void bean_listing_discard(struct bean_conn *conn);

#endif
