/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_HTTP_WIRE_RULES_H
#define TANDEM_TESTS_PROTO_HTTP_WIRE_RULES_H

// HTTP conversations where there are rules. At first: the token `alpha` submits to f, `eye`
// observes everything, `omega` does all, and a client without a token may do nothing.

#include "tests/proto_common/wire_callers.h"
#include "tests/proto_http/wire_http.h"

// A test in a fresh world with these rules.
#define RULES(test) cmocka_unit_test_setup_teardown(test, rules_setup, http_teardown)
int rules_setup(void **state);

#define BEARER(token) "Authorization: Bearer " token "\r\n"
#define ALPHA BEARER("alpha")
#define EYE BEARER("eye")
#define OMEGA BEARER("omega")

// From now on, clients without a token have these rights (0: none). The peers a and b are told so.
void anybody_may(struct web *t, unsigned rights, const char *queues);

// There is such a token, too.
void token_may(struct web *t, const char *token, unsigned rights, const char *queues);

// The answer asks for a token; it says that the caller, who is known, may not.
#define CHALLENGE "Bearer realm=\"tandem\""
void is_challenged(const struct http_answer *answer);
void is_forbidden(const struct http_answer *answer);

#endif
