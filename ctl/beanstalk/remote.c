/* SPDX-License-Identifier: MIT */
#include "ctl/beanstalk/remote.h"

#include "core/base/digits.h"
#include "ctl/print/need.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SCHEME "beanstalk://"
#define PORT_DEFAULT "11300"
#define READ_MIN ((size_t)64 * 1024)

struct remote {
    const struct remote_address *address;
    struct problem *problem;
    nsec_t wait_for;
    int fd;
    struct text out;
    size_t sent;
    char *in;
    size_t in_at, in_end, in_capacity;
};

//
// Addresses
//

static bool is_beanstalk_host(struct slice host, bool brackets)
{
    static const char others[] = ".-_%";

    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!plain && !memchr(others, c, sizeof others - 1) && !(brackets && c == ':')) {
            return false;
        }
    }
    return host.len > 0;
}

// Parses an address without its scheme.
static bool read_host_and_port(struct remote_address *address, struct slice from)
{
    bool brackets = from.len > 0 && from.ptr[0] == '[';
    const char *end = from.len ? memchr(from.ptr, brackets ? ']' : ':', from.len) : NULL;
    size_t len = end ? (size_t)(end - from.ptr) : from.len;
    struct slice host = brackets ? slice_of(from.ptr + 1, len - 1) : slice_of(from.ptr, len);
    struct slice rest = slice_from(from, brackets && end ? len + 1 : len);
    uint64_t port;

    if ((brackets && !end) || !is_beanstalk_host(host, brackets)) {
        return false;
    }
    text_add(&address->host, host);
    if (rest.len == 0) {
        text_put(&address->port, PORT_DEFAULT);
    } else if (rest.ptr[0] == ':' && digits_read(slice_from(rest, 1), &port) && port > 0 &&
               port <= UINT16_MAX) {
        text_format(&address->port, "%u", (unsigned)port);
    } else {
        return false;
    }
    text_format(&address->name, brackets ? "[%s]:%s" : "%s:%s", text_string(&address->host),
                text_string(&address->port));
    return true;
}

bool remote_address_read(struct remote_address *address, const char *from, struct problem *problem)
{
    *address = (struct remote_address){0};
    if (strncasecmp(from, SCHEME, sizeof SCHEME - 1) == 0) {
        struct slice rest = slice_str(from + sizeof SCHEME - 1);

        while (rest.len > 0 && rest.ptr[rest.len - 1] == '/') {
            rest.len--;
        }
        if (read_host_and_port(address, rest)) {
            return true;
        }
        remote_address_free(address);
    }
    (void)problem_set(problem, OUTCOME_USAGE,
                      "\"%s\" is not the address of a beanstalk server: give " SCHEME
                      "HOST:PORT, such as " SCHEME "127.0.0.1:11300",
                      from);
    return false;
}

void remote_address_free(struct remote_address *address)
{
    text_free(&address->host);
    text_free(&address->port);
    text_free(&address->name);
}

//
// Errors
//

bool remote_fail(const struct remote *remote, enum outcome outcome, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)problem_set(remote->problem, outcome, "%s %s", remote_name(remote), text);
    return false;
}

const char *remote_name(const struct remote *remote)
{
    return text_string(&remote->address->name);
}

//
// Life cycle
//

nsec_t remote_now(void)
{
    struct timespec spec;

    (void)clock_gettime(CLOCK_MONOTONIC, &spec);
    return nsec_from_seconds((uint64_t)spec.tv_sec) + spec.tv_nsec;
}

// Waits until the socket is ready for `events`; 0 after a timeout.
static int wait_for_socket(const struct remote *remote, short events, nsec_t until, short *found)
{
    struct pollfd wait = {.fd = remote->fd, .events = events};
    int count;

    do {
        int64_t left = nsec_to_msec(until - remote_now());

        count = poll(&wait, 1, left < 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX);
    } while (count < 0 && errno == EINTR);
    *found = wait.revents;
    return count;
}

// Connects to one address of a host. False with errno.
static bool connect_to_address(struct remote *remote, const struct addrinfo *address)
{
    int one = 1;
    int error = 0;
    socklen_t len = sizeof error;
    short found;

    remote->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (remote->fd < 0) {
        return false;
    }
    (void)setsockopt(remote->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(remote->fd, address->ai_addr, address->ai_addrlen) == 0) {
        return true;
    }
    if (errno == EINPROGRESS) {
        error = ETIMEDOUT;
        if (wait_for_socket(remote, POLLOUT, remote_now() + remote->wait_for, &found) > 0 &&
            getsockopt(remote->fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0) {
            return true;
        }
        errno = error;
    }
    error = errno;
    (void)close(remote->fd);
    remote->fd = -1;
    errno = error;
    return false;
}

bool remote_open(struct remote **opened, const struct remote_address *address, double timeout,
                 struct problem *problem)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct remote *remote = need(calloc(1, sizeof *remote));
    struct addrinfo *addresses = NULL;
    int error =
        getaddrinfo(text_string(&address->host), text_string(&address->port), &hints, &addresses);

    remote->address = address;
    remote->problem = problem;
    remote->wait_for = (nsec_t)(timeout * (double)NSEC_PER_SEC);
    remote->fd = -1;
    for (struct addrinfo *at = error ? NULL : addresses; at && remote->fd < 0; at = at->ai_next) {
        (void)connect_to_address(remote, at);
    }
    if (remote->fd < 0) {
        (void)remote_fail(remote, OUTCOME_UNREACHABLE, "cannot be reached: %s",
                          error ? gai_strerror(error) : strerror(errno));
        remote_close(remote);
        remote = NULL;
    }
    if (!error) {
        freeaddrinfo(addresses);
    }
    *opened = remote;
    return remote != NULL;
}

