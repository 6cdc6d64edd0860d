/* SPDX-License-Identifier: MIT */
#include "transfer/line_words.h"

#include "core/dead_letter.h"
#include "core/submit.h"

#include <stddef.h>

const char *const line_states[] = {
    [JOB_DELAYED] = "delayed", [JOB_READY] = "ready", [JOB_RESERVED] = "reserved",
    [JOB_BURIED] = "buried",   [JOB_STATES] = NULL,
};

const char *const line_on_fail[] = {
    [ON_FAIL_BURY] = "bury",
    [ON_FAIL_DROP] = "drop",
    [ON_FAIL_DROP + 1] = NULL,
};

const char *const line_on_loss[] = {
    [ON_LOSS_FRONT] = "front",
    [ON_LOSS_BACK] = "back",
    [ON_LOSS_BACK + 1] = NULL,
};

const char *const line_key_kinds[] = {
    [KEY_NONE] = "none",
    [KEY_NAME] = "name",
    [KEY_CONTENT] = "content",
    [KEY_CONTENT + 1] = NULL,
};

const char *const line_dead_whys[] = {
    [DEAD_ATTEMPTS - 1] = "attempts",   [DEAD_FAILED - 1] = "failed",
    [DEAD_EXCEPTION - 1] = "exception", [DEAD_EXPIRED - 1] = "expired",
    [DEAD_REASONS - 1] = NULL,
};
