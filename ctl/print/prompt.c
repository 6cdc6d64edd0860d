/* SPDX-License-Identifier: MIT */
#include "ctl/print/prompt.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool prompt_confirms(const char *question)
{
    char answer[16];

    (void)fprintf(stderr, "%s [y/N] ", question);
    (void)fflush(stderr);
    if (!fgets(answer, sizeof answer, stdin)) {
        (void)fputc('\n', stderr);
        return false;
    }
    answer[strcspn(answer, "\r\n")] = '\0';
    return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}
