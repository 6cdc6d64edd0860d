/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_TASK_RUN_H
#define TANDEM_JOURNAL_FILE_TASK_RUN_H

// Tasks (journal/task.h), carried out on files.

#include "journal/file/io.h"
#include "journal/task.h"

// The most zeros that are written ahead in one go.
#define TASK_ZEROS_MAX 65536

// Does it.
//
// WRITE: for each chunk in order, seals its records (codec.h) and writes them, many chunks in a
// call, and goes on after short writes. Publishing a segment: its file is there already, under
// SEGMENT_SPARE_NAME; when its records have been written, the head is, both are synced, the file is
// renamed and the directory synced. Before anything is done to another segment than before, that
// one is synced as far as it was written, unless it is closed; of one that has failed, this is
// tried. `written` and `synced` of the segments move on, the latter also with `sync`. The loop goes
// on to append to the last one meanwhile: no segment's `end` is looked at here.
//
// The first write to a block that was only set aside changes what the file system knows of the
// file, and makes the sync that follows a good deal dearer. So where zeros may be written ahead,
// they are now and then, behind the batch, and the next batches find their blocks written.
//
// What failed stays as it was, as far as can be: a segment whose publishing failed has its file
// under the spare's name, unless it was the directory that could not be synced; PREPARE that fails
// leaves no file, but one without a name where it was open; RESIZE the size that segment->size
// says. A file to REMOVE that is not there counts as removed; the directory is synced.
void task_run(struct task *task, const struct journal_io *io);

// For a worker thread. `io` must outlive it.
struct task_runner task_runner_on(const struct journal_io *io);

#endif
