/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_BEANSTALK_YAML_H
#define TANDEM_CTL_BEANSTALK_YAML_H

// The subset of YAML that beanstalk servers use for statistics and lists: one line for each key or
// item. Names may be quoted, as since beanstalkd 1.13. The document is not trusted: malformed lines
// count as missing.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

// The value of the key, without quotes. False if the key is missing.
bool yaml_text(struct slice document, struct slice key, struct slice *value);
bool yaml_count(struct slice document, struct slice key, uint64_t *value);

// Removes the next item from a list. False if there is none.
bool yaml_item(struct slice *document, struct slice *item);

// Whether the name is a valid tube name.
bool is_tube(struct slice name);
#define TUBE_NAME_MAX 200

#endif
