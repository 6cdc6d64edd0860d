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

// As many as the kernel follows.
enum { LINKS_MAX = 40 };

#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

// On the way: what is still to be walked begins at `rest`.
struct way {
    char path[PATH_MAX];
    char *rest;
    unsigned links;
    bool follow;
};

static bool place_fail(struct place *place, struct complaint *why, const char *what)
{
    complaint_set(why, "%s", what);
    place_close(place);
    return false;
}

static bool is_trusted(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

// Whether nobody but root and ourselves can have put the link there. In a directory such as /tmp
// everybody can put links of his own, but not take away another's.
static bool link_counts(int dir, const struct stat *link)
{
    struct stat st;

    if (fstat(dir, &st) != 0 || !is_trusted(st.st_uid)) {
        return false;
    }
    return (st.st_mode & 022) == 0 || ((st.st_mode & S_ISVTX) != 0 && is_trusted(link->st_uid));
}

static bool is_proc(int dir)
{
    struct statfs fs;

    return fstatfs(dir, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

// Goes on from where an absolute path begins, or a relative one.
static bool place_start(struct place *place, const char *path)
{
    if (*path != '/' && place->dir >= 0) {
        return true;
    }
    place_close(place);
    place->dir = open(*path == '/' ? "/" : ".", DIR_FLAGS);
    return place->dir >= 0;
}

// Puts what the link says in front of the rest.
static bool way_splice(struct way *way, struct place *place, struct complaint *why)
{
    char target[PATH_MAX];
    ssize_t len = readlinkat(place->dir, place->name, target, sizeof target);
    size_t rest_len = strlen(way->rest);

    if (len < 0) {
        return place_fail(place, why, strerror(errno));
    }
    if (++way->links > LINKS_MAX) {
        return place_fail(place, why, strerror(ELOOP));
    }
    if ((size_t)len + 1 + rest_len >= sizeof way->path) {
        return place_fail(place, why, strerror(ENAMETOOLONG));
    }
    memmove(way->path + len + 1, way->rest, rest_len + 1);
    memcpy(way->path, target, (size_t)len);
    way->path[len] = '/';
    if (rest_len == 0) {
        way->path[len] = '\0';
    }
    way->rest = way->path;
    return place_start(place, way->path) || place_fail(place, why, strerror(errno));
}

// Takes the next name off the rest. False where it is too long for one.
static bool way_name(struct way *way, struct place *place)
{
    size_t len;

    way->rest += strspn(way->rest, "/");
    len = strcspn(way->rest, "/");
    if (len >= sizeof place->name) {
        return false;
    }
    memcpy(place->name, way->rest, len);
    place->name[len] = '\0';
    way->rest += len;
    return true;
}

static bool place_enter(struct place *place, struct complaint *why)
{
    int dir = openat(place->dir, place->name, DIR_FLAGS | O_NOFOLLOW);

    if (dir < 0) {
        return place_fail(place, why, strerror(errno));
    }
    (void)close(place->dir);
    place->dir = dir;
    return true;
}

// One name further. `*there`: it is the last one, and no link to be followed.
static bool way_step(struct way *way, struct place *place, bool *there, struct complaint *why)
{
    struct stat st;
    bool last;
    bool link;

    if (!way_name(way, place)) {
        return place_fail(place, why, strerror(ENAMETOOLONG));
    }
    last = *way->rest == '\0';
    link = fstatat(place->dir, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
    *there = last && !(link && way->follow);
    if (*there) {
        return true;
    }
    if (!link) {
        return place_enter(place, why);
    }
    if (!link_counts(place->dir, &st)) {
        return place_fail(place, why, "leads through a symbolic link that others can put there");
    }
    if (last && is_proc(place->dir)) {
        place->is_magic = true;
        *there = true;
        return true;
    }
    return way_splice(way, place, why);
}

bool place_find(struct place *place, const char *path, bool follow, struct complaint *why)
{
    size_t len = strlen(path);
    struct way way = {.follow = follow};
    bool there = false;

    *place = (struct place){.dir = -1};
    if (len >= sizeof way.path) {
        return place_fail(place, why, strerror(ENAMETOOLONG));
    }
    memcpy(way.path, path, len + 1);
    way.rest = way.path;
    if (!place_start(place, path)) {
        return place_fail(place, why, strerror(errno));
    }
    while (!there) {
        if (!way_step(&way, place, &there, why)) {
            return false;
        }
    }
    if (place->name[0] == '\0') {
        return place_fail(place, why, strerror(EISDIR));
    }
    return true;
}

// Whether we may take a file under this name. A second name may be a way to any of root's files.
static bool is_our_only(const struct stat *st, struct complaint *why)
{
    if (geteuid() == 0 && S_ISREG(st->st_mode) && st->st_nlink > 1) {
        complaint_set(why, "the file has a second name, which may be that of any file");
        return false;
    }
    return true;
}

bool place_look(const struct place *place, struct stat *st, struct complaint *why)
{
    if (fstatat(place->dir, place->name, st, place->is_magic ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
        *st = (struct stat){.st_mode = 0};
        return true;
    }
    if (S_ISLNK(st->st_mode)) {
        complaint_set(why, "%s", strerror(ELOOP));
        return false;
    }
    return is_our_only(st, why);
}

int place_open(const struct place *place, int flags, mode_t mode, bool *made, struct complaint *why)
{
    int safe = flags | O_CLOEXEC | (place->is_magic ? 0 : O_NOFOLLOW);
    struct stat st;
    int fd = -1;

    if (made) {
        fd = openat(place->dir, place->name, safe | O_CREAT | O_EXCL, mode);
        *made = fd >= 0;
    }
    if (fd < 0 && (!made || errno == EEXIST)) {
        fd = openat(place->dir, place->name, safe);
    }
    if (fd < 0) {
        complaint_set(why, "%s", strerror(errno));
        return -1;
    }
    if (fstat(fd, &st) == 0 && !is_our_only(&st, why)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

void place_close(struct place *place)
{
    if (place->dir >= 0) {
        (void)close(place->dir);
        place->dir = -1;
    }
}
