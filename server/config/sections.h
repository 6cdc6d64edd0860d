/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SECTIONS_H
#define TANDEM_SERVER_CONFIG_SECTIONS_H

// Sections with a name, such as [queue mail.*]: any number of a kind, each with the same keys and a
// struct of values of its own. They stay in the order in which they were read.

#include "core/base/macros.h"
#include "proto_common/option.h"
#include "core/base/error_text.h"

#include <stdio.h>

struct config_kind {
    const char *word;             // what stands before the name
    const struct option *options; // ends with a NULL name
    size_t size;                  // of the struct that they describe
    size_t most;                  // so many sections there may be
    // Whether there may be a section of that name. Otherwise the reason in `why`.
    bool (*check_name)(const char *name, struct error_text *why);
    // A further check of a value before it is set, NULL for none.
    bool (*check)(const struct option *option, const char *text, struct error_text *why);
    // All keys were read: whether they make sense together. Here the section may work out further
    // fields of the struct; it may be called again after another key was set. NULL for none.
    bool (*finish)(void *values, struct error_text *why);
};

struct config_section {
    char *name;   // without the word
    char *origin; // where it begins, as "FILE:LINE", or "--set"
    void *values; // the struct of its kind
};

// All of a kind. With `kind` alone set, there are none.
struct config_sections {
    const struct config_kind *kind;
    struct config_section *all;
    size_t count;
    size_t room; /* private */
};

// Whether the text behind the bracket, as `queue mail.*`, is a section of that kind: then its name,
// which may be empty; otherwise NULL.
const char *section_name(const struct config_kind *kind, const char *text);

// The section of that name, NULL where there is none.
struct config_section *sections_find(const struct config_sections *sections, const char *name);

// One more, of which all keys have their defaults. NULL with the reason in `why`, such as that
// there is one of that name.
struct config_section *sections_add(struct config_sections *sections, const char *name,
                                    const char *origin, struct error_text *why) MUST_USE;

// Sets a key. False with the reason in `why`.
bool section_set(const struct config_kind *kind, struct config_section *section, const char *key,
                 const char *text, struct error_text *why) MUST_USE;

// One by itself, in none of the lists: all keys have their defaults. False without memory, with the
// reason in `why`; it is to be cleared in any case, and a zeroed one may be.
bool section_init(const struct config_kind *kind, struct config_section *section, const char *name,
                  const char *origin, struct error_text *why) MUST_USE;
void section_clear(const struct config_kind *kind, struct config_section *section);

// Whether the keys of each make sense together. False with the reason in `why`.
bool sections_finish(const struct config_sections *sections, struct error_text *why) MUST_USE;

// Whether the key of the section says what it would say without a line in the file.
bool section_is_preset(const struct option *option, const struct config_section *section);

// Writes the keys that have another value than their default, a line each.
void section_print_keys(const struct config_kind *kind, const struct config_section *section,
                        FILE *file);

// The whole section in the file's own format, below a comment that says where it begins.
void section_print(const struct config_kind *kind, const struct config_section *section,
                   FILE *file);
void sections_print(const struct config_sections *sections, FILE *file);

// Takes over what `fresh` has, which gets what there was. The log says what has changed.
void sections_adopt(struct config_sections *sections, struct config_sections *fresh);

// Frees all; then there are none.
void sections_clear(struct config_sections *sections);

#endif
