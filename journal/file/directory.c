/* SPDX-License-Identifier: MIT */
#include "journal/file/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int directory_sync(int directory)
{
    int error;

    do {
        error = fsync(directory) == 0 ? 0 : errno;
    } while (error == EINTR);
    return error;
}

// Syncs the directory that the last name of the path stands in, so that the name will last.
static int parent_sync(char *path)
{
    char *slash = strrchr(path, '/');
    int parent;
    int error;

    if (slash && slash != path) {
        *slash = '\0';
    }
    parent = open(slash == path ? "/" : slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    error = parent < 0 ? errno : directory_sync(parent);
    if (slash) {
        *slash = '/';
    }
    if (parent >= 0) {
        (void)close(parent);
    }
    return error;
}

// Makes the directory, in one that is there. Slashes at the end are cut off.
static int make_directory(char *path)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/') {
        path[--len] = '\0';
    }
    if (mkdir(path, 0700) != 0) {
        return errno == EEXIST ? 0 : errno;
    }
    return parent_sync(path);
}

int directory_open(const char *path, int *directory)
{
    static const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    char *copy;
    int error = 0;

    *directory = open(path, flags);
    if (*directory >= 0 || errno != ENOENT || !*path) {
        return *directory < 0 ? errno : 0;
    }
    copy = strdup(path);
    if (!copy) {
        return ENOMEM;
    }
    error = make_directory(copy);
    free(copy);
    if (error) {
        return error;
    }
    *directory = open(path, flags);
    return *directory < 0 ? errno : 0;
}
