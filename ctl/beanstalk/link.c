/* SPDX-License-Identifier: MIT */
#include "ctl/beanstalk/link.h"

#include "ctl/print/need.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define READ_MIN ((size_t)64 * 1024)

struct link {
    const struct place *place;
    struct problem *problem;
    nsec_t wait_for;
    int fd;
    struct text out;
    size_t sent;
    char *in;
    size_t in_at, in_end, in_capacity;
};

//
// Errors
//

bool link_fail(const struct link *link, enum outcome outcome, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)problem_set(link->problem, outcome, "%s %s", link_name(link), text);
    return false;
}

const char *link_name(const struct link *link)
{
    return text_string(&link->place->name);
}

//
// Life cycle
//

nsec_t link_now(void)
{
    struct timespec spec;

    (void)clock_gettime(CLOCK_MONOTONIC, &spec);
    return nsec_from_seconds((uint64_t)spec.tv_sec) + spec.tv_nsec;
}

static int milliseconds_until(nsec_t at)
{
    nsec_t left = at - link_now();

    return left > 0 ? (int)nsec_to_msec(left) : 0;
}

// Waits until the socket is ready for `events`; 0 after a timeout.
static int wait_for(const struct link *link, short events, nsec_t until, short *found)
{
    struct pollfd wait = {.fd = link->fd, .events = events};
    int count;

    do {
        count = poll(&wait, 1, milliseconds_until(until));
    } while (count < 0 && errno == EINTR);
    *found = wait.revents;
    return count;
}

// Connects to one address of a host. False with errno.
static bool connect_to(struct link *link, const struct addrinfo *address)
{
    int one = 1;
    int error = 0;
    socklen_t len = sizeof error;
    short found;

    link->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->fd < 0) {
        return false;
    }
    (void)setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(link->fd, address->ai_addr, address->ai_addrlen) == 0) {
        return true;
    }
    if (errno == EINPROGRESS) {
        error = ETIMEDOUT;
        if (wait_for(link, POLLOUT, link_now() + link->wait_for, &found) > 0 &&
            getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0) {
            return true;
        }
        errno = error;
    }
    error = errno;
    (void)close(link->fd);
    link->fd = -1;
    errno = error;
    return false;
}

bool link_open(struct link **opened, const struct place *place, double timeout,
               struct problem *problem)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct link *link = need(calloc(1, sizeof *link));
    struct addrinfo *addresses = NULL;
    int error =
        getaddrinfo(text_string(&place->host), text_string(&place->port), &hints, &addresses);

    link->place = place;
    link->problem = problem;
    link->wait_for = (nsec_t)(timeout * (double)NSEC_PER_SEC);
    link->fd = -1;
    for (struct addrinfo *at = error ? NULL : addresses; at && link->fd < 0; at = at->ai_next) {
        (void)connect_to(link, at);
    }
    if (link->fd < 0) {
        (void)link_fail(link, OUTCOME_UNREACHABLE, "cannot be reached: %s",
                        error ? gai_strerror(error) : strerror(errno));
        link_close(link);
        link = NULL;
    }
    if (!error) {
        freeaddrinfo(addresses);
    }
    *opened = link;
    return link != NULL;
}

void link_close(struct link *link)
{
    if (link) {
        if (link->fd >= 0) {
            (void)close(link->fd);
        }
        text_free(&link->out);
        free(link->in);
        free(link);
    }
}

//
// Sending
//

void link_say(struct link *link, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_vformat(&link->out, format, args);
    va_end(args);
    text_put(&link->out, "\r\n");
}

void link_say_body(struct link *link, struct slice body)
{
    text_add(&link->out, body);
    text_put(&link->out, "\r\n");
}

//
// Sending and receiving
//

static bool lost(const struct link *link)
{
    return link_fail(link, OUTCOME_UNREACHABLE, "is gone: %s", strerror(errno));
}

