/* SPDX-License-Identifier: MIT */
#include "tests/proto_http/wire_rules.h"

#include <string.h>

static struct grants *allow(unsigned rights, const char *queues)
{
    const struct grant grant = {.rights = rights, .queues = slice_str(queues)};
    struct grants *grants = grants_new(&grant, rights ? 1 : 0);

    assert_non_null(grants);
    return grants;
}

void anybody_may(struct web *t, unsigned rights, const char *queues)
{
    struct wire_callers *callers = rig_callers(t->rig);

    grants_unref(callers->default_grants);
    callers->default_grants = allow(rights, queues);
    assert_false(peer_grant(t->a, callers->default_grants));
    assert_false(peer_grant(t->b, callers->default_grants));
}

void token_may(struct web *t, const char *token, unsigned rights, const char *queues)
{
    struct grants *grants = allow(rights, queues);

    wire_callers_know(rig_callers(t->rig), token, grants);
    grants_unref(grants);
}

int rules_setup(void **state)
{
    int result = http_setup(state);
    struct web *t = *state;

    anybody_may(t, 0, "");
    token_may(t, "alpha", MAY_SUBMIT, "f");
    token_may(t, "eye", MAY_OBSERVE, "*");
    token_may(t, "omega", MAY_EVERYTHING, "*");
    return result;
}

void is_challenged(const struct http_answer *answer)
{
    assert_int_equal(answer->status, 401);
    field_is(answer, "WWW-Authenticate", CHALLENGE);
    field_is(answer, "X-Gearman-Command", NULL);
}

void is_forbidden(const struct http_answer *answer)
{
    field_is(answer, "WWW-Authenticate", NULL);
    field_is(answer, "X-Gearman-Command", NULL);
}