void remote_close(struct remote *remote)
{
    if (remote) {
        if (remote->fd >= 0) {
            (void)close(remote->fd);
        }
        text_free(&remote->out);
        free(remote->in);
        free(remote);
    }
}

//
// Sending and receiving
//

void remote_put(struct remote *remote, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_vformat(&remote->out, format, args);
    va_end(args);
    text_put(&remote->out, "\r\n");
}

void remote_put_body(struct remote *remote, struct slice body)
{
    text_add(&remote->out, body);
    text_put(&remote->out, "\r\n");
}

static bool fail_disconnected(const struct remote *remote)
{
    return remote_fail(remote, OUTCOME_UNREACHABLE, "has disconnected: %s", strerror(errno));
}

// Whether the call is to be repeated later.
static bool is_temporary(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

static bool send_some(struct remote *remote)
{
    ssize_t count = send(remote->fd, remote->out.data + remote->sent,
                         remote->out.len - remote->sent, MSG_NOSIGNAL);

    if (count < 0) {
        return is_temporary(errno) || fail_disconnected(remote);
    }
    remote->sent += (size_t)count;
    if (remote->sent == remote->out.len) {
        text_cut(&remote->out, 0);
        remote->sent = 0;
    }
    return true;
}

// Makes room for `bytes` from in_at on.
static void make_input_room(struct remote *remote, size_t bytes)
{
    if (remote->in_at > 0) {
        memmove(remote->in, remote->in + remote->in_at, remote->in_end - remote->in_at);
        remote->in_end -= remote->in_at;
        remote->in_at = 0;
    }
    if (bytes > remote->in_capacity) {
        remote->in = need(realloc(remote->in, bytes));
        remote->in_capacity = bytes;
    }
}

static bool receive_some(struct remote *remote)
{
    ssize_t count =
        recv(remote->fd, remote->in + remote->in_end, remote->in_capacity - remote->in_end, 0);

    if (count < 0) {
        return is_temporary(errno) || fail_disconnected(remote);
    }
    if (count == 0) {
        return remote_fail(remote, OUTCOME_UNREACHABLE,
                           "has disconnected: it closed the connection");
    }
    remote->in_end += (size_t)count;
    return true;
}

// Sends pending output and waits for new input, for which there must be room. Progress in sending a
// large body restarts the timeout.
static bool send_and_receive(struct remote *remote)
{
    nsec_t until = remote_now() + remote->wait_for;
    size_t had = remote->in_end;
    short found;
    int ready;

    if (remote->out.len > remote->sent && !send_some(remote)) {
        return false;
    }
    while (remote->in_end == had) {
        ready = wait_for_socket(remote, remote->out.len > remote->sent ? POLLIN | POLLOUT : POLLIN,
                                until, &found);
        if (ready == 0) {
            return remote_fail(remote, OUTCOME_UNREACHABLE, "does not answer");
        }
        if (ready < 0) {
            return fail_disconnected(remote);
        }
        if (found & POLLOUT) {
            if (!send_some(remote)) {
                return false;
            }
            until = remote_now() + remote->wait_for;
        }
        if ((found & ~POLLOUT) && !receive_some(remote)) {
            return false;
        }
    }
    return true;
}

bool remote_line(struct remote *remote, struct slice *line)
{
    for (;;) {
        size_t len = remote->in_end - remote->in_at;
        size_t most = len < REMOTE_LINE_MAX ? len : REMOTE_LINE_MAX;
        const char *from = remote->in + remote->in_at;
        const char *end = most ? memchr(from, '\n', most) : NULL;

        if (end) {
            len = (size_t)(end - from);
            remote->in_at += len + 1;
            if (len == 0 || from[len - 1] != '\r') {
                return remote_fail(remote, OUTCOME_FAILED,
                                   "is not a beanstalk server: a line ends without CR");
            }
            *line = slice_of(from, len - 1);
            return true;
        }
        if (len >= REMOTE_LINE_MAX) {
            return remote_fail(remote, OUTCOME_FAILED,
                               "is not a beanstalk server: a line is too long");
        }
        make_input_room(remote,
                        remote->in_capacity < REMOTE_AHEAD ? REMOTE_AHEAD : remote->in_capacity);
        if (!send_and_receive(remote)) {
            return false;
        }
    }
}

bool remote_body(struct remote *remote, uint64_t len, struct slice *body)
{
    size_t whole = (size_t)len + 2;

    while (remote->in_end - remote->in_at < whole) {
        if (remote->in_capacity - remote->in_at < whole ||
            remote->in_capacity - remote->in_end < READ_MIN) {
            make_input_room(remote, whole + READ_MIN > remote->in_capacity ? whole + READ_MIN
                                                                           : remote->in_capacity);
        }
        if (!send_and_receive(remote)) {
            return false;
        }
    }
    *body = slice_of(remote->in + remote->in_at, (size_t)len);
    remote->in_at += whole;
    if (memcmp(slice_end(*body), "\r\n", 2) != 0) {
        return remote_fail(remote, OUTCOME_FAILED,
                           "is not a beanstalk server: CRLF is missing after a body");
    }
    return true;
}

bool remote_skip_body(struct remote *remote, uint64_t len)
{
    struct slice end;

    while (len > 0) {
        size_t there = remote->in_end - remote->in_at;
        size_t take = there < len ? there : (size_t)len;

        remote->in_at += take;
        len -= take;
        if (len > 0) {
            make_input_room(remote,
                            remote->in_capacity < READ_MIN ? READ_MIN : remote->in_capacity);
            if (!send_and_receive(remote)) {
                return false;
            }
        }
    }
    return remote_body(remote, 0, &end);
}

//
// Replies
//

// Removes the first word from the line.
static struct slice take_reply_word(struct slice *line)
{
    const char *end = line->len ? memchr(line->ptr, ' ', line->len) : NULL;
    struct slice word = slice_of(line->ptr, end ? (size_t)(end - line->ptr) : line->len);

    *line = slice_from(*line, end ? word.len + 1 : word.len);
    return word;
}

// Copies as a string, truncated to fit, with unprintable characters replaced.
static void copy_printable(char *to, size_t size, struct slice from)
{
    size_t len = from.len < size - 1 ? from.len : size - 1;

    for (size_t i = 0; i < len; i++) {
        to[i] = from.ptr[i];
        if (to[i] < ' ' || to[i] > '~') {
            to[i] = '?';
        }
    }
    to[len] = '\0';
}

bool remote_reply_read(struct remote *remote, struct remote_reply *reply)
{
    struct slice line = slice_of(NULL, 0);
    struct slice word;

    if (!remote_line(remote, &line)) {
        return false;
    }
    copy_printable(reply->line, sizeof reply->line, line);
    word = take_reply_word(&line);
    copy_printable(reply->word, sizeof reply->word,
                   word.len < sizeof reply->word ? word : slice_of(NULL, 0));
    reply->count = 0;
    while (line.len > 0 && reply->count < 2 &&
           digits_read(take_reply_word(&line), &reply->numbers[reply->count])) {
        reply->count++;
    }
    return true;
}

bool remote_reply_is(const struct remote_reply *reply, const char *word)
{
    return strcmp(reply->word, word) == 0;
}

bool remote_reply_unexpected(const struct remote *remote, const struct remote_reply *reply,
                             const char *command)
{
    if (remote_reply_is(reply, "FORBIDDEN")) {
        return remote_fail(remote, OUTCOME_FORBIDDEN,
                           "forbids %s: its access rules require a token", command);
    }
    return remote_fail(remote, OUTCOME_FAILED, "has answered %s with \"%s\"", command, reply->line);
}

bool remote_reply_expect(struct remote *remote, const char *command, const char *word, size_t count,
                         struct remote_reply *reply)
{
    return remote_reply_read(remote, reply) &&
           ((remote_reply_is(reply, word) && reply->count >= count) ||
            remote_reply_unexpected(remote, reply, command));
}

bool remote_reply_document(struct remote *remote, const char *command, struct slice *document,
                           bool *found)
{
    struct remote_reply reply;

    if (!remote_reply_read(remote, &reply)) {
        return false;
    }
    *found = !remote_reply_is(&reply, "NOT_FOUND");
    if (!*found) {
        *document = slice_of(NULL, 0);
        return true;
    }
    if (!remote_reply_is(&reply, "OK") || reply.count < 1) {
        return remote_reply_unexpected(remote, &reply, command);
    }
    if (reply.numbers[0] > REMOTE_DOCUMENT_MAX) {
        return remote_fail(remote, OUTCOME_FAILED,
                           "has answered %s with %llu bytes, which is too large", command,
                           (unsigned long long)reply.numbers[0]);
    }
    return remote_body(remote, reply.numbers[0], document);
}
