/* SPDX-License-Identifier: MIT */
#include "push/outcome.h"

#include <stdio.h>

// No endpoint is left alone for longer than this, whatever it asks for: its jobs wait meanwhile.
#define PAUSE_FOR_MAX (600 * NSEC_PER_SEC)

static nsec_t pause_of(curl_off_t seconds)
{
    if (seconds <= 0) {
        return 0;
    }
    return seconds < PAUSE_FOR_MAX / NSEC_PER_SEC ? (nsec_t)seconds * NSEC_PER_SEC : PAUSE_FOR_MAX;
}

static void say(struct outcome *outcome, enum outcome_kind kind, const char *what, const char *more)
{
    outcome->kind = kind;
    (void)snprintf(outcome->why, sizeof outcome->why, "%s%s%s", what, *more ? ": " : "", more);
}

static void judge_status(struct outcome *outcome, const struct ending *ending)
{
    char number[24];

    // With others, Retry-After is about this request, or says when to follow a redirect (RFC 9110
    // 10.2.3).
    if (ending->status == 429 || ending->status == 503) {
        outcome->pause_for = pause_of(ending->retry_after);
    }
    (void)snprintf(number, sizeof number, "HTTP status %ld", ending->status);
    if (ending->status == 429 || outcome->pause_for > 0) {
        say(outcome, OUTCOME_DEFERRED, number, "");
        return;
    }
    outcome->down = ending->status >= 500;
    say(outcome, OUTCOME_REFUSED, number,
        ending->status / 100 == 3 ? "redirects are not followed" : "");
}

static const char *error_of(const struct ending *ending)
{
    return *ending->error ? ending->error : curl_easy_strerror(ending->result);
}

static void judge_failure(struct outcome *outcome, const struct ending *ending)
{
    outcome->down = true;
    // A name may have addresses that are special beside one that was connected to.
    if (!ending->sent && ending->kept_out) {
        say(outcome, OUTCOME_UNREACHABLE, "its address is not of the public Internet", "");
    } else if (!ending->sent) {
        say(outcome, OUTCOME_UNREACHABLE, "no connection", error_of(ending));
    } else if (ending->too_large) {
        outcome->down = false;
        say(outcome, OUTCOME_TOO_LARGE, "the answer is larger than push_max_answer", "");
    } else if (ending->result == CURLE_OPERATION_TIMEDOUT) {
        say(outcome, OUTCOME_TIMED_OUT, "no answer in time", "");
    } else {
        say(outcome, OUTCOME_BROKEN, "no whole answer", error_of(ending));
    }
}

void outcome_judge(struct outcome *outcome, const struct ending *ending)
{
    *outcome = (struct outcome){.kind = OUTCOME_COMPLETED, .status = ending->status};
    // With a status that is none of success, the rest of the answer does not matter.
    if (ending->sent && ending->status >= 300) {
        judge_status(outcome, ending);
    } else if (ending->result != CURLE_OK) {
        judge_failure(outcome, ending);
    } else if (ending->status < 200) {
        outcome->down = true;
        say(outcome, OUTCOME_BROKEN, "no whole answer", "not HTTP");
    }
}

const char *outcome_word(enum outcome_kind kind)
{
    static const char *const words[] = {
#define X(name, word) [name] = (word),
        OUTCOMES(X)
#undef X
    };

    return words[kind];
}
