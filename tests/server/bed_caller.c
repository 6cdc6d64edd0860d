/* SPDX-License-Identifier: MIT */
#include "tests/server/bed_caller.h"
#include "tests/support/rights.h"

#include <stdio.h>
#include <string.h>

void bed_caller_take(struct bed_caller *caller, struct grants *grants)
{
    struct grants *before = caller->grants;

    caller->grants = grants_ref(grants);
    grants_unref(before);
}

static void answer(const struct bed_caller *caller, const char *text)
{
    output_write(&caller->wire->out, slice_str(text));
}

// Answers with the word and what the caller may do.
static void answer_may(const struct bed_caller *caller, const char *word)
{
    char text[64];

    if (caller->grants) {
        (void)snprintf(text, sizeof text, "%s %u\n", word,
                       rights_on(caller->grants, SLICE("jobs")));
    } else {
        (void)snprintf(text, sizeof text, "%s all\n", word);
    }
    answer(caller, text);
}

static void identify(struct bed_caller *caller, const struct slice *token)
{
    const struct wire_claim claim = {.token = token, .also = caller->front->also};
    struct wire_caller found = wire_identify(caller->wire, &claim);
    nsec_t now_at = broker_now(caller->front->broker).mono;
    char text[64];

    caller->front->looked_at = broker_take_links(caller->front->broker);
    switch (found.kind) {
    case CALLER_ADDRESS:
    case CALLER_KNOWN:
        bed_caller_take(caller, found.grants);
        answer_may(caller, found.kind == CALLER_KNOWN ? "known" : "address");
        return;
    case CALLER_UNKNOWN:
        answer(caller, "unknown\n");
        return;
    case CALLER_LATER:
        (void)snprintf(text, sizeof text, "later %lld\n",
                       (long long)((found.again_at - now_at + NSEC_PER_SEC - 1) / NSEC_PER_SEC));
        answer(caller, text);
        return;
    }
}

bool bed_caller_ask(struct bed_caller *caller, const char *line)
{
    struct slice token = slice_of(line + 6, strlen(line) < 6 ? 0 : strlen(line) - 6);

    if (strncmp(line, "claim ", 6) == 0) {
        identify(caller, &token);
    } else if (strcmp(line, "itself") == 0) {
        identify(caller, NULL);
    } else if (strcmp(line, "may") == 0) {
        answer_may(caller, "may");
    } else if (strcmp(line, "local") == 0) {
        answer(caller, wire_is_local(caller->wire) ? "yes\n" : "no\n");
    } else {
        return false;
    }
    return true;
}
