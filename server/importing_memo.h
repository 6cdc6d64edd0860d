/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IMPORTING_MEMO_H
#define TANDEM_SERVER_IMPORTING_MEMO_H

// The memos of imports in the journal: for each source, by a key, its mark and its fingerprint. The
// key is KIND: and the real path of the store, or `(here)` if the store is in or beside the
// directory of the journal, so that both can move. If the store is not a file, and in journals of
// older versions, the key is the text of the source without passwords.
//
// Another memo records that the journal has given out no id. The next id does not tell, because
// each start reserves a block of ids.

#include "core/broker.h"
#include "core/base/error_text.h"

// Copies the text of a source without its passwords, for logs and keys. Truncates it to
// `size` bytes.
void importing_show(const char *text, char *shown, size_t size);

enum import_mark {
    IMPORT_NONE,  // unknown, or no job was imported yet
    IMPORT_BEGUN, // jobs may have been imported
    IMPORT_LEFT,  // the same, and the operator abandoned the rest
    IMPORT_DONE
};

// Moves a memo to another key. False with the reason.
bool import_memo_rename(struct broker *broker, struct slice from, const char *to,
                        struct error_text *why) MUST_USE;

// Finds the next memo for the kind of source that the text begins with, without IMPORT_NONE.
// `*cursor` is 0 at first. False at the end.
bool import_memo_next(const struct broker *broker, const char *text, uint64_t *cursor,
                      struct slice *key, struct slice *print);

// Whether the memo says that no id was given out. The setter returns false with the reason.
bool import_memo_is_unused(const struct broker *broker);
bool import_memo_set_unused(struct broker *broker, bool unused, struct error_text *why) MUST_USE;

// Replaces the memos of older versions, which have passwords in their keys. Call before all other
// functions. False with the reason.
bool import_memo_renew(struct broker *broker, struct error_text *why) MUST_USE;

// `print` is the fingerprint, borrowed; empty if unknown.
enum import_mark import_memo_find(const struct broker *broker, const char *text,
                                  struct slice *print);

// False with the reason.
bool import_memo_set(struct broker *broker, const char *text, enum import_mark mark,
                     struct slice print, struct error_text *why) MUST_USE;

// Whether an import other than that of `text` is unfinished. Its text is in `*other`, borrowed.
bool import_memo_unfinished(const struct broker *broker, const char *text, struct slice *other);

#endif
