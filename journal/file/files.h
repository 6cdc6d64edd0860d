/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_FILES_H
#define TANDEM_JOURNAL_FILE_FILES_H

// A journal that is kept in files, and its tasks.

#include "core/base/macros.h"
#include "journal/file/disk.h"
#include "journal/worker.h"

struct storage;

// For journal_new(), which takes it over. NULL without memory. `io` must outlive it.
struct storage *journal_files_new(const struct journal_io *io) MUST_USE;

// The most zeros that are written ahead in one call.
#define FILES_ZEROS_MAX 65536

// Runs a task on files.
//
// WRITE fills in the checksums of each chunk and writes the chunks in order, many in a call. To
// publish a segment, whose file is there under SEGMENT_SPARE_NAME: writes its records, then its
// head, syncs the file, renames it, and syncs the directory. Before a segment other than the last
// one is written to, the last one is synced as far as it was written, unless it is closed; if it
// has failed, an error is ignored. `written` and `synced` of segments advance. The loop may append
// to the last segment meanwhile, so no segment's `end` is read here.
//
// The first write to a block that was only allocated changes the metadata of the file, which makes
// the next sync much more expensive. So zeros are sometimes written ahead of the batch, if the task
// allows it, and the next batches find their blocks written.
//
// After a failure the state is as before as far as possible. A segment whose publishing failed has
// its file under the spare's name, unless syncing the directory failed. PREPARE leaves no file, or
// one without a name if it was open; RESIZE leaves the size in segment->size. REMOVE succeeds if
// the file is missing, and syncs the directory.
void task_run(struct task *task, const struct journal_io *io);

// For a worker thread. `io` must outlive it.
struct task_runner journal_files_runner(const struct journal_io *io);

#endif
