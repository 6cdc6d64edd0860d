/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_REASON_H
#define TANDEM_SERVER_PROCESS_REASON_H

// Why something that the operator asked for cannot be had, in words for the operator: a wrong
// setting, an address in use. Filled in by the function that fails, wrapped by its callers with
// what they know (the file, the line), and printed or logged once, at the top.

struct reason {
    char text[512]; // cut short where it is longer
};

// Sets the text, as printf does.
__attribute__((format(printf, 2, 3))) void reason_set(struct reason *reason, const char *format,
                                                      ...);

// Puts a text in front of the one that is there.
__attribute__((format(printf, 2, 3))) void reason_wrap(struct reason *reason, const char *format,
                                                       ...);

#endif
