/* SPDX-License-Identifier: MIT */
#include "ctl/confirm.h"

#include "ctl/print/text.h"
#include "ctl/print/screen.h"

#include <string.h>

enum outcome confirm(struct context *context, const char *question)
{
    struct text escaped = {0};
    bool yes = context->options->yes;

    if (yes) {
        return OUTCOME_DONE;
    }
    if (!context->screen.talks) {
        return problem_set(context->problem, OUTCOME_UNCONFIRMED,
                           "nobody is here to be asked: \"%s\" With --yes it is done without",
                           question);
    }
    text_add_escaped(&escaped, slice_str(question), false);
    yes = prompt_confirms(text_string(&escaped));
    text_free(&escaped);
    return yes ? OUTCOME_DONE
               : problem_set(context->problem, OUTCOME_UNCONFIRMED, "nothing was done");
}
