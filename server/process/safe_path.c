/* SPDX-License-Identifier: MIT */
// O_PATH is Linux's own.
#define _GNU_SOURCE
#include "server/process/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

// The kernel's limit.
enum { LINKS_MAX = 40 };

#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

// The walk along a path. The part not yet walked begins at `rest`.
struct walk {
    char path[PATH_MAX];
    char *rest;
    unsigned links;
    bool follow;
};

static bool safe_path_fail(struct safe_path *safe, struct error_text *why, const char *what)
{
    error_set(why, "%s", what);
    safe_path_close(safe);
    return false;
}

static bool is_trusted(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

// Whether only root and ourselves can have created the link. In a sticky directory such as /tmp,
// every user can create links, but cannot replace those of other users.
static bool link_is_trusted(int dir, const struct stat *link)
{
    struct stat st;

    if (fstat(dir, &st) != 0 || !is_trusted(st.st_uid)) {
        return false;
    }
    return (st.st_mode & 022) == 0 || ((st.st_mode & S_ISVTX) != 0 && is_trusted(link->st_uid));
}

// Opens the directory in which the path begins.
static bool safe_path_start(struct safe_path *safe, const char *path)
{
    if (*path != '/' && safe->dir >= 0) {
        return true;
    }
    safe_path_close(safe);
    safe->dir = open(*path == '/' ? "/" : ".", DIR_FLAGS);
    return safe->dir >= 0;
}

// Replaces the link by its target, in front of the rest.
static bool walk_splice(struct walk *walk, struct safe_path *safe, struct error_text *why)
{
    char target[PATH_MAX];
    ssize_t len = readlinkat(safe->dir, safe->name, target, sizeof target);
    size_t rest_len = strlen(walk->rest);

    if (len < 0) {
        return safe_path_fail(safe, why, strerror(errno));
    }
    if (++walk->links > LINKS_MAX) {
        return safe_path_fail(safe, why, strerror(ELOOP));
    }
    if ((size_t)len + 1 + rest_len >= sizeof walk->path) {
        return safe_path_fail(safe, why, strerror(ENAMETOOLONG));
    }
    memmove(walk->path + len + 1, walk->rest, rest_len + 1);
    memcpy(walk->path, target, (size_t)len);
    walk->path[len] = '/';
    if (rest_len == 0) {
        walk->path[len] = '\0';
    }
    walk->rest = walk->path;
    return safe_path_start(safe, walk->path) || safe_path_fail(safe, why, strerror(errno));
}

// Takes the next name off the rest. False if it is too long.
static bool walk_name(struct walk *walk, struct safe_path *safe)
{
    size_t len;

    walk->rest += strspn(walk->rest, "/");
    len = strcspn(walk->rest, "/");
    if (len >= sizeof safe->name) {
        return false;
    }
    memcpy(safe->name, walk->rest, len);
    safe->name[len] = '\0';
    walk->rest += len;
    return true;
}

static bool safe_path_enter(struct safe_path *safe, struct error_text *why)
{
    int dir = openat(safe->dir, safe->name, DIR_FLAGS | O_NOFOLLOW);

    if (dir < 0) {
        return safe_path_fail(safe, why, strerror(errno));
    }
    (void)close(safe->dir);
    safe->dir = dir;
    return true;
}

// Walks to the next name. `*there`: it is the last one, and not a link to follow.
static bool walk_step(struct walk *walk, struct safe_path *safe, bool *there,
                      struct error_text *why)
{
    struct statfs fs;
    struct stat st;
    bool last;
    bool link;

    if (!walk_name(walk, safe)) {
        return safe_path_fail(safe, why, strerror(ENAMETOOLONG));
    }
    last = *walk->rest == '\0';
    link = fstatat(safe->dir, safe->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
    *there = last && !(link && walk->follow);
    if (*there) {
        return true;
    }
    if (!link) {
        return safe_path_enter(safe, why);
    }
    if (!link_is_trusted(safe->dir, &st)) {
        return safe_path_fail(safe, why, "leads through a symbolic link that others can put there");
    }
    if (last && fstatfs(safe->dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC) {
        safe->is_magic = true;
        *there = true;
        return true;
    }
    return walk_splice(walk, safe, why);
}

bool safe_path_find(struct safe_path *safe, const char *path, bool follow, struct error_text *why)
{
    size_t len = strlen(path);
    struct walk walk = {.follow = follow};
    bool there = false;

    *safe = (struct safe_path){.dir = -1};
    if (len >= sizeof walk.path) {
        return safe_path_fail(safe, why, strerror(ENAMETOOLONG));
    }
    memcpy(walk.path, path, len + 1);
    walk.rest = walk.path;
    if (!safe_path_start(safe, path)) {
        return safe_path_fail(safe, why, strerror(errno));
    }
    while (!there) {
        if (!walk_step(&walk, safe, &there, why)) {
            return false;
        }
    }
    if (safe->name[0] == '\0') {
        return safe_path_fail(safe, why, strerror(EISDIR));
    }
    return true;
}

// A second name may belong to any of root's files. A file of another user in a world-writable
// directory may have been created to read what we write, or to have us read it.
static bool is_safe_file(const struct safe_path *safe, const struct stat *st,
                         struct error_text *why)
{
    struct stat dir;

    if (geteuid() != 0 || (!S_ISREG(st->st_mode) && !S_ISFIFO(st->st_mode))) {
        return true;
    }
    if (S_ISREG(st->st_mode) && st->st_nlink > 1) {
        return error_set(why, "the file has a second name, which may be that of any file");
    }
    if (!safe->is_magic && !is_trusted(st->st_uid) &&
        (fstat(safe->dir, &dir) != 0 || (dir.st_mode & S_IWOTH) != 0)) {
        return error_set(why, "the file is another user's, in a directory that all can write to");
    }
    return true;
}

bool safe_path_stat(const struct safe_path *safe, struct stat *st, struct error_text *why)
{
    if (fstatat(safe->dir, safe->name, st, safe->is_magic ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
        *st = (struct stat){.st_mode = 0};
        return true;
    }
    if (S_ISLNK(st->st_mode)) {
        return error_set(why, "%s", strerror(ELOOP));
    }
    return is_safe_file(safe, st, why);
}

int safe_path_open(const struct safe_path *safe, int flags, mode_t mode, bool *made,
                   struct error_text *why)
{
    int all = flags | O_CLOEXEC | (safe->is_magic ? 0 : O_NOFOLLOW);
    struct stat st;
    int fd = -1;

    if (made) {
        fd = openat(safe->dir, safe->name, all | O_CREAT | O_EXCL, mode);
        *made = fd >= 0;
    }
    if (fd < 0 && (!made || errno == EEXIST)) {
        fd = openat(safe->dir, safe->name, all);
    }
    if (fd < 0) {
        error_set(why, "%s", strerror(errno));
        return -1;
    }
    if (fstat(fd, &st) == 0 && !is_safe_file(safe, &st, why)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

void safe_path_close(struct safe_path *safe)
{
    if (safe->dir >= 0) {
        (void)close(safe->dir);
        safe->dir = -1;
    }
}
