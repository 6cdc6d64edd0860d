/* SPDX-License-Identifier: MIT */
// accept4 is a GNU function.
#define _GNU_SOURCE
#include "tests/server/proxy_bed.h"

#include "server/net/edge_socket.h"
#include "server/process/clock.h"
#include "tests/support/with_cmocka.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE (60 * NSEC_PER_SEC)

static void ticked(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
}

void proxy_bed_open(struct proxy_bed *bed)
{
    const struct timeval tick = {.tv_usec = 2000};

    (void)signal(SIGPIPE, SIG_IGN);
    bed->descriptors = proxy_bed_descriptors();
    bed->base = edge_base_new();
    assert_non_null(bed->base);
    bed->tick = event_new(bed->base, -1, EV_PERSIST, ticked, NULL);
    assert_non_null(bed->tick);
    assert_int_equal(event_add(bed->tick, &tick), 0);
}

void proxy_bed_close(struct proxy_bed *bed)
{
    nsec_t began_at = clock_awake();

    event_free(bed->tick);
    assert_int_equal(event_base_get_num_events(bed->base, EVENT_BASE_COUNT_ADDED), 0);
    event_base_free(bed->base);
    // A thread whose answer is not wanted any more closes its own.
    while (proxy_bed_descriptors() != bed->descriptors) {
        proxy_bed_check_time(began_at);
        (void)poll(NULL, 0, 1);
    }
}

void proxy_bed_turn(struct proxy_bed *bed)
{
    assert_int_equal(event_base_loop(bed->base, EVLOOP_ONCE), 0);
}

size_t proxy_bed_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(dir);
    while (readdir(dir)) {
        count++;
    }
    (void)closedir(dir);
    return count;
}

void proxy_bed_check_time(nsec_t began_at)
{
    if (clock_awake() - began_at > PATIENCE) {
        fail_msg("%s", "what was waited for did not come");
    }
}

static void prepare(int fd)
{
    int on = 1;

    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int bed_listen(uint16_t *port)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof addr;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof addr), 0);
    assert_int_equal(listen(fd, 1024), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
    prepare(fd);
    *port = ntohs(addr.sin_port);
    return fd;
}

void bed_connect(int fds[2])
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint16_t port;
    int listening = bed_listen(&port);
    struct pollfd waits = {.fd = listening, .events = POLLIN};

    addr.sin_port = htons(port);
    fds[0] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fds[0], (struct sockaddr *)&addr, sizeof addr), 0);
    assert_int_equal(poll(&waits, 1, 60000), 1);
    fds[1] = bed_accept(listening);
    assert_true(fds[1] >= 0);
    prepare(fds[0]);
    (void)close(listening);
}

int bed_accept(int listening)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    int fd = accept4(listening, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK);

    if (fd >= 0) {
        prepare(fd);
    }
    return fd;
}

ssize_t bed_receive(int fd, char *bytes, size_t room)
{
    ssize_t got = recv(fd, bytes, room, 0);

    return got < 0 && errno != EAGAIN ? -2 : got;
}

bool bed_has_ended(int fd)
{
    char byte;
    ssize_t got = bed_receive(fd, &byte, 1);

    return got == 0 || got == -2;
}

void bed_send(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

bool bed_has_got(int fd, char text[64], const char *expected)
{
    size_t len = strlen(text);
    ssize_t got = bed_receive(fd, text + len, 63 - len);

    if (got > 0) {
        text[len + (size_t)got] = '\0';
    }
    return strcmp(text, expected) == 0;
}

bool bed_pass(struct proxy *proxy, int fd, const char *peer, const char *protocol, bool tls)
{
    const struct passed_client passed = {.fd = fd, .peer = peer, .tls = tls};

    return proxy_take(proxy, &passed, protocol);
}
