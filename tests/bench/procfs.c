/* SPDX-License-Identifier: MIT */
#include "tests/bench/procfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

// The first number of schedstat is the time spent on a CPU.
static bool read_schedstat(pid_t pid, const char *thread, uint64_t *nsec)
{
    char path[320];
    snprintf(path, sizeof path, "/proc/%ld/task/%s/schedstat", (long)pid, thread);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    char line[128];
    bool found = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    if (found)
        *nsec = strtoull(line, NULL, 10);
    return found;
}

bool procfs_cpu_time(pid_t pid, uint64_t *nsec)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return false;
    *nsec = 0;
    bool found = false;
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks)) {
        uint64_t of_thread = 0;
        if (entry->d_name[0] != '.' && read_schedstat(pid, entry->d_name, &of_thread)) {
            *nsec += of_thread;
            found = true;
        }
    }
    closedir(tasks);
    return found;
}
