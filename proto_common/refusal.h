/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_REFUSAL_H
#define TANDEM_PROTO_COMMON_REFUSAL_H

// The kinds of refusals, by a front-end or its host. Refusals are counted by protocol and kind, and
// operators see the counts (introspect.h). Each row: the constant, its name in metrics and JSON,
// and its help.

#define REFUSALS(X)                                                                                \
    X(FORBIDDEN, "forbidden", "the caller may not")                                                \
    X(BAD, "bad", "not understood: a malformed command, packet or request")                        \
    X(TOO_LARGE, "too_large", "a body, name or line that is too long")                             \
    X(DRAINING, "draining", "new jobs while the broker drains")                                    \
    X(MEMORY, "memory", "no memory, or too little of it")                                          \
    X(STORE, "store", "the journal accepts no records")                                            \
    X(LIMIT, "limit", "a limit of jobs or queues")                                                 \
    X(CONNECTION, "connection", "a connection above a limit of connections")                       \
    X(HANDSHAKE, "handshake", "a TLS handshake, or a head of the PROXY protocol, that failed")     \
    X(PROXY, "proxy", "a connection for proxies only, from another address")                       \
    X(TOKEN, "token", "an unknown token")                                                          \
    X(UNREAD, "unread", "a client dropped because it does not read")                               \
    X(IDLE, "idle", "a client dropped because it took too long")
enum refusal_kind {
#define X(name, word, help) REFUSAL_##name,
    REFUSALS(X)
#undef X
        REFUSAL_COUNT
};

#endif
