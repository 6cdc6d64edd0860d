/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_IMPORTING_MEMO_H
#define TANDEM_SERVER_IMPORTING_MEMO_H

// What the journal remembers of imports: of each source, by its text without passwords, how far
// that is and what the source was like.

#include "core/broker.h"
#include "server/process/reason.h"

enum import_mark {
    IMPORT_NONE,  // it is not known, or nothing was brought in yet
    IMPORT_BEGUN, // jobs were perhaps brought in
    IMPORT_LEFT,  // the same, and then the operator did without the others
    IMPORT_DONE
};

// Journals of older versions have passwords in these memos, which then stand under other keys: to
// be called before anything else. False with the reason.
bool import_memo_renew(struct broker *broker, struct reason *why) MUST_USE;

// `print` is the fingerprint, borrowed; empty where it is not known.
enum import_mark import_memo_find(const struct broker *broker, const char *text,
                                  struct slice *print);

// Remembers that. False with the reason.
bool import_memo_set(struct broker *broker, const char *text, enum import_mark mark,
                     struct slice print, struct reason *why) MUST_USE;

// Whether there is one that has begun and is not done, but for that of this text; its text in
// `*other`, borrowed.
bool import_memo_unfinished(const struct broker *broker, const char *text, struct slice *other);

#endif
