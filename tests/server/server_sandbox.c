/* SPDX-License-Identifier: MIT */
#include "tests/server/server_sandbox.h"

#include "tests/support/with_cmocka.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Far more than anything here takes.
enum { PATIENCE_SECONDS = 120 };

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
    (void)snprintf(sandbox->tls, sizeof sandbox->tls, "%s/tls", sandbox->dir);
    *state = sandbox;
    return 0;
}

static void clear_dir(const char *path)
{
    DIR *listing = opendir(path);
    const struct dirent *entry;

    while (listing && (entry = readdir(listing))) {
        (void)unlinkat(dirfd(listing), entry->d_name, 0);
    }
    if (listing) {
        (void)closedir(listing);
    }
    (void)rmdir(path);
}

void sandbox_clear_journal(const struct sandbox *sandbox)
{
    clear_dir(sandbox->journal);
}

int sandbox_teardown(void **state)
{
    struct sandbox *sandbox = *state;

    (void)unlink(sandbox->config);
    (void)unlink(sandbox->log);
    (void)unlink(sandbox->socket);
    (void)unlink(sandbox->pid);
    sandbox_clear_journal(sandbox);
    clear_dir(sandbox->tls);
    (void)rmdir(sandbox->dir);
    free(sandbox);
    return 0;
}

void sandbox_make_certificates(const struct sandbox *sandbox)
{
    pid_t pid;
    int status;

    assert_int_equal(mkdir(sandbox->tls, 0700), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)execlp("python3", "python3", CERTIFICATES, sandbox->tls, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
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

void sandbox_configure(const struct sandbox *sandbox, const char *text)
{
    FILE *file = fopen(sandbox->config, "w");

    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}
