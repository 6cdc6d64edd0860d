/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_PID_FILE_H
#define TANDEM_SERVER_PROCESS_PID_FILE_H

// The file with the PID of the running process. A lock on the file, not the file itself, shows that
// the process is alive, so a file that a crash left behind is taken over. At the end the file is
// removed, or emptied if the user that the process has become may not remove it. The file must not
// be a link or have a second name (safe_path.h), because it is emptied as root.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>

struct pid_file {
    const char *path; /* private: NULL without a file */
    int fd;           /* private */
};

// Creates or takes over the file, locks it and empties it. `path` is borrowed. False with the
// reason in `why`, such as another process that holds the lock; there is nothing to release then.
bool pid_file_claim(struct pid_file *file, const char *path, struct error_text *why) MUST_USE;

// Writes the PID into the file; nothing without a file. False with the reason in `why`.
bool pid_file_write(const struct pid_file *file, struct error_text *why) MUST_USE;

// Removes the file. A zeroed struct is allowed.
void pid_file_release(struct pid_file *file);

#endif
