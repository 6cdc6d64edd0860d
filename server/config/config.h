/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_CONFIG_H
#define TANDEM_SERVER_CONFIG_CONFIG_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "proto_common/option.h"
#include "server/config/sections.h"

#include <stdio.h>

// The configuration file, the environment and --set, over tables of options. Several tables may
// share a section: the section of a front-end has the keys that all front-ends have, and its own.
// There may be any number of sections with a name (sections.h), such as [queue mail.*].
//
// If a function fails, `why` has the place (file and line, variable, or --set) and the reason.
// Values that were set before stay set: the caller discards all of them.

struct config_table {
    const char *section;
    const struct option *options; // ends with a NULL name
    void *values;                 // the struct that the options describe, zeroed at first
    // A further check of a value before it is set; NULL for none.
    bool (*check)(const struct option *option, const char *text, struct error_text *why);
};

struct config {
    struct config_table *tables;
    size_t count;
    struct config_sections *named; // one element for each kind of sections with a name
    size_t kinds;
};

// Sets every key to its default. False without memory.
bool config_preset(const struct config *config, struct error_text *why) MUST_USE;

// Reads the file; config_finish() must follow. With `waits`, the file may be a pipe, whose writer
// is waited for; otherwise it must be a regular file, or /dev/null.
bool config_load(const struct config *config, const char *path, bool waits,
                 struct error_text *why) MUST_USE;

// Sets keys from those `NAME=value` of the list whose name begins with TANDEM_: TANDEM_SECTION_KEY,
// or TANDEM_SECTION_KEY_FILE with the path of a file that has the value. Sections with a name have
// no such variables. False if a name is not known, except if it is one of tandemctl's, or one that
// Kubernetes and Docker add for a service called `tandem...`. `waits` as for config_load().
// `*count` is the number of keys set.
bool config_set_from_environment(const struct config *config, const char *const *environment,
                                 bool waits, size_t *count, struct error_text *why) MUST_USE;

// Sets a key from `section.key=value`; config_finish() must follow. A missing section with a name,
// as in `queue mail.*.max_jobs=5`, is appended.
bool config_assign(const struct config *config, const char *assignment,
                   struct error_text *why) MUST_USE;

// Finishes all sections with a name: false if the keys of one contradict each other.
bool config_finish(const struct config *config, struct error_text *why) MUST_USE;

// Sets the key in all tables that have it.
bool config_set(const struct config *config, const char *section, const char *key, const char *text,
                struct error_text *why) MUST_USE;

// The kind of a section that is written [text], and its name; NULL if it is a section without a
// name.
struct config_sections *config_kind_of(const struct config *config, const char *text,
                                       const char **name);

// Writes all settings in the format of the file.
void config_print(const struct config *config, FILE *file);

// Takes the live values of `fresh`, which has the same tables with other values. Logs each change,
// and each change that needs a restart.
void config_adopt(const struct config *config, const struct config *fresh);

// Frees the texts of the values.
void config_clear(const struct config *config);

#endif
