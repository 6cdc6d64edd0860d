/* SPDX-License-Identifier: MIT */
#include "admin/event_sources.h"

#include "admin/reply.h"

enum status event_text(json_t *document, char **text)
{
    *text = admin_dump(document);
    json_decref(document);
    return *text ? STATUS_OK : STATUS_NO_MEMORY;
}
