/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_COMPAT_H
#define TANDEM_SERVER_CONFIG_COMPAT_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "server/config/command_line.h"

#include <stdio.h>

// The programs that tandemd can replace, if it is called by their name or with --as. It then parses
// the command line as that program does, reports errors with its messages and exit codes, and turns
// its options into settings. It serves only the protocol of that program, on the addresses of that
// program, unless settings say otherwise. Of our own options, it accepts those in compat_own_help.

struct compat_program {
    const char *name;
    enum exit_codes codes;
    // Fills in the command, whose `compat`, `codes` and `program` are set. Returns
    // EXIT_REASON_NONE, or another reason with its text in `why`.
    enum exit_reason (*parse)(struct command_line *command, int argc, char **argv,
                              struct error_text *why);
    // The stream to which the program prints its help.
    FILE *(*help_stream)(void);
    void (*print_help)(const struct command_line *command, FILE *stream);
    void (*print_version)(FILE *stream);
    bool prints_help_on_error;
};

extern const struct compat_program compat_beanstalkd;
extern const struct compat_program compat_gearmand;

//
// Common to all replaced programs
//

// The lines of the help about our own options.
extern const char compat_own_help[];

enum compat_own_option {
    COMPAT_OWN_NONE,    // not one of our options
    COMPAT_OWN_TAKEN,   // applied; the next argument is not its value
    COMPAT_OWN_VALUED,  // applied; the next argument is its value
    COMPAT_OWN_MISSING, // its value is missing
};

// Applies `arg` if it is one of our options; `next` is the next argument, or NULL. The values of
// --set are added to `sets`.
enum compat_own_option compat_own_apply(struct command_line *command, struct string_list *sets,
                                        const char *arg, const char *next);

// Makes all other front-ends not listen, unless settings say otherwise.
void compat_listen_only(struct string_list *presets, const char *frontend);

// Whether this program can import from a source of that kind (transfer/source.h).
bool compat_can_import(const char *kind);

// Parses a port: a number, or the name of a service as for getaddrinfo(). False if it is neither.
bool compat_find_port(const char *text, unsigned *port);

// Adds a setting `KEY=[TLS]HOST:PORT`. The host may be an IPv6 address.
void compat_add_listen(struct string_list *settings, const char *key, const char *tls,
                       const char *host, unsigned port);

#endif
