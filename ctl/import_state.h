/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_IMPORT_STATE_H
#define TANDEM_CTL_IMPORT_STATE_H

// The progress of importing a file, in a small file FILE.imported beside it, which exists until the
// import is complete. Loading fails if the size or the modification time of the file has changed.

#include "ctl/api/outcome.h"

#include <stdbool.h>
#include <stdint.h>

// Sets the first line to import; 1 if there is no state. False with a problem.
bool import_state_load(const char *path, uint64_t *line, struct problem *problem);
// Saves that all lines before `line` are imported. False with a problem.
bool import_state_save(const char *path, uint64_t line, struct problem *problem);
// Removes the state after a complete import.
void import_state_forget(const char *path);

#endif
