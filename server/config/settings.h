/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_SETTINGS_H
#define TANDEM_SERVER_CONFIG_SETTINGS_H

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "proto_common/frontend.h"
#include "server/config/config.h"
#include "server/config/queue_section.h"
#include "server/config/schedule_section.h"
#include "server/process/cgroup.h"
#include "server/transport/tls.h"

#include <stdbool.h>
#include <sys/types.h>

// All settings of the process: the sections [server], [tls] and [journal], for each front-end its
// `listen` key and its own options, and the sections with a name. They are read at the start, and
// on each reload into a second set, whose live values the first set takes.
//
// If a function with `why` fails, the reason is in `why`.

// The front-ends of this process. A new front-end is a folder and a line in this table.
#define FRONTENDS 4
extern const struct frontend *const frontends[FRONTENDS];

// The values of `io_spread`, in the order of its choices.
enum io_spread { IO_SPREAD_AUTO, IO_SPREAD_ALWAYS };

struct server_settings {
    char *user;                     // to change to; empty: none
    char *pid_file;                 // empty: none
    char *socket_mode;              // of unix sockets, for file_mode_parse(); empty: by the umask
    char *access_file;              // access rules; empty: every client may do everything
    int64_t max_queues;             // that clients may create; 0: no limit
    int64_t max_connections;        // 0: the number of file descriptors
    uint64_t max_connection_memory; // bytes; see CONNECTION_MEMORY_BESIDE
    int64_t max_connections_per_address; // 0: no limit
    char *proxies;                       // for proxy_list_read()
    uint64_t max_memory;                 // bytes; for max_memory_in_force()
    uint64_t max_kept_results;           // bytes of MEMO_RESULT
    uint64_t max_kept_keys;              // bytes of MEMO_UNIQUE
    char *io_threads;                    // for io_threads_parse()
    int io_spread;                       // enum io_spread
    int64_t handshake_timeout;           // seconds
    int64_t write_timeout;               // seconds; 0: never
    int64_t slow_turn;                   // milliseconds of processor time; 0: never
    int log_level;                       // enum log_level
    int log_format;                      // enum log_format
    char *log_file;                      // empty: stderr
    char *log_commands;                  // address or connection number of a client; empty: none
};

// The range of segment_size in bytes.
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
    char *fsync;           // for fsync_parse()
    uint64_t segment_size; // bytes of a file
    uint64_t max_pending;  // bytes that may wait for the disk before submitters wait, too
    int64_t fail_timeout;  // seconds
    char *import;          // source of jobs to import at the first start; empty: none
    char *postgres;        // connection string, a secret; empty unless STORE_POSTGRES
    // For STORE_POSTGRES alone:
    char *shard;       // name of the journal in the database
    int role;          // enum store_role
    int standby;       // enum store_standby
    char *address;     // by which other brokers reach this one; empty: the host name
    int quorum;        // enum store_quorum
    int64_t lease_ttl; // seconds
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
    struct config config;                          // the tables that describe all values
    size_t environment_count;                      // keys that the environment has set
    struct config_table tables[3 + 2 * FRONTENDS]; /* private */
    char *options;                                 /* private: the structs of all front-ends */
    struct option listen_options[FRONTENDS][2];    /* private: a key and the end of the table */
};

// The sources of settings.
struct settings_source {
    const char *path;           // of the file; NULL: none
    const char *const *presets; // `section.key=value`; everything else overrides them
    size_t preset_count;
    const char *const *environment; // `NAME=value`, ends with NULL; NULL: none
    const char *const *sets;        // `section.key=value` of the command line, in order
    size_t set_count;
    bool again; // this is a reload: do not wait for a pipe
};

// Reads defaults, presets, the file, the environment, then the command line. NULL if there is an
// error in these, if a front-end cannot use its options, or without memory. Except on a reload,
// also NULL if the files of TLS or the access rules cannot be read; the caller of a reload checks
// these itself.
struct settings *settings_load(const struct settings_source *source,
                               struct error_text *why) MUST_USE;

// Whether every front-end can use its options, and read the files in them.
bool settings_check(const struct settings *settings, struct error_text *why) MUST_USE;

// Whether the rules of `access_file` can be read.
bool settings_check_access(const struct settings *settings, struct error_text *why) MUST_USE;

// Whether the files of TLS can be read and match, if there is a certificate. Without one, whether
// no address needs TLS.
bool settings_check_tls(const struct settings *settings, struct error_text *why) MUST_USE;

// Whether the sections [tls] are equal.
bool settings_same_tls(const struct settings *a, const struct settings *b);

// NULL is allowed.
void settings_free(struct settings *settings);

// The processors that the process may use: by its affinity and the limit of its container.
unsigned processors_available(const struct cgroup_limits *limits);

// `max_memory` in bytes; 0: no limit. `auto` is three quarters of the container's memory, or less,
// as the process needs memory of its own, but a quarter at least. Without a limit of the container
// it is no limit.
uint64_t max_memory_in_force(uint64_t max_memory, const struct cgroup_limits *limits);

// The range of `io_threads`, and its value for `auto` if the process may use that many processors:
// half of them, and none below four. The other half is for the core thread, which needs a quarter
// of the time of two I/O threads, for the journal, for the network stack of the kernel, and for
// clients on the same machine. On two processors that clients use, too, threads were slower than
// none (server/io/IO.md).
#define IO_THREADS_MOST 64
unsigned io_threads_auto(unsigned processors);
bool io_threads_parse(const char *text, unsigned *count, struct error_text *why) MUST_USE;

// Parses the mode of a file in octal digits, 0 to 0777.
bool file_mode_parse(const char *text, mode_t *mode, struct error_text *why) MUST_USE;

// max_connection_memory limits the unread output, the input and the partial bodies of a connection.
// Every job and every answer must fit in addition to other data: the limit exceeds the largest job
// by at least CONNECTION_MEMORY_BESIDE bytes.
#define CONNECTION_MEMORY_BESIDE ((uint64_t)2 << 20)

// The bytes that a connection may keep before the largest job is added.
uint64_t connection_memory_before(const struct settings *settings);

#endif
