/* SPDX-License-Identifier: MIT */

// A dump of MySQL: it is read to its end, whatever it is, and a second time the same way.

#include "core/base/macros.h"
#include "transfer/gearmand/dump_read.h"

#include <stdint.h>
#include <string.h>

// Rows and damages; each has a line of its own at least, or a part of one.
static unsigned count(struct dump_read *read, const uint8_t *data, size_t size)
{
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "r");
    enum source_answer answer;
    struct source_news news;
    struct row row;
    unsigned found = 0;

    ENSURE(file);
    dump_read_begin(read, file, "gearman_queue");
    while ((answer = dump_read_next(read, &row, &news)) != SOURCE_END) {
        if (answer == SOURCE_JOB) {
            struct job_image image;
            char why[128];

            (void)rows_image(&row, 1, 1, &image, why, sizeof why);
        }
        ENSURE(answer != SOURCE_FAILED && ++found <= size + 1);
    }
    (void)fclose(file);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct dump_read read;
    unsigned found;

    if (size == 0) {
        return 0;
    }
    found = count(&read, data, size);
    ENSURE(count(&read, data, size) == found);
    dump_read_end(&read);
    return 0;
}
