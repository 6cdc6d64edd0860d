/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_PERSONA_OWN_H
#define TANDEM_SERVER_CONFIG_PERSONA_OWN_H

// Those of our own long options that every persona knows besides the program's own, and what the
// personas have in common.

#include "server/config/command.h"

// For help texts: a line for each of them.
extern const char persona_own_help[];

enum own_option {
    OWN_NONE,    // it is not one of ours
    OWN_TAKEN,   // and the argument behind it is not its value
    OWN_VALUED,  // and the argument behind it is its value
    OWN_MISSING, // its value is not there
};

// Takes `arg` where it is one of ours; `next` is the argument behind it, NULL for none. What --set
// says goes to `said`.
enum own_option persona_own_take(struct command_line *command, struct words *said, const char *arg,
                                 const char *next);

// Has no other front-end than this one listen unless settings say so.
void persona_listen_only(struct words *presets, const char *frontend);

// Whether this program can read what another broker has left in a store of that kind
// (transfer/source.h).
bool persona_can_import(const char *kind);

// The port that a text stands for: a number or, as getaddrinfo has it, the name of a service. False
// where it is neither.
bool persona_find_port(const char *text, unsigned *port);

// Adds a setting `KEY=[TLS]HOST:PORT`. The host may be an IPv6 address.
void persona_add_listen(struct words *settings, const char *key, const char *tls, const char *host,
                        unsigned port);

#endif
