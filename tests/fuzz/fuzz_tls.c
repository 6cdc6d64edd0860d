/* SPDX-License-Identifier: MIT */

// Feeds the transport of TLS whatever there is, from the first byte on or behind what OpenSSL's own
// client has sent. Most bytes go to the socket as they are; a few do something else:
//   0xf0 both go on with the handshake     0xf1 receives          0xf2 sends
//   0xf3 the client sends a text           0xf4 it asks for keys  0xf5 it says that it ends
//   0xf6 it leaves                         0xf7 receives one byte
// The first byte chooses the client's version of TLS. What the transport says must fit together,
// and what it receives of a client that is let alone must be what that has sent.

#include "server/transport/tls.h"

#include "tests/server/tls_files.h"

#include "core/base/macros.h"

#include <openssl/ssl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECEIVED_MAX = 4096 };

static const char TEXT[] = "put 0 0 60 5\r\nhello\r\n";

// The common state of all inputs.
struct common {
    struct tls_service service;
    SSL_CTX *client;
};

struct world {
    SSL *client;
    int fd;
    int peer;
    uint64_t own;
    enum handshake handshake;
    bool disturbed; // bytes of the input's own were sent
    bool lost;
    bool ended;
    size_t said; // bytes of the client
    size_t heard;
};

static char *copy(const char *text)
{
    char *copied = strdup(text);

    ENSURE(copied);
    return copied;
}

static struct common *make_common(void)
{
    static struct common common;
    char folder[FOLDER_ROOM];
    struct pair server = pair_make(&(struct wish){.name = "server"});
    struct tls_settings settings = {.client_certs = TLS_CLIENT_CERTS_OPTIONAL};
    struct error_text why;

    (void)signal(SIGPIPE, SIG_IGN);
    folder_make(folder);
    settings.certificate =
        folder_write_certificates(folder, "server.pem", server.certificate, NULL);
    settings.key = folder_write_key(folder, "server.key", server.key, NULL);
    settings.client_ca = copy(settings.certificate);
    settings.ciphers = copy("");
    common.service = (struct tls_service){.tls = tls_new(&settings, &why), .alpn = "http/1.1"};
    ENSURE(common.service.tls);
    common.client = SSL_CTX_new(TLS_client_method());
    ENSURE(common.client);
    folder_remove(folder);
    free(settings.certificate);
    free(settings.key);
    free(settings.client_ca);
    free(settings.ciphers);
    pair_free(&server);
    return &common;
}

static void shake(struct world *world)
{
    struct error_text why = {.text = ""};

    if (!world->disturbed && world->peer >= 0) {
        (void)SSL_do_handshake(world->client);
    }
    if (world->handshake == HANDSHAKE_NEEDS_INPUT || world->handshake == HANDSHAKE_NEEDS_ROOM) {
        world->handshake = transport_tls.handshake(world->fd, &world->own, &why);
        ENSURE(world->handshake == HANDSHAKE_FAILED || why.text[0] == '\0');
    }
}

static void receive(struct world *world, size_t most)
{
    char bytes[RECEIVED_MAX];
    const struct iovec parts[] = {{bytes, most / 2}, {bytes + most / 2, most - most / 2}};
    struct received received;

    if (world->handshake != HANDSHAKE_DONE) {
        return;
    }
    received = transport_tls.receive(world->fd, &world->own, parts, 2, most);
    ENSURE(!received.needs_room || received.result == TRANSFER_NONE);
    ENSURE(!world->lost || received.result == TRANSFER_FAILED);
    ENSURE(!world->ended || received.result != TRANSFER_BYTES);
    ENSURE((received.result == TRANSFER_BYTES) == (received.len > 0) && received.len <= most);
    world->lost = received.result == TRANSFER_FAILED;
    world->ended = world->ended || received.result == TRANSFER_END;
    for (size_t i = 0; i < received.len; i++) {
        ENSURE(bytes[i] == TEXT[world->heard++ % (sizeof TEXT - 1)]);
    }
    ENSURE(world->heard <= world->said);
}

static void send_answer(struct world *world)
{
    const struct iovec parts[] = {{"INSERTED ", 9}, {"1\r\n", 3}};
    struct sent sent;

    if (world->handshake != HANDSHAKE_DONE) {
        return;
    }
    sent = transport_tls.send(world->fd, &world->own, parts, 2, 12);
    ENSURE(!world->lost || sent.result == TRANSFER_FAILED);
    ENSURE((sent.result == TRANSFER_BYTES) == (sent.len == 12));
    world->lost = sent.result == TRANSFER_FAILED;
}

static void leave(struct world *world)
{
    if (world->peer >= 0) {
        (void)close(world->peer);
        world->peer = -1;
    }
}

static void act(struct world *world, uint8_t action)
{
    bool speaks = world->peer >= 0 && !world->disturbed && SSL_is_init_finished(world->client);

    switch (action) {
    case 0xf0:
        shake(world);
        break;
    case 0xf1:
        receive(world, RECEIVED_MAX);
        break;
    case 0xf2:
        send_answer(world);
        break;
    case 0xf3:
        if (speaks && SSL_write(world->client, TEXT, sizeof TEXT - 1) > 0) {
            world->said += sizeof TEXT - 1;
        }
        break;
    case 0xf4:
        if (speaks && SSL_key_update(world->client, SSL_KEY_UPDATE_REQUESTED) == 1) {
            (void)SSL_do_handshake(world->client);
        }
        break;
    case 0xf5:
        if (speaks) {
            (void)SSL_shutdown(world->client);
        }
        break;
    case 0xf6:
        leave(world);
        break;
    default:
        receive(world, 1);
        break;
    }
}

static bool is_action(uint8_t byte)
{
    return byte >= 0xf0 && byte <= 0xf7;
}

static void play(struct world *world, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t end = at;

        while (end < size && !is_action(data[end])) {
            end++;
        }
        if (end > at && world->peer >= 0) {
            world->disturbed = true;
            (void)!write(world->peer, data + at, end - at);
        }
        if (end < size) {
            act(world, data[end++]);
        }
        at = end;
    }
    shake(world);
    receive(world, RECEIVED_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct common *common;
    struct world world = {.handshake = HANDSHAKE_NEEDS_INPUT};
    int ends[2];

    if (size == 0) {
        return 0;
    }
    if (!common) {
        common = make_common();
    }
    ENSURE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    world.fd = ends[0];
    world.peer = ends[1];
    ENSURE(transport_tls.begin(world.fd, &world.own, &common->service));
    world.client = SSL_new(common->client);
    ENSURE(world.client && SSL_set_fd(world.client, world.peer) == 1);
    SSL_set_connect_state(world.client);
    (void)SSL_set_max_proto_version(world.client, data[0] % 2 ? TLS1_3_VERSION : TLS1_2_VERSION);
    play(&world, data + 1, size - 1);
    transport_tls.close(world.fd, &world.own);
    SSL_free(world.client);
    leave(&world);
    return 0;
}
