/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_MANAGER_SOCKET_H
#define TANDEM_TESTS_SERVER_MANAGER_SOCKET_H

// The service manager's side of sd_notify: a socket with a name that is in no directory and nobody
// else's, which $NOTIFY_SOCKET has from now on. To be closed.
int manager_socket(void);

#endif
