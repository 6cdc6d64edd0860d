/* SPDX-License-Identifier: MIT */
// Makes the manual page of the configuration file while the project is built; it is not installed.
//
//     print_manual < FRAME > PAGE
#include "server/config/manual.h"
#include "server/config/settings.h"

#include <stdio.h>

int main(void)
{
    const struct settings_source source = {.path = NULL};
    struct error_text why;
    struct settings *settings = settings_load(&source, &why);
    bool good = settings && manual_print(&settings->config, stdin, stdout, &why);

    settings_free(settings);
    if (!good || fflush(stdout) != 0) {
        (void)fprintf(stderr, "print_manual: %s\n", good ? "standard output is full" : why.text);
        return 1;
    }
    return 0;
}
