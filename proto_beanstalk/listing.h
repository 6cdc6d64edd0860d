/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_BEANSTALK_LISTING_H
#define TANDEM_PROTO_BEANSTALK_LISTING_H

// `list-tubes` and `list-tubes-watched`. The size of the list is sent before the list. A short one
// is written to memory first; where that turns out to be much, the names are only counted, and then
// looked at once more and sent as the peer takes them: nothing is kept but the place that the list
// has come to (struct queue_roll). Names of Gearman functions that no tube can have are left out,
// and tubes that the caller may not observe, unless it watches them. A step looks at a slice of the
// names, and so does a turn.

#include "proto_beanstalk/conn.h"

#include <stddef.h>

void bean_list_tubes(struct bean_conn *conn, const struct bean_command *command);
void bean_list_tubes_watched(struct bean_conn *conn, const struct bean_command *command);

// BEAN_LISTING: looks at the next names, and answers after the last, or sends them. Names use up
// the turn's budget, as commands do.
enum step bean_listing_step(struct bean_conn *conn, struct feed_turn *turn);

// BEAN_LISTING: how many bytes the list has taken up.
size_t bean_listing_holds(const struct bean_conn *conn);

// BEAN_LISTING: the connection is gone, and the list with it.
void bean_listing_discard(struct bean_conn *conn);

#endif
