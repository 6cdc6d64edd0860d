/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IO_SERVICE_H
#define TANDEM_SERVER_IO_SERVICE_H

#include "server/transport/transport.h"

struct crowd;
struct fence;

// What the I/O threads know of a service: how its sockets speak. It stays where it is while they
// run.
struct io_service {
    const struct transport *transport;
    void *shared;       // what that has for all of them
    void *context;      // of the core's thread
    unsigned kind;      // of the seats that those take who come by TCP (net/seats.h)
    bool for_operators; // they are served while nobody else is (io_limits)
};

#endif
