/* SPDX-License-Identifier: MIT */
#include "tests/server/server_sandbox.h"

#include "tests/server/server_cmocka.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Far more than anything here takes.
enum { PATIENCE_SECONDS = 30 };

int sandbox_setup(void **state)
{
    struct sandbox *sandbox = calloc(1, sizeof *sandbox);

    assert_non_null(sandbox);
    (void)snprintf(sandbox->dir, sizeof sandbox->dir, "/tmp/tandem-process-XXXXXX");
    assert_non_null(mkdtemp(sandbox->dir));
    (void)snprintf(sandbox->config, sizeof sandbox->config, "%s/tandemd.conf", sandbox->dir);
    (void)snprintf(sandbox->log, sizeof sandbox->log, "%s/log", sandbox->dir);
    (void)snprintf(sandbox->socket, sizeof sandbox->socket, "%s/socket", sandbox->dir);
    (void)snprintf(sandbox->pid, sizeof sandbox->pid, "%s/pid", sandbox->dir);
    (void)snprintf(sandbox->journal, sizeof sandbox->journal, "%s/journal", sandbox->dir);
    *state = sandbox;
    return 0;
}

void sandbox_clear_journal(const struct sandbox *sandbox)
{
    DIR *listing = opendir(sandbox->journal);
    const struct dirent *entry;

    while (listing && (entry = readdir(listing))) {
        (void)unlinkat(dirfd(listing), entry->d_name, 0);
    }
    if (listing) {
        (void)closedir(listing);
    }
    (void)rmdir(sandbox->journal);
}

int sandbox_teardown(void **state)
{
    struct sandbox *sandbox = *state;

    (void)unlink(sandbox->config);
    (void)unlink(sandbox->log);
    (void)unlink(sandbox->socket);
    (void)unlink(sandbox->pid);
    sandbox_clear_journal(sandbox);
    (void)rmdir(sandbox->dir);
    free(sandbox);
    return 0;
}

void sandbox_expect_log(const struct sandbox *sandbox, const char *words)
{
    time_t end_at = time(NULL) + PATIENCE_SECONDS;
    char text[4096] = "";

    while (!strstr(text, words)) {
        FILE *file = fopen(sandbox->log, "r");

        if (file) {
            text[fread(text, 1, sizeof text - 1, file)] = '\0';
            (void)fclose(file);
        }
        if (time(NULL) > end_at) {
            fail_msg("expected \"%s\" in the log: %s", words, text);
        }
    }
}
