/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_DOCUMENT_H
#define TANDEM_ADMIN_DOCUMENT_H

// The description of the API: openapi.json, as it is in this folder.

#include "admin/route.h"

struct admin_shared;

extern const struct admin_route document_routes[];

// Frees what is kept of it.
void document_forget(struct admin_shared *shared);

#endif
