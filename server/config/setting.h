/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SETTING_H
#define TANDEM_SERVER_CONFIG_SETTING_H

// One setting: the field of a section's struct that a `struct option` describes. Text fields own
// their string; a struct of settings starts zeroed and is ended by setting_clear for each option.

#include "core/base/macros.h"
#include "proto_common/option.h"
#include "core/base/error_text.h"

#include <stdio.h>

// Sets the field from its text in the file. False, with the field as it was and the reason in
// `why`: the text is no value of this kind or out of range, or there is no memory.
bool setting_parse(const struct option *option, void *values, const char *text,
                   struct error_text *why) MUST_USE;

// What is written in the place of a secret.
#define SETTING_HIDDEN "(hidden)"

// Writes the value as it would stand in the file, but for a secret.
void setting_print(const struct option *option, const void *values, FILE *file);

// The same as text, cut where there is no room.
void setting_text(const struct option *option, const void *values, char *text, size_t room);

bool setting_equal(const struct option *option, const void *a, const void *b);

// Exchanges the values of two structs, and with them the ownership of a text.
void setting_swap(const struct option *option, void *a, void *b);

// Frees what the field owns.
void setting_clear(const struct option *option, void *values);

#endif
