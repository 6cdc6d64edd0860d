/* SPDX-License-Identifier: MIT */
#include "tests/server/server_den.h"

#include "tests/server/server_cmocka.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Far more than anything here takes.
enum { PATIENCE_SECONDS = 30 };

int den_setup(void **state)
{
    struct den *den = calloc(1, sizeof *den);

    assert_non_null(den);
    (void)snprintf(den->dir, sizeof den->dir, "/tmp/tandem-process-XXXXXX");
    assert_non_null(mkdtemp(den->dir));
    (void)snprintf(den->config, sizeof den->config, "%s/tandemd.conf", den->dir);
    (void)snprintf(den->log, sizeof den->log, "%s/log", den->dir);
    (void)snprintf(den->socket, sizeof den->socket, "%s/socket", den->dir);
    (void)snprintf(den->pid, sizeof den->pid, "%s/pid", den->dir);
    (void)snprintf(den->journal, sizeof den->journal, "%s/journal", den->dir);
    *state = den;
    return 0;
}

void den_clear_journal(const struct den *den)
{
    DIR *listing = opendir(den->journal);
    const struct dirent *entry;

    while (listing && (entry = readdir(listing))) {
        (void)unlinkat(dirfd(listing), entry->d_name, 0);
    }
    if (listing) {
        (void)closedir(listing);
    }
    (void)rmdir(den->journal);
}

int den_teardown(void **state)
{
    struct den *den = *state;

    (void)unlink(den->config);
    (void)unlink(den->log);
    (void)unlink(den->socket);
    (void)unlink(den->pid);
    den_clear_journal(den);
    (void)rmdir(den->dir);
    free(den);
    return 0;
}

void den_expect_log(const struct den *den, const char *words)
{
    time_t end_at = time(NULL) + PATIENCE_SECONDS;
    char text[4096] = "";

    while (!strstr(text, words)) {
        FILE *file = fopen(den->log, "r");

        if (file) {
            text[fread(text, 1, sizeof text - 1, file)] = '\0';
            (void)fclose(file);
        }
        if (time(NULL) > end_at) {
            fail_msg("expected \"%s\" in the log: %s", words, text);
        }
    }
}
