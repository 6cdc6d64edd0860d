/* SPDX-License-Identifier: MIT */
#include "tests/bench/procfs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_ROOM 128

// The first line of one of a thread's files.
static bool read_line(pid_t pid, pid_t thread, const char *name, char line[LINE_ROOM])
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/%s", (long)pid, (long)thread, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool found = fgets(line, LINE_ROOM, file) != NULL;
    (void)fclose(file);
    return found;
}

// The first number of schedstat is the time spent on a CPU.
static bool read_thread(pid_t pid, struct procfs_thread *thread)
{
    char line[LINE_ROOM];
    if (!read_line(pid, thread->id, "schedstat", line))
        return false;
    thread->cpu = strtoull(line, NULL, 10);
    if (!read_line(pid, thread->id, "comm", line))
        return false;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = strpbrk(line, " ,:="); at; at = strpbrk(at, " ,:="))
        *at = '_';
    snprintf(thread->name, sizeof thread->name, "%.*s", PROCFS_NAME_ROOM - 1, line);
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct procfs_thread *left = a;
    const struct procfs_thread *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

bool procfs_add_threads(pid_t pid, struct procfs_threads *threads)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return false;
    size_t first = threads->count;
    bool fits = true;
    for (struct dirent *entry = readdir(tasks); entry && fits; entry = readdir(tasks)) {
        struct procfs_thread thread = {.id = (pid_t)strtol(entry->d_name, NULL, 10)};
        if (thread.id == 0 || !read_thread(pid, &thread))
            continue;
        fits = threads->count < PROCFS_THREADS_MAX;
        if (fits)
            threads->list[threads->count++] = thread;
    }
    closedir(tasks);
    qsort(threads->list + first, threads->count - first, sizeof threads->list[0], by_id);
    return fits && threads->count > first;
}

static const struct procfs_thread *find(const struct procfs_threads *threads, pid_t id)
{
    for (size_t i = 0; i < threads->count; i++) {
        if (threads->list[i].id == id)
            return &threads->list[i];
    }
    return NULL;
}

void procfs_subtract(struct procfs_threads *threads, const struct procfs_threads *earlier)
{
    for (size_t i = 0; i < threads->count; i++) {
        struct procfs_thread *thread = &threads->list[i];
        const struct procfs_thread *before = find(earlier, thread->id);
        if (before)
            thread->cpu -= before->cpu;
    }
}

uint64_t procfs_sum(const struct procfs_threads *threads)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < threads->count; i++)
        sum += threads->list[i].cpu;
    return sum;
}
