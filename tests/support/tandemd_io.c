/* SPDX-License-Identifier: MIT */
// Executes tandemd with IO_THREADS I/O threads, which serve every connection from the beginning:
// otherwise they would have nothing to do in a quiet test. Neither the caller nor the test needs to
// know. It is a program, since a shell would need descriptors that a test may have closed.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const settings[] = {"--set", ("server.io_threads=" IO_THREADS), "--set",
                                       "server.io_spread=always"};
enum { SETTINGS = sizeof settings / sizeof *settings };

// False for commands that serve no client: the settings that they print must be the test's own.
static int will_serve(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check-config") == 0 || strcmp(argv[i], "hash-token") == 0) {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    // Before the test's own settings, so that these take precedence.
    const char **words = calloc((size_t)argc + SETTINGS + 1, sizeof *words);
    int count = 0;

    if (!words) {
        return EXIT_FAILURE;
    }
    words[count++] = TANDEMD_PATH;
    for (int i = 0; i < SETTINGS && will_serve(argc, argv); i++) {
        words[count++] = settings[i];
    }
    for (int i = 1; i < argc; i++) {
        words[count++] = argv[i];
    }
    (void)execv(TANDEMD_PATH, (char *const *)(uintptr_t)words);
    perror(TANDEMD_PATH);
    free(words);
    return EXIT_FAILURE;
}