static bool is_later(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

static bool send_some(struct link *link)
{
    ssize_t count =
        send(link->fd, link->out.data + link->sent, link->out.len - link->sent, MSG_NOSIGNAL);

    if (count < 0) {
        return is_later(errno) || lost(link);
    }
    link->sent += (size_t)count;
    if (link->sent == link->out.len) {
        text_cut(&link->out, 0);
        link->sent = 0;
    }
    return true;
}

// Makes room for `bytes` from in_at on.
static void make_room(struct link *link, size_t bytes)
{
    if (link->in_at > 0) {
        memmove(link->in, link->in + link->in_at, link->in_end - link->in_at);
        link->in_end -= link->in_at;
        link->in_at = 0;
    }
    if (bytes > link->in_capacity) {
        link->in = need(realloc(link->in, bytes));
        link->in_capacity = bytes;
    }
}

static bool receive_some(struct link *link)
{
    ssize_t count = recv(link->fd, link->in + link->in_end, link->in_capacity - link->in_end, 0);

    if (count < 0) {
        return is_later(errno) || lost(link);
    }
    if (count == 0) {
        return link_fail(link, OUTCOME_UNREACHABLE, "is gone: it has closed the connection");
    }
    link->in_end += (size_t)count;
    return true;
}

// Sends pending output and waits for new input, for which there must be room. Progress in sending a
// large body restarts the timeout.
static bool exchange(struct link *link)
{
    nsec_t until = link_now() + link->wait_for;
    size_t had = link->in_end;
    short found;
    int ready;

    if (link->out.len > link->sent && !send_some(link)) {
        return false;
    }
    while (link->in_end == had) {
        ready =
            wait_for(link, link->out.len > link->sent ? POLLIN | POLLOUT : POLLIN, until, &found);
        if (ready == 0) {
            return link_fail(link, OUTCOME_UNREACHABLE, "does not answer");
        }
        if (ready < 0) {
            return lost(link);
        }
        if (found & POLLOUT) {
            if (!send_some(link)) {
                return false;
            }
            until = link_now() + link->wait_for;
        }
        if ((found & ~POLLOUT) && !receive_some(link)) {
            return false;
        }
    }
    return true;
}

bool link_line(struct link *link, struct slice *line)
{
    for (;;) {
        size_t len = link->in_end - link->in_at;
        size_t most = len < LINK_LINE_MAX ? len : LINK_LINE_MAX;
        const char *from = link->in + link->in_at;
        const char *end = most ? memchr(from, '\n', most) : NULL;

        if (end) {
            len = (size_t)(end - from);
            link->in_at += len + 1;
            if (len == 0 || from[len - 1] != '\r') {
                return link_fail(link, OUTCOME_FAILED,
                                 "is no beanstalk server: a line ends "
                                 "without CR");
            }
            *line = slice_of(from, len - 1);
            return true;
        }
        if (len >= LINK_LINE_MAX) {
            return link_fail(link, OUTCOME_FAILED, "is no beanstalk server: a line has no end");
        }
        make_room(link, link->in_capacity < LINK_AHEAD ? LINK_AHEAD : link->in_capacity);
        if (!exchange(link)) {
            return false;
        }
    }
}

static bool check_end(const struct link *link, const char *end)
{
    return (end[0] == '\r' && end[1] == '\n') ||
           link_fail(link, OUTCOME_FAILED,
                     "is no beanstalk server: a body has another length "
                     "than its answer says");
}

bool link_body(struct link *link, uint64_t len, struct slice *body)
{
    size_t whole = (size_t)len + 2;

    while (link->in_end - link->in_at < whole) {
        if (link->in_capacity - link->in_at < whole ||
            link->in_capacity - link->in_end < READ_MIN) {
            make_room(link,
                      whole + READ_MIN > link->in_capacity ? whole + READ_MIN : link->in_capacity);
        }
        if (!exchange(link)) {
            return false;
        }
    }
    *body = slice_of(link->in + link->in_at, (size_t)len);
    link->in_at += whole;
    return check_end(link, slice_end(*body));
}

bool link_pass_over(struct link *link, uint64_t len)
{
    struct slice end;

    while (len > 0) {
        size_t there = link->in_end - link->in_at;
        size_t take = there < len ? there : (size_t)len;

        link->in_at += take;
        len -= take;
        if (len > 0) {
            make_room(link, link->in_capacity < READ_MIN ? READ_MIN : link->in_capacity);
            if (!exchange(link)) {
                return false;
            }
        }
    }
    return link_body(link, 0, &end);
}
