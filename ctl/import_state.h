/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_IMPORT_STATE_H
#define TANDEM_CTL_IMPORT_STATE_H

// How far the import of a file has come: a small file beside it, FILE.imported, which is there as
// long as the import is not complete. It is good for the file as it was: of another size, or
// changed since, it is none.

#include "ctl/api/outcome.h"

#include <stdbool.h>
#include <stdint.h>

// The line to begin with; 1 where nothing was imported. False with a problem.
bool import_state_load(const char *path, uint64_t *line, struct problem *problem);
// All lines before that one are in. False with a problem.
bool import_state_save(const char *path, uint64_t line, struct problem *problem);
// All are.
void import_state_forget(const char *path);

#endif
