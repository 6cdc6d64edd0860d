/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PROTO_COMMON_SIGHT_REFUSALS_H
#define TANDEM_PROTO_COMMON_SIGHT_REFUSALS_H

// Why a front-end, or its host, refused something: what is counted by protocol and shown to
// operators (sight.h). A constant, the word by which programs know it, and what people read.

#define SIGHT_REFUSALS(X)                                                                          \
    X(FORBIDDEN, "forbidden", "the caller may not")                                                \
    X(BAD, "bad", "not understood: a malformed command, packet or request")                        \
    X(TOO_LARGE, "too_large", "a body, name or line that is too long")                             \
    X(DRAINING, "draining", "new jobs while the broker drains")                                    \
    X(MEMORY, "memory", "no memory, or too little of it")                                          \
    X(STORE, "store", "the journal takes nothing")                                                 \
    X(LIMIT, "limit", "a limit of jobs or queues")                                                 \
    X(CONNECTION, "connection", "a connection above a limit of connections")                       \
    X(HANDSHAKE, "handshake", "a TLS handshake that failed")                                       \
    X(TOKEN, "token", "a token that is none")                                                      \
    X(UNREAD, "unread", "a client dropped because it does not read")                               \
    X(IDLE, "idle", "a client dropped because it took too long")
enum sight_refusal {
#define X(name, word, help) SIGHT_##name,
    SIGHT_REFUSALS(X)
#undef X
        SIGHT_REFUSAL_COUNT
};

#endif
