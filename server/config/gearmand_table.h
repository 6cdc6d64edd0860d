/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_GEARMAND_TABLE_H
#define TANDEM_SERVER_CONFIG_GEARMAND_TABLE_H

// The table of gearmand's options.

#include "server/config/gearmand_options.h"

enum gearmand_kind { GEARMAND_FLAG, GEARMAND_TEXT, GEARMAND_INT, GEARMAND_UINT };

struct gearmand_option {
    const char *name;
    char letter; // 0: none
    enum gearmand_kind kind;
    const char *key;  // of ours, which takes the value, or `true`; NULL: none
    const char *note; // why it means nothing here, for the log; NULL: it means something
    const char *help;
};

// By enum gearmand_name.
extern const struct gearmand_option gearmand_table[GEARMAND_OPTIONS];

#endif
