/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_MANUAL_H
#define TANDEM_SERVER_CONFIG_MANUAL_H

// The manual page of the configuration file, tandemd.conf(5), made from the tables that the file is
// read by. What stands around the keys is written by hand: a line `@SECTION@` there stands for the
// keys of that section, or of that kind of sections with a name.

#include "core/base/macros.h"
#include "server/config/config.h"

// Copies the frame to the page with the keys in it. False with the reason in `why`: a section of
// the tables has no such line, or a line names no section.
bool manual_print(const struct config *config, FILE *frame, FILE *page,
                  struct error_text *why) MUST_USE;

#endif
