/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_LIBEVENT_LOG_H
#define TANDEM_SERVER_LOG_LIBEVENT_LOG_H

// What libevent has to say goes to our log; what it cannot go on after ends the process.
void libevent_log_route(void);

#endif
