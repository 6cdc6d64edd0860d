/* SPDX-License-Identifier: MIT */
#include "tests/server/manager_socket.h"

#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

int manager_socket(void)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    socklen_t len = sizeof addr;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char name[64];

    // Without a name, the kernel chooses one.
    assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof addr.sun_family), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
    (void)snprintf(name, sizeof name, "@%.*s",
                   (int)(len - offsetof(struct sockaddr_un, sun_path) - 1), addr.sun_path + 1);
    assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
    return fd;
}
