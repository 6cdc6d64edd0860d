/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SECTIONS_H
#define TANDEM_SERVER_CONFIG_SECTIONS_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "core/base/slice.h"
#include "proto_common/option.h"

#include <stdio.h>

// Lines of a configuration file, and its sections with a name, such as [queue mail.*]: any number
// of a kind, each with the same keys and its own struct of values. Sections keep the order in which
// they were read.
//
// If a function with `why` fails, the reason is in `why`.

// A line of a configuration file. Blanks at both ends are ignored, and so are a line that begins
// with # or ;, and the rest of a line after a blank and a ;.
//
// (inih cannot read these lines: it ends the name of a section at the first bracket, as in
// [queue mail[0-9]], truncates it to 49 bytes, and accepts no line above 198.)

enum ini_line {
    INI_NOTHING,
    INI_SECTION, // [name]; the last bracket of the line ends the name, which may have others
    INI_KEY,     // `name = value` or `name: value`
    INI_BAD      // anything else
};

// Splits the line in place. `*name` and `*value` point into it.
enum ini_line ini_line_cut(char *line, char **name, char **value) MUST_USE;

struct config_kind {
    const char *word;             // the word before the name
    const struct option *options; // ends with a NULL name
    size_t size;                  // of the struct that the options describe
    size_t most;                  // maximum number of sections
    // Whether a section may have that name.
    bool (*check_name)(const char *name, struct error_text *why);
    // A further check of a value before it is set; NULL for none.
    bool (*check)(const struct option *option, const char *text, struct error_text *why);
    // Checks the keys together when all are read, and may compute further fields of the struct. It
    // may be called again after another key is set. NULL for none.
    bool (*finish)(void *values, struct error_text *why);
};

struct config_section {
    char *name;   // without the word
    char *origin; // "FILE:LINE" of its first line, or "--set"
    void *values; // the struct of its kind
};

// All sections of a kind. Empty if only `kind` is set.
struct config_sections {
    const struct config_kind *kind;
    struct config_section *all;
    size_t count;
    size_t room; /* private */
};

// The name in the text of a section of that kind, such as `queue mail.*`; it may be empty. NULL if
// the text is of another kind.
const char *section_name(const struct config_kind *kind, const char *text);

// The section of that name, or NULL.
struct config_section *sections_find(const struct config_sections *sections, const char *name);

// Appends a section with the default of all keys. NULL if the name is taken or invalid, if there
// are too many, or without memory.
struct config_section *sections_add(struct config_sections *sections, const char *name,
                                    const char *origin, struct error_text *why) MUST_USE;

bool section_set(const struct config_kind *kind, struct config_section *section, const char *key,
                 const char *text, struct error_text *why) MUST_USE;

// A section outside of any list, with the default of all keys. False without memory. The caller
// clears the section in any case; a zeroed section may be cleared.
bool section_init(const struct config_kind *kind, struct config_section *section, const char *name,
                  const char *origin, struct error_text *why) MUST_USE;
void section_clear(const struct config_kind *kind, struct config_section *section);

// Finishes all sections: false if the keys of one contradict each other.
bool sections_finish(const struct config_sections *sections, struct error_text *why) MUST_USE;

// Whether the key has its default.
bool section_is_preset(const struct option *option, const struct config_section *section);

// Writes the section in the format of the file, after a comment with its origin.
void section_print(const struct config_kind *kind, const struct config_section *section,
                   FILE *file);
void sections_print(const struct config_sections *sections, FILE *file);

// Exchanges the sections with those of `fresh`, and logs the differences.
void sections_adopt(struct config_sections *sections, struct config_sections *fresh);

// Frees all sections.
void sections_clear(struct config_sections *sections);

//
// The keys of a section as lines of text, for storage outside of the file
//

// Sets the keys in the text, and finishes the section.
bool section_read(const struct config_kind *kind, struct config_section *section, struct slice text,
                  struct error_text *why) MUST_USE;

// The keys that do not have their default, for free(). NULL without memory, or if a value would be
// read back differently: it has a line break, a blank at an end, or text that looks like a comment.
char *section_write(const struct config_kind *kind, const struct config_section *section,
                    struct error_text *why) MUST_USE;

#endif
