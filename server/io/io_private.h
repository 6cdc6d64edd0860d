/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_IO_PRIVATE_H
#define TANDEM_SERVER_IO_IO_PRIVATE_H

// The core's side of the I/O threads: io.c (the threads) and link_core.c (the core's half of
// links).

#include "server/io/io.h"
#include "server/io/io_thread.h"
#include "server/io/spread.h"

struct io {
    const struct io_host *host;
    void *context;
    struct io_common common;
    struct sleeper sleeper; // the core's thread
    struct event woken;
    struct mailbox news;
    struct mail *unread;    // batches to be read; the first is being read
    unsigned read;          // notes of that which were read
    struct list_node due;   // links with orders for the end of the turn
    struct list_node again; // links whose connections are to be called
    struct spread spread;
    nsec_t slept_for; // the core's thread
    unsigned count;
    struct io_thread *threads;
};

// Has the orders handed over when the turn ends.
void link_order(struct io_link *link, unsigned orders);

// Reads all news of the threads, after all connections were closed.
void io_read_last_news(struct io *io);

// Hands over orders that are due. Orders for which there is no memory stay due.
void io_hand_over_due(struct io *io);

#endif
