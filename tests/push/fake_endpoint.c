/* SPDX-License-Identifier: MIT */
#include "tests/push/fake_endpoint.h"
#include "tests/support/with_cmocka.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

// The longest request.
#define INPUT_MAX ((size_t)40 << 20)

// Static, because a test may have the allocator fail.
static char *input_new(void)
{
    void *input =
        mmap(NULL, INPUT_MAX + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(input != MAP_FAILED);
    return input;
}

static void input_free(char *input)
{
    if (input) {
        (void)munmap(input, INPUT_MAX + 1);
    }
}

static void conn_close(struct fake_conn *conn)
{
    (void)close(event_get_fd(conn->event));
    event_free(conn->event);
    input_free(conn->input);
    memset(conn, 0, sizeof *conn);
}

static size_t content_length(const char *head)
{
    const char *field = strstr(head, "Content-Length: ");

    return field ? (size_t)strtoul(field + 16, NULL, 10) : 0;
}

static void answer(struct fake_conn *conn, size_t index)
{
    const struct fake_endpoint *fake = conn->fake;
    size_t last = fake->answers_count - 1;
    const struct fake_answer *scripted = &fake->answers[index < last ? index : last];

    if (scripted->text) {
        size_t len = strlen(scripted->text);

        assert_int_equal(send(event_get_fd(conn->event), scripted->text, len, MSG_NOSIGNAL), len);
    }
    if (scripted->closes) {
        conn_close(conn);
    }
}

// Records a complete request. False: there is none.
static bool take_request(struct fake_conn *conn)
{
    struct fake_endpoint *fake = conn->fake;
    const char *end;
    size_t head;
    size_t len;

    conn->input[conn->len] = '\0';
    end = strstr(conn->input, "\r\n\r\n");
    if (!end) {
        return false;
    }
    head = (size_t)(end + 4 - conn->input);
    len = head + content_length(conn->input);
    if (conn->len < len) {
        return false;
    }
    assert_int_equal(conn->len, len);
    assert_true(fake->count < FAKE_REQUESTS);
    fake->requests[fake->count] = conn->input;
    fake->bodies[fake->count] = head;
    fake->lens[fake->count] = len;
    conn->input = NULL;
    conn->len = 0;
    answer(conn, fake->count++);
    return true;
}

static void conn_readable(evutil_socket_t fd, short what, void *context)
{
    struct fake_conn *conn = context;
    ssize_t got;

    (void)what;
    if (!conn->input) {
        conn->input = input_new();
    }
    got = recv(fd, conn->input + conn->len, INPUT_MAX - conn->len, 0);
    if (got <= 0) {
        conn_close(conn);
        return;
    }
    conn->len += (size_t)got;
    (void)take_request(conn);
}

static void accept_one(evutil_socket_t fd, short what, void *context)
{
    struct fake_endpoint *fake = context;
    struct fake_conn *conn = fake->conns;
    int client = accept(fd, NULL, NULL);

    (void)what;
    assert_true(client >= 0);
    while (conn->event) {
        conn++;
        assert_true(conn < fake->conns + FAKE_CONNS);
    }
    conn->fake = fake;
    conn->event = event_new(fake->base, client, EV_READ | EV_PERSIST, conn_readable, conn);
    assert_int_equal(event_add(conn->event, NULL), 0);
    fake->accepted++;
}

void fake_open(struct fake_endpoint *fake, struct event_base *base)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    memset(fake, 0, sizeof *fake);
    fake->base = base;
    assert_int_equal(bind(fd, (const struct sockaddr *)(const void *)&address, len), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)(void *)&address, &len), 0);
    fake->port = ntohs(address.sin_port);
    fake->listener = event_new(base, fd, EV_READ | EV_PERSIST, accept_one, fake);
    assert_int_equal(event_add(fake->listener, NULL), 0);
}

void fake_close(struct fake_endpoint *fake)
{
    for (size_t i = 0; i < FAKE_CONNS; i++) {
        if (fake->conns[i].event) {
            conn_close(&fake->conns[i]);
        }
    }
    for (size_t i = 0; i < fake->count; i++) {
        input_free(fake->requests[i]);
    }
    (void)close(event_get_fd(fake->listener));
    event_free(fake->listener);
}

void fake_script(struct fake_endpoint *fake, const char *text, bool closes)
{
    assert_true(fake->answers_count < FAKE_ANSWERS);
    fake->answers[fake->answers_count++] = (struct fake_answer){.text = text, .closes = closes};
}

const char *fake_field(const struct fake_endpoint *fake, size_t index, const char *name)
{
    static char value[4096];
    char wanted[64];
    const char *at;
    size_t len;

    assert_true(index < fake->count);
    (void)snprintf(wanted, sizeof wanted, "\r\n%s: ", name);
    at = strstr(fake->requests[index], wanted);
    if (!at || at > fake->requests[index] + fake->bodies[index]) {
        return NULL;
    }
    at += strlen(wanted);
    len = strcspn(at, "\r");
    assert_true(len < sizeof value);
    memcpy(value, at, len);
    value[len] = '\0';
    return value;
}

const char *fake_body(const struct fake_endpoint *fake, size_t index)
{
    assert_true(index < fake->count);
    return fake->requests[index] + fake->bodies[index];
}
