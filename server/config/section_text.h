/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SECTION_TEXT_H
#define TANDEM_SERVER_CONFIG_SECTION_TEXT_H

// A section's keys as text: lines as they stand in the file, to be kept elsewhere.

#include "core/base/slice.h"
#include "server/config/sections.h"

// Sets the keys that the text names, and finishes the section. False with the reason in `why`.
bool section_read(const struct config_kind *kind, struct config_section *section, struct slice text,
                  struct error_text *why) MUST_USE;

// The keys that have another value than their default, for free(). NULL with the reason in `why`,
// without memory and where a value would be read back as another one: it has a line break, blanks
// at an end, or what looks like a comment.
char *section_write(const struct config_kind *kind, const struct config_section *section,
                    struct error_text *why) MUST_USE;

#endif
