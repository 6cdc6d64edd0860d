/* SPDX-License-Identifier: MIT */
#include "tests/server/fake_handshake.h"

#include "core/base/macros.h"

#include <string.h>
#include <sys/socket.h>

struct fake_own {
    bool begun;
    bool done;
    unsigned steps;
};

struct fake_handshake fake_handshake;

void fake_handshake_reset(void)
{
    memset(&fake_handshake, 0, sizeof fake_handshake);
}

unsigned fake_handshake_steps(const void *own)
{
    const struct fake_own *fake = own;

    return fake->steps;
}

static bool fake_begin(int fd, void *own, void *shared)
{
    struct fake_own *fake = own;

    (void)fd;
    ENSURE(!fake->begun);
    fake_handshake.begins++;
    fake_handshake.shared = shared;
    fake->begun = true;
    return !fake_handshake.refuses;
}

static enum handshake fake_handshake_step(int fd, void *own, struct error_text *why)
{
    struct fake_own *fake = own;
    ssize_t got;
    char byte;

    ENSURE(fake->begun && !fake->done);
    fake->steps++;
    fake_handshake.steps++;
    if (fake_handshake.time) {
        *fake_handshake.time += fake_handshake.step_for;
    }
    while ((got = recv(fd, &byte, 1, 0)) == 1 && byte == '.') {
    }
    if (got < 0) {
        return HANDSHAKE_NEEDS_INPUT;
    }
    if (got == 0) {
        error_set(why, "the peer has gone");
        return HANDSHAKE_FAILED;
    }
    if (byte == 'r') {
        return HANDSHAKE_NEEDS_ROOM;
    }
    if (byte == 'd') {
        fake->done = true;
        return HANDSHAKE_DONE;
    }
    error_set(why, "it was told to");
    return HANDSHAKE_FAILED;
}

static struct received fake_receive(int fd, void *own, const struct iovec *parts, unsigned count,
                                    size_t len)
{
    ENSURE(((const struct fake_own *)own)->done);
    return transport_plain.receive(fd, NULL, parts, count, len);
}

static struct sent fake_send(int fd, void *own, const struct iovec *parts, unsigned count,
                             size_t len)
{
    ENSURE(((const struct fake_own *)own)->done);
    return transport_plain.send(fd, NULL, parts, count, len);
}

static int fake_error(int fd, void *own)
{
    (void)own;
    return transport_plain.error(fd, NULL);
}

static void fake_peer(int fd, const void *own, char *text, size_t room)
{
    (void)own;
    transport_plain.peer(fd, NULL, text, room);
}

static bool fake_shut(int fd, void *own)
{
    (void)own;
    return transport_plain.shut(fd, NULL);
}

static void fake_close(int fd, void *own)
{
    (void)own;
    fake_handshake.closes++;
    transport_plain.close(fd, NULL);
}

static bool fake_late(int fd, void *own)
{
    (void)fd;
    (void)own;
    return fake_handshake.is_late;
}

const struct transport fake_handshake_transport = {
    .late = fake_late,
    .state_size = (sizeof(struct fake_own) + 7) & ~(size_t)7,
    .begin = fake_begin,
    .handshake = fake_handshake_step,
    .receive = fake_receive,
    .send = fake_send,
    .error = fake_error,
    .peer = fake_peer,
    .shut = fake_shut,
    .close = fake_close,
};
