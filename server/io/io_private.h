/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_IO_PRIVATE_H
#define TANDEM_SERVER_IO_IO_PRIVATE_H

// The core's side of the I/O threads: io.c (the threads), io_drain.c (what they tell) and
// link_side.c (what a connection does with its link).

#include "server/io/io.h"
#include "server/io/spread.h"
#include "server/io/thread.h"

struct io {
    const struct io_host *host;
    void *context;
    struct thread_common common;
    struct sleeper sleeper; // the core's thread
    struct event woken;
    struct mailbox news;
    struct mail *unread;    // batches: the first of these is being read
    unsigned read;          // so many notes of it have been
    struct list_node due;   // links with orders for the end of the turn
    struct list_node again; // links whose connections are to be called
    struct spread spread;
    nsec_t slept_for; // the core's thread
    unsigned count;
    struct io_thread *threads;
};

// Has the orders handed over when the turn ends.
void link_order(struct link *link, unsigned orders);

// Reads all that the threads have told. No connection is left.
void io_read_last_news(struct io *io);

// Hands over what is due. What there is no memory for stays due.
void io_hand_over_due(struct io *io);

#endif
