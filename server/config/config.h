/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_CONFIG_H
#define TANDEM_SERVER_CONFIG_CONFIG_H

// The configuration file and --set, over tables of options. Several tables may share a section: a
// front-end's section has the keys that the server gives to each and the front-end's own. Of
// sections with a name (sections.h), such as [queue mail.*], there may be any number of a kind.
//
// A failure names its place (file and line, or the --set) and the reason. Values that were read
// before it stay set: the caller throws the whole set away.

#include "core/base/macros.h"
#include "proto_common/option.h"
#include "server/config/sections.h"
#include "core/base/error_text.h"

#include <stdio.h>

struct config_table {
    const char *section;
    const struct option *options; // ends with a NULL name
    void *values;                 // the struct that the options describe, zeroed at first
    // A further check of a value before it is set, NULL for none.
    bool (*check)(const struct option *option, const char *text, struct error_text *why);
};

struct config {
    struct config_table *tables;
    size_t count;
    struct config_sections *named; // one for each kind
    size_t kinds;
};

// Sets every key to its default. False without memory.
bool config_preset(const struct config *config, struct error_text *why) MUST_USE;

// Reads the file; to be finished. `waits`: it may be a pipe whose writer is waited for; otherwise
// only a regular file will do.
bool config_load(const struct config *config, const char *path, bool waits,
                 struct error_text *why) MUST_USE;

// Does what `section.key=value` says; to be finished. Where the section has a name, as in
// `queue mail.*.max_jobs=5`, and is not there, it is made, behind those that are.
bool config_assign(const struct config *config, const char *assignment,
                   struct error_text *why) MUST_USE;

// Everything was read: whether the keys of each section with a name make sense together.
bool config_finish(const struct config *config, struct error_text *why) MUST_USE;

// Sets the key of a table wherever it is had: for those who read settings.
bool config_set(const struct config *config, const char *section, const char *key, const char *text,
                struct error_text *why) MUST_USE;

// Of which kind a section is that is written [text], and its name; NULL: it has none.
struct config_sections *config_kind_of(const struct config *config, const char *text,
                                       const char **name);

// Whether there is a table of that section.
bool config_has(const struct config *config, const char *section);

// Writes all settings in the file's own format.
void config_print(const struct config *config, FILE *file);

// Takes over from `fresh`, which has the same tables with values of their own, what can change
// while the broker runs. Says in the log what did change, and what would need a restart.
void config_adopt(const struct config *config, const struct config *fresh);

// Frees what the values own.
void config_clear(const struct config *config);

#endif
