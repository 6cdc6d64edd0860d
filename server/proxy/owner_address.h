/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_OWNER_ADDRESS_H
#define TANDEM_SERVER_PROXY_OWNER_ADDRESS_H

// Where the process that owns the jobs can be reached, as it has written that down for the others:
// words parted by blanks, each `PROTOCOL=HOST:PORT`, or `PROTOCOL+tls=HOST:PORT` where TLS is
// spoken, with an IPv6 address in brackets. The text came out of a database: a word that is none of
// these is passed over.

#include <stdbool.h>
#include <stddef.h>

// One place.
struct owner_place {
    char protocol[16];
    bool tls;
    char host[256];
    char port[6];
};

// Room for the whole text.
#define OWNER_TEXT_MAX 512
// Every protocol with TLS and without, and a few that are not known here.
#define OWNER_PLACES_MAX 16

// Reads the places of the text; returns how many there are. Of several for the same protocol and
// kind, the first one counts.
size_t owner_address_read(const char *text, struct owner_place places[OWNER_PLACES_MAX]);

#endif
