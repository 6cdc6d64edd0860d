/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SETTINGS_H
#define TANDEM_SERVER_CONFIG_SETTINGS_H

// All settings of the process: the [server], the [tls] and the [journal] section, for each
// front-end its `listen` key and the options that it brought, and the sections with a name. Read
// once at start, and on each reload into a second set of which the first takes over what is live.

#include "server/config/config.h"
#include "server/config/frontends.h"
#include "server/config/queue_section.h"
#include "server/config/schedule_section.h"
#include "server/transport/tls.h"

// The values of `io_spread`, in the order of its choices.
enum io_spread { IO_SPREAD_AUTO, IO_SPREAD_ALWAYS };

struct server_settings {
    char *user;              // to become; empty: nobody else
    char *pid_file;          // empty: none
    char *socket_mode;       // of unix sockets, for file_mode_parse; empty: as the umask says
    char *access_file;       // who may do what; empty: whoever comes may do everything
    int64_t max_queues;      // that clients may make; 0: any number
    int64_t max_connections; // 0: as many as there are descriptors
    uint64_t max_connection_memory;      // bytes; see connection_memory.h
    int64_t max_connections_per_address; // 0: any number
    uint64_t max_memory;                 // bytes; 0: no limit
    uint64_t max_kept_results;           // bytes; see core/result.h
    uint64_t max_kept_keys;              // bytes, of MEMO_UNIQUE; see core/memo.h
    char *io_threads;                    // that read and write, for io_threads_parse
    int io_spread;                       // enum io_spread
    int64_t handshake_timeout;           // seconds
    int64_t write_timeout; // seconds; 0: a client may leave its output unread for ever
    int64_t slow_turn;     // milliseconds of processor time; 0: no turn is slow
    int log_level;         // enum log_level
    int log_format;        // enum log_format
    char *log_file;        // empty: stderr
    char *log_commands;    // of the connection of this number, or from this address; empty: none
};

// The least and the most that segment_size takes.
#define SETTINGS_SEGMENT_LEAST 4096
#define SETTINGS_SEGMENT_MOST (INT64_C(16) << 30)

// The values of `store`, `role`, `standby` and `require_quorum`, in the order of their choices.
enum store_kind { STORE_FILE, STORE_POSTGRES };
enum store_role { STORE_ROLE_AUTO, STORE_ROLE_STANDBY };
enum store_standby { STANDBY_PROXY, STANDBY_REFUSE };
enum store_quorum { QUORUM_NO, QUORUM_WARN, QUORUM_YES };

struct store_settings {
    int store;             // enum store_kind
    char *dir;             // of the journal; empty: jobs are in memory only, or in PostgreSQL
    char *fsync;           // for fsync_parse
    uint64_t segment_size; // bytes of a file
    uint64_t max_pending;  // bytes that may wait for the disk before submitters wait, too
    int64_t fail_timeout;  // seconds
    char *import;          // the source of jobs to bring in at the first start; empty: none
    char *postgres;        // conninfo, a secret; empty unless STORE_POSTGRES. Of that store alone:
    char *shard;           // which journal of the database
    int role;              // enum store_role
    int standby;           // enum store_standby
    char *address;         // by which other members reach this one; empty: the machine's host name
    int quorum;            // enum store_quorum
    int64_t lease_ttl;     // seconds
};

struct protocol_settings {
    char *listen;
    void *options; // the front-end's own struct
};

// Kinds of sections with a name.
enum settings_kind { SETTINGS_QUEUES, SETTINGS_SCHEDULES, SETTINGS_KINDS };

struct settings {
    struct server_settings server;
    struct tls_settings tls;
    struct store_settings journal;
    struct protocol_settings protocols[FRONTENDS]; // in the order of `frontends`
    struct config_sections named[SETTINGS_KINDS];  // by enum settings_kind
    struct config config;                          // the tables that describe all of it
    struct config_table tables[3 + 2 * FRONTENDS]; /* private */
    char *options;                                 /* private: all front-ends' structs */
    struct option listen_options[FRONTENDS][2];    /* private: a key and the end */
};

// Where settings come from.
struct settings_source {
    const char *path;           // of the file, NULL for none
    const char *const *presets; // in force unless the file or `sets` say otherwise
    size_t preset_count;
    const char *const *sets; // what the command line says, in order
    size_t set_count;
    bool again; // clients are being served: nothing is waited for
};

// Defaults, presets, the file, then what the command line says. NULL with the reason in `why`, too,
// where a front-end cannot begin with what results, or TLS, or the rules cannot be read; not the
// latter two where it is read again: the caller then knows more.
struct settings *settings_load(const struct settings_source *source,
                               struct error_text *why) MUST_USE;

// Whether every front-end can begin with its options, such as to read the files that they name.
// False with the reason in `why`.
bool settings_check(const struct settings *settings, struct error_text *why) MUST_USE;

// Whether the rules of `access_file` can be read. False with the reason in `why`.
bool settings_check_access(const struct settings *settings, struct error_text *why) MUST_USE;

// Whether connections with TLS can begin, where an address or a certificate says that there are
// any: the files can be read and fit each other. False with the reason in `why`.
bool settings_check_tls(const struct settings *settings, struct error_text *why) MUST_USE;

// Whether the [tls] sections are alike.
bool settings_same_tls(const struct settings *a, const struct settings *b);

// NULL is allowed.
void settings_free(struct settings *settings);

#endif
