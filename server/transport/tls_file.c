/* SPDX-License-Identifier: MIT */
#include "server/process/safe_path.h"
#include "server/transport/tls_private.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Authorities of a whole system are a few hundred KiB.
enum { TLS_FILE_MAX = 4 * 1024 * 1024 };

static bool complain(struct error_text *why, const char *what)
{
    return error_set(why, "%s", what);
}

static bool file_suits(int fd, struct stat *st, struct error_text *why)
{
    if (fstat(fd, st) != 0) {
        return complain(why, strerror(errno));
    }
    if (!S_ISREG(st->st_mode)) {
        return complain(why, "not a file");
    }
    if (st->st_size > TLS_FILE_MAX) {
        return complain(why, "too long");
    }
    return true;
}

static bool file_take(struct tls_file *file, int fd, size_t len, struct error_text *why)
{
    file->bytes = malloc(len + 1);
    if (!file->bytes) {
        return complain(why, strerror(ENOMEM));
    }
    while (file->len < len) {
        ssize_t got = read(fd, file->bytes + file->len, len - file->len);

        if (got < 0 && errno != EINTR) {
            return complain(why, strerror(errno));
        }
        if (got == 0) {
            break;
        }
        file->len += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static int file_open(const char *path, struct error_text *why)
{
    struct safe_path place;
    int fd;

    if (!safe_path_find(&place, path, true, why)) {
        return -1;
    }
    fd = safe_path_open(&place, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, NULL, why);
    safe_path_close(&place);
    return fd;
}

bool tls_file_read(struct tls_file *file, const char *key, const char *path, struct error_text *why)
{
    struct stat st;
    int fd = file_open(path, why);
    bool good = fd >= 0 && file_suits(fd, &st, why) && file_take(file, fd, (size_t)st.st_size, why);

    if (fd >= 0) {
        (void)close(fd);
    }
    if (good) {
        file->is_public = (st.st_mode & 007) != 0;
    } else {
        error_prefix(why, "tls.%s %s: ", key, path);
        tls_file_free(file);
    }
    return good;
}

void tls_file_free(struct tls_file *file)
{
    if (file->bytes) {
        OPENSSL_cleanse(file->bytes, file->len);
        free(file->bytes);
    }
    *file = (struct tls_file){.len = 0};
}
