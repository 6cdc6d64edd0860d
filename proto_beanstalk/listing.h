/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_LISTING_H
#define TANDEM_PROTO_BEANSTALK_LISTING_H

// `list-tubes` and `list-tubes-watched`. The size of the list is sent before the list, so all of it
// is written to memory first, a slice of the names in each turn. Names of Gearman functions that no
// tube can have are left out.

#include "proto_beanstalk/conn.h"

void bean_list_tubes(struct bean_conn *conn, const struct bean_command *command);
void bean_list_tubes_watched(struct bean_conn *conn, const struct bean_command *command);

// BEAN_LISTING: adds the next names, and answers after the last. Names use up the turn's budget, as
// commands do.
enum step bean_listing_step(struct bean_conn *conn, struct feed_turn *turn);

// BEAN_LISTING: the connection is gone, and the list with it.
void bean_listing_discard(struct bean_conn *conn);

#endif
