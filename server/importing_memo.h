/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IMPORTING_MEMO_H
#define TANDEM_SERVER_IMPORTING_MEMO_H

// What the journal remembers of imports: of each source, by a key, how far that is and what the
// source was like. The key is KIND: and the real path of the store, or `(here)` where that is the
// directory of the journal itself, or beside it, wherever that is. Of a store that is no file, and
// in journals of older versions, it is the text of the source without passwords.
//
// It also remembers that a journal that was opened before has given out no id. Blocks of ids are
// taken at each start, so that the next id does not say so.

#include "core/broker.h"
#include "core/base/error_text.h"

enum import_mark {
    IMPORT_NONE,  // it is not known, or nothing was brought in yet
    IMPORT_BEGUN, // jobs were perhaps brought in
    IMPORT_LEFT,  // the same, and then the operator did without the others
    IMPORT_DONE
};

// What was remembered under one key is from now on under the other one. False with the reason.
bool import_memo_rename(struct broker *broker, struct slice from, const char *to,
                        struct error_text *why) MUST_USE;

// The next memo of the kind of source that the text begins with, but for those of which nothing is
// known; `*cursor` is 0 at first. False: there are no more.
bool import_memo_next(const struct broker *broker, const char *text, uint64_t *cursor,
                      struct slice *key, struct slice *print);

// Whether no id was given out when that was remembered, and what is to be remembered from now on.
// False with the reason.
bool import_memo_is_unused(const struct broker *broker);
bool import_memo_set_unused(struct broker *broker, bool unused, struct error_text *why) MUST_USE;

// Journals of older versions have passwords in these memos, which then stand under other keys: to
// be called before anything else. False with the reason.
bool import_memo_renew(struct broker *broker, struct error_text *why) MUST_USE;

// `print` is the fingerprint, borrowed; empty where it is not known.
enum import_mark import_memo_find(const struct broker *broker, const char *text,
                                  struct slice *print);

// Remembers that. False with the reason.
bool import_memo_set(struct broker *broker, const char *text, enum import_mark mark,
                     struct slice print, struct error_text *why) MUST_USE;

// Whether there is one that has begun and is not done, but for that of this text; its text in
// `*other`, borrowed.
bool import_memo_unfinished(const struct broker *broker, const char *text, struct slice *other);

#endif
