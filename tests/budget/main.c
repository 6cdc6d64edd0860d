/* SPDX-License-Identifier: MIT */
// instruction_budget CASE COUNT repeats the operation of a case COUNT times, under Callgrind.
// Without arguments, it prints the names of the cases.
#include "tests/budget/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct budget_area *const areas[] = {&beanstalk_area, &gearman_area, &http_area};

#define AREAS (sizeof areas / sizeof areas[0])

static void run(const struct budget_area *area, const struct budget_case *one, unsigned long count)
{
    struct host *host = host_new(area->frontend, area->settings, one->durable);

    one->run(host, count);
    host_free(host);
}

// Runs the case of that name; returns false if it does not exist. NULL prints the names.
static bool visit(const char *name, unsigned long count)
{
    bool found = false;

    for (size_t i = 0; i < AREAS; i++) {
        for (const struct budget_case *one = areas[i]->cases; one->name; one++) {
            if (!name) {
                (void)puts(one->name);
            } else if (strcmp(name, one->name) == 0) {
                run(areas[i], one, count);
                found = true;
            }
        }
    }
    return found || !name;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

    if (!visit(name, count)) {
        (void)fprintf(stderr, "no case of that name: %s\n", name);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
