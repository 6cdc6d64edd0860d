/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_DOOR_H
#define TANDEM_SERVER_IO_DOOR_H

// Where an I/O thread accepts connections: it watches every listening socket while the threads do
// so (thread_common.accepts) and there may be more connections. Whoever accepts keeps the
// connection, unless another thread has fewer. A socket with a handshake to make is a connection
// when that is done (net/handshakes.h).
//
// Each accepted socket is counted in thread_common.open at once, so that all threads together
// accept no more than there may be.

#include "server/io/thread.h"

// A listening socket as one thread sees it.
struct door {
    struct list_node node; // in thread->doors
    struct io_thread *thread;
    const struct io_service *service;
    int fd;        // borrowed
    unsigned kind; // of the seats that its connections take (net/seats.h)
    // How many of those that waited when the door was made may have come before their socket's
    // options were set (net/listener.c). The first ones that this thread accepts are among them.
    unsigned unprepared;
    struct event event;
};

// Adds a door, which is closed. False without memory.
bool door_add(struct io_thread *thread, const struct io_service *service, int fd) MUST_USE;

// Opens and closes the doors of the thread, as is asked for now; for good with thread_common.shut.
void doors_settle(struct io_thread *thread);

// Whether nothing else is asked for.
bool doors_are_settled(const struct io_thread *thread);

// A socket that was accepted elsewhere comes to this thread for its handshake. The link that has
// carried it here is freed.
void door_greet(struct io_thread *thread, struct link *link);

// Readies the thread, which has none yet.
bool doors_init(struct io_thread *thread) MUST_USE;

// Forgets the doors.
void doors_clear(struct io_thread *thread);

#endif
