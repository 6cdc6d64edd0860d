/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_host_private.h"

#include "core/base/macros.h"

#include "tests/proto_common/wire_host.h"

#include <string.h>

static void on_wake(struct wire *wire)
{
    struct peer *peer = (void *)wire;

    ENSURE(!peer->quiet);
    peer->runnable = true;
    peer->blocked = false;
}

static void on_drop(struct wire *wire, const char *why)
{
    struct peer *peer = (void *)wire;

    ENSURE(!peer->quiet && *why);
    peer->dropped = true;
}

static void on_finish(struct wire *wire)
{
    struct peer *peer = (void *)wire;

    ENSURE(!peer->quiet);
    peer->finished = true;
    peer->runnable = false;
}

static void on_shut(struct wire *wire)
{
    struct peer *peer = (void *)wire;

    ENSURE(!peer->quiet);
    peer->shut = true;
}

static void on_peer(const struct wire *wire, char *text)
{
    (void)wire;
    memcpy(text, "127.0.0.1", sizeof "127.0.0.1");
}

static void on_tls_hello(const struct wire *wire)
{
    ENSURE(wire->number > 0);
    ((const struct peer *)(const void *)wire)->rig->tls_hellos++;
}

static void on_proxy_head(const struct wire *wire)
{
    ENSURE(wire->number > 0);
    ((const struct peer *)(const void *)wire)->rig->proxy_heads++;
}

static struct wire_caller on_identify(struct wire *wire, const struct wire_claim *claim)
{
    struct peer *peer = (void *)wire;

    ENSURE(!peer->quiet);
    return wire_callers_identify(&peer->rig->callers, claim, peer->rig->now.mono);
}

static bool on_is_local(const struct wire *wire)
{
    const struct peer *peer = (const void *)wire;

    return !peer->rig->callers.remote;
}

static bool on_overflows(struct wire *wire)
{
    struct peer *peer = (void *)wire;
    size_t most = peer->rig->kept_most;

    ENSURE(!peer->quiet);
    if (most == 0 ||
        output_kept(&wire->out) + peer->kept + peer->frontend->holds(peer->conn) <= most) {
        return false;
    }
    on_drop(wire, "keeps too much");
    return true;
}

static void on_refused(struct wire *wire, enum refusal_kind refusal)
{
    ((struct peer *)(void *)wire)->rig->refusals[refusal]++;
}

static void on_too_large(const struct wire *wire, const char *what, uint64_t size,
                         const char *setting)
{
    struct rig *rig = ((const struct peer *)(const void *)wire)->rig;

    (void)what;
    rig->too_large.size = size;
    rig->too_large.setting = setting;
    rig->too_large.count++;
}

const struct wire_host wire_host_ops = {.wake = on_wake,
                                        .drop = on_drop,
                                        .finish = on_finish,
                                        .shut = on_shut,
                                        .peer = on_peer,
                                        .tls_hello = on_tls_hello,
                                        .proxy_head = on_proxy_head,
                                        .identify = on_identify,
                                        .is_local = on_is_local,
                                        .overflows = on_overflows,
                                        .refused = on_refused,
                                        .too_large = on_too_large};

struct rig_too_large rig_too_large(const struct rig *rig)
{
    return rig->too_large;
}

unsigned rig_tls_hellos(const struct rig *rig)
{
    return rig->tls_hellos;
}

unsigned rig_proxy_heads(const struct rig *rig)
{
    return rig->proxy_heads;
}

bool rig_logged_too_large(struct rig *rig, uint64_t size, const char *setting)
{
    const struct rig_too_large *logged = &rig->too_large;
    bool good = logged->count == 1 && logged->size == size && strcmp(logged->setting, setting) == 0;

    rig->too_large.count = 0;
    return good;
}
