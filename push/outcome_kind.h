/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_OUTCOME_KIND_H
#define TANDEM_PUSH_OUTCOME_KIND_H

// What a request came to, and what that means for its job:
//
//   completed     2xx: the job is done, the answer its result
//   deferred      429, or 503 that says when: given back as if it had not been taken, and the
//                 endpoint is left alone for as long as it asks
//   unreachable   nothing of it has left, since there was no connection: given back like that, too
//   unsent        it was not sent after all, for lack of memory, or because the broker stops: given
//                 back like that, too
//   refused       any other answer: a failed attempt. So are all that follow
//   broken        the connection broke, or what came is not HTTP
//   timed out     it was sent, and not answered in time
//   too large     the answer is larger than push_max_answer

#define OUTCOMES(X)                                                                                \
    X(OUTCOME_COMPLETED, "completed")                                                              \
    X(OUTCOME_DEFERRED, "deferred")                                                                \
    X(OUTCOME_UNREACHABLE, "unreachable")                                                          \
    X(OUTCOME_UNSENT, "unsent")                                                                    \
    X(OUTCOME_REFUSED, "refused")                                                                  \
    X(OUTCOME_BROKEN, "broken")                                                                    \
    X(OUTCOME_TIMED_OUT, "timed_out")                                                              \
    X(OUTCOME_TOO_LARGE, "too_large")
enum outcome_kind {
#define X(name, word) name,
    OUTCOMES(X)
#undef X
};
#define OUTCOME_KINDS (OUTCOME_TOO_LARGE + 1)

// The word for metrics and the API; static.
const char *outcome_word(enum outcome_kind kind);

#endif
