/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_NOTIFY_H
#define TANDEM_SERVER_NOTIFY_H

// What the service manager is told (NOTIFY_SOCKET, Type=notify). Where nobody wants to know, and
// where it cannot be said, nothing happens: the manager has a time limit for each.

void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);

#endif
