/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_INI_LINE_H
#define TANDEM_SERVER_CONFIG_INI_LINE_H

// A line of a configuration file. Blanks at either end do not count; neither does a line that
// begins with # or ;, nor what follows a blank and a ; on a line.
//
// (inih, which read these lines before sections had names, ends a section's name at the first
// bracket, as in [queue mail[0-9]], cuts it at 49 bytes, and takes no line above 198.)

#include "core/base/macros.h"

enum ini_line {
    INI_NOTHING,
    INI_SECTION, // [name]; the last bracket of the line ends it, so that a name may have others
    INI_KEY,     // `name = value` or `name: value`
    INI_BAD      // anything else
};

// Cuts the line into its parts, in place. `*name` and `*value` point into it.
enum ini_line ini_line_cut(char *line, char **name, char **value) MUST_USE;

#endif
