/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_MANAGER_SOCKET_H
#define TANDEM_TESTS_SERVER_MANAGER_SOCKET_H

// The service manager's side of sd_notify: a socket with an abstract name of its own, which becomes
// $NOTIFY_SOCKET. For close().
int manager_socket(void);

#endif
