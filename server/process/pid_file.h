/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_PID_FILE_H
#define TANDEM_SERVER_PROCESS_PID_FILE_H

// The file that names the running process. Its lock, not its being there, says that the process
// lives: what a crash left behind is simply taken over. A file that cannot be removed at the end,
// because the user that we became may not, is left empty. The file is no link and has no second
// name (see safe_path.h): it is emptied as root.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include <stdbool.h>

struct pid_file {
    const char *path; /* private: NULL where there is none */
    int fd;           /* private */
};

// Creates or takes over the file and locks it; empties it. `path` is borrowed. False with the
// reason in `why`, such as another process that holds it; there is nothing to release then.
bool pid_file_claim(struct pid_file *file, const char *path, struct error_text *why) MUST_USE;

// Writes our number into it; nothing without a claim. False with the reason in `why`.
bool pid_file_write(const struct pid_file *file, struct error_text *why) MUST_USE;

// Removes it. A zeroed struct is allowed.
void pid_file_release(struct pid_file *file);

#endif
