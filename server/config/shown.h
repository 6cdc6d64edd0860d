/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SHOWN_H
#define TANDEM_SERVER_CONFIG_SHOWN_H

// The settings in force, one by one, as operators are shown them: as --check-config prints them;
// and the sections with a name, likewise.
// They name files of secrets, and have none.

#include "core/base/macros.h"
#include "proto_common/sight.h"
#include "proto_common/sight_policies.h"
#include "server/config/config.h"

#include <stdbool.h>
#include <stddef.h>

// Room for the texts of all values.
#define SHOWN_MOST 256

// Zeroed at first.
struct shown {
    char *values[SHOWN_MOST]; /* private: owned */
    char *key;                /* private: owned: of the key of a section that was asked for last */
};

// The setting of that index; false behind the last one. The texts are valid until the same one is
// asked for again. Without memory the value is empty.
bool shown_setting(struct shown *shown, const struct config *config, size_t index,
                   struct sight_setting *setting);

// The section with a name of that index; false behind the last one.
bool shown_named(const struct config *config, size_t index, struct sight_section *section);

// The key of that index of such a section; false behind the last one. The value is valid until a
// key is asked for again; without memory it is empty.
bool shown_named_key(struct shown *shown, const struct config *config, size_t index, size_t key,
                     struct sight_key *out);
// The same of a section wherever it is.
bool shown_key(struct shown *shown, const struct config_kind *kind,
               const struct config_section *section, size_t key, struct sight_key *out);

void shown_clear(struct shown *shown);

#endif
