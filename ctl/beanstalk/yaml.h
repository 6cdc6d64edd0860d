/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_BEANSTALK_YAML_H
#define TANDEM_CTL_BEANSTALK_YAML_H

// The little of YAML in which beanstalk servers give statistics and lists: a line for each key or
// item. Names may be in quotes, as since beanstalkd 1.13. The bytes are the server's: what is not
// as it should be is not there.

#include "core/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

// What the key has; false where it is not there. Quotes are taken off.
bool yaml_text(struct slice document, struct slice key, struct slice *value);
bool yaml_count(struct slice document, struct slice key, uint64_t *value);

// Takes the next item of a list off the document; false where there is none.
bool yaml_item(struct slice *document, struct slice *item);

// Whether a tube may be called so.
bool is_tube(struct slice name);
#define TUBE_NAME_MAX 200

#endif
