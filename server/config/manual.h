/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_MANUAL_H
#define TANDEM_SERVER_CONFIG_MANUAL_H

// Generates the manual page of the configuration file, tandemd.conf(5), from the tables of options
// and a template. A line `@SECTION@` of the template stands for the keys of that section, or of
// that kind of sections with a name.

#include "core/base/macros.h"
#include "server/config/config.h"

// Copies the template to the page, and inserts the keys. False with the reason in `why` if a
// section has no line in the template, or a line names an unknown section.
bool manual_print(const struct config *config, FILE *template, FILE *page,
                  struct error_text *why) MUST_USE;

#endif
