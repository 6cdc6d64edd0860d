/* SPDX-License-Identifier: MIT */

// A file of beanstalkd's binlog, of any bytes, is read to its end: each job that comes out of it is
// one that a beanstalk client could have put, and nothing is read that is not there.

#include "core/base/macros.h"
#include "core/job.h"
#include "transfer/beanstalkd/beanstalkd.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/tandem-fuzz-XXXXXX";
static char path[sizeof directory + 16];

static void clean_up(void)
{
    (void)unlink(path);
    (void)rmdir(directory);
}

static void make_directory(void)
{
    if (path[0] == '\0') {
        ENSURE(mkdtemp(directory));
        (void)snprintf(path, sizeof path, "%s/binlog.1", directory);
        (void)atexit(clean_up);
    }
}

static void leave(const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    ENSURE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    (void)close(fd);
}

static void check(const struct job_image *image)
{
    ENSURE(image->now.id > 0 && image->queue.len > 0 && image->ttr > 0);
    ENSURE(image->now.state == JOB_READY || image->now.state == JOB_DELAYED ||
           image->now.state == JOB_BURIED);
    ENSURE(image->now.due_at >= 0);
    for (size_t i = 0; i < image->body.len; i++) {
        (void)*(const volatile char *)(image->body.ptr + i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source_news news;
    enum source_answer answer;
    struct source *source;

    make_directory();
    leave(data, size);
    source = beanstalkd_source.open(directory, &news);
    ENSURE(source);
    do {
        answer = source_survey(source, &news);
    } while (answer != SOURCE_END && answer != SOURCE_FAILED);
    ENSURE(answer == SOURCE_END);
    ENSURE(source_same(source, source_fingerprint(source)));
    while ((answer = source_next(source, &news)) == SOURCE_JOB) {
        check(&news.image);
    }
    ENSURE(answer == SOURCE_END);
    source_close(source);
    return 0;
}
