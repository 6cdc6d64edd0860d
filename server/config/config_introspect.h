/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_CONFIG_INTROSPECT_H
#define TANDEM_SERVER_CONFIG_CONFIG_INTROSPECT_H

// Reads the present settings one by one, for the admin API: their texts are those of
// --check-config. They name files of secrets, but have no secrets.

#include "core/base/macros.h"
#include "proto_common/introspect.h"
#include "proto_common/introspect_queues.h"
#include "server/config/config.h"

#include <stdbool.h>
#include <stddef.h>

// Maximum number of settings.
#define CONFIG_INTROSPECT_MOST 256

// Zeroed at first.
struct config_introspection {
    char *values[CONFIG_INTROSPECT_MOST]; /* private: owned */
    char *key;                            /* private: owned: the value of config_introspect_key() */
};

// The setting of that index; false after the last one. The texts are valid until the next call with
// this index. Without memory the value is empty.
bool config_introspect_setting(struct config_introspection *introspection,
                               const struct config *config, size_t index,
                               struct introspect_setting *setting);

// The section with a name of that index; false after the last one.
bool config_introspect_section(const struct config *config, size_t index,
                               struct introspect_section *section);

// The key of that index in such a section; false after the last one. The value is valid until the
// next call for a key; without memory it is empty.
bool config_introspect_section_key(struct config_introspection *introspection,
                                   const struct config *config, size_t index, size_t key,
                                   struct introspect_key *out);
// The same for any section of that kind.
bool config_introspect_key(struct config_introspection *introspection,
                           const struct config_kind *kind, const struct config_section *section,
                           size_t key, struct introspect_key *out);

void config_introspect_clear(struct config_introspection *introspection);

#endif
