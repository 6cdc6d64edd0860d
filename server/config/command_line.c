/* SPDX-License-Identifier: MIT */
#include "server/config/command_line.h"

#include "server/config/compat_beanstalkd.h"
#include "server/config/compat.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// As the project was configured; empty if the path follows from the prefix.
static const char sysconfdir[] = TANDEM_SYSCONFDIR;

// The length of the prefix in the path of the program; false if it is not in a `bin`.
static bool program_prefix(const char *program, int *len)
{
    static const char bin[] = "/bin";
    const char *name = strrchr(program, '/');
    size_t dir = name ? (size_t)(name - program) : 0;

    if (dir < strlen(bin) || memcmp(name - strlen(bin), bin, strlen(bin)) != 0) {
        return false;
    }
    *len = (int)(dir - strlen(bin));
    return true;
}

static bool program_is_below(const char *program, const char *dir)
{
    return strncmp(program, dir, strlen(dir)) == 0;
}

bool default_config_of(const char *program, char path[PATH_MAX])
{
    static const char name[] = "tandem/tandemd.conf";
    int prefix = 0;
    int len;

    if (*sysconfdir) {
        len = snprintf(path, PATH_MAX, "%s/%s", sysconfdir, name);
    } else if (!program_prefix(program, &prefix) || prefix == 0 ||
               program_is_below(program, "/usr/bin/")) {
        len = snprintf(path, PATH_MAX, "%s", DEFAULT_CONFIG);
    } else if (program_is_below(program, "/opt/") && prefix > (int)strlen("/opt")) {
        len = snprintf(path, PATH_MAX, "/etc%.*s/%s", prefix, program, name);
    } else {
        len = snprintf(path, PATH_MAX, "%.*s/etc/%s", prefix, program, name);
    }
    return len > 0 && len < PATH_MAX;
}

static void default_config(char path[PATH_MAX])
{
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program);

    if (len < 0 || (size_t)len == sizeof program) {
        len = 0;
    }
    program[len] = '\0';
    if (!default_config_of(program, path)) {
        (void)snprintf(path, PATH_MAX, "%s", DEFAULT_CONFIG);
    }
}

const char command_line_help[] =
    "Usage: tandemd [options]\n"
    "       tandemd --as beanstalkd|gearmand [options of that program]\n"
    "       tandemd hash-token       read a token and print its hash, for access rules\n"
    "\n"
    "A job broker that speaks the beanstalk protocol, the Gearman protocol and HTTP. With a\n"
    "journal (journal.dir, or journal.postgres), jobs survive the end of the process; otherwise\n"
    "they are in memory only.\n"
    "\n"
    "  -C, --config FILE            read settings from FILE (default: " DEFAULT_CONFIG ", or\n"
    "                               the file below the prefix of this program, if it exists)\n"
    "      --set SECTION.KEY=VALUE  set one key, after the file and the environment\n"
    "                               (TANDEM_SECTION_KEY=VALUE); may be repeated\n"
    "      --check-config           print the resulting settings, and exit\n"
    "      --queue NAME             with --check-config: print the section of that queue\n"
    "      --init-store             create the tables of a journal in PostgreSQL, print the "
    "SQL\n"
    "                               that grants rights to the broker's role, and exit\n"
    "      --repair                 start with a damaged journal, and log the lost records\n"
    "      --ignore-binlog          start in a directory where beanstalkd has left jobs, and\n"
    "                               ignore them\n"
    "      --as PROGRAM             replace PROGRAM (beanstalkd, gearmand), with its options\n"
    "                               and exit codes; also if this program has that name\n"
    "  -v, --version                print the version, and exit\n"
    "  -h, --help                   print this help, and exit\n"
    "\n"
    "beanstalkd's flags are accepted; with any of them, exit codes are those of beanstalkd.\n"
    "With -l or -p, other protocols listen only if a setting demands it. Unlike beanstalkd,\n"
    "the default is to listen on the loopback address only.\n"
    "\n"
    "  -l ADDR   listen on ADDR (0.0.0.0), or on unix:PATH, for beanstalk clients only\n"
    "  -p PORT   listen on PORT (11300), for beanstalk clients only\n"
    "  -u USER   run as USER and its group\n"
    "  -z BYTES  maximum size of a job body (65535; at most 1073741824)\n"
    "  -V        log each connection\n"
    "  -b DIR    keep a journal in DIR, which must exist\n"
    "  -f MS     sync it every MS milliseconds (50); 0: before each answer\n"
    "  -F        leave syncing to the system; the last one of -f and -F applies\n"
    "  -s BYTES  size of a journal file\n"
    "  -c, -n    ignored\n"
    "\n"
    "Signals: TERM and INT stop the broker, USR1 makes it refuse new jobs, USR2 accept them\n"
    "again, HUP read the settings again and reopen the log file.\n"
    "\n"
    "Exit codes: 0 stopped by a signal; 1 an address, a file, the journal or memory was not\n"
    "available, or the journal could not be completed at the end; 2 the command line or the\n"
    "configuration has an error. As a replacement of beanstalkd: 5 for an error in the command\n"
    "line or configuration, 10 for the journal at the start, 32 to 34 for the user, 111 for an\n"
    "address.\n";

// The values of getopt_long() for long options.
enum {
    LONG_CONFIG = 256,
    LONG_SET,
    LONG_CHECK,
    LONG_INIT,
    LONG_QUEUE,
    LONG_VERSION,
    LONG_HELP,
    LONG_REPAIR,
    LONG_IGNORE
};

static const struct option long_options[] = {
    {"config", required_argument, NULL, LONG_CONFIG},
    {"set", required_argument, NULL, LONG_SET},
    {"check-config", no_argument, NULL, LONG_CHECK},
    {"init-store", no_argument, NULL, LONG_INIT},
    {"queue", required_argument, NULL, LONG_QUEUE},
    {"version", no_argument, NULL, LONG_VERSION},
    {"help", no_argument, NULL, LONG_HELP},
    {"repair", no_argument, NULL, LONG_REPAIR},
    {"ignore-binlog", no_argument, NULL, LONG_IGNORE},
    {NULL, 0, NULL, 0},
};

struct option_parser {
    struct command_line *command;
    struct beanstalkd_flags flags;
    struct string_list sets; // of --set
    char **argv;
};

// Reports the option that getopt_long() has just refused: a letter of a group, or a long option.
static bool option_refuse(struct option_parser *parser, const char *what, struct error_text *why)
{
    if (optopt > 0 && optopt < LONG_CONFIG) {
        if (flags_know(optopt)) {
            parser->command->codes = EXIT_CODES_BEANSTALKD;
        }
        return error_set(why, "-%c: %s (see --help)", optopt, what);
    }
    return error_set(why, "%s: %s (see --help)", parser->argv[optind - 1], what);
}

static bool option_apply(struct option_parser *parser, int letter, struct error_text *why)
{
    struct command_line *command = parser->command;

    switch (letter) {
    case 'C':
    case LONG_CONFIG:
        command->config_path = optarg;
        return true;
    case LONG_SET:
        string_list_add(&parser->sets, "%s", optarg);
        return true;
    case LONG_CHECK:
        command->action = ACTION_CHECK;
        return true;
    case LONG_INIT:
        command->action = ACTION_INIT_STORE;
        return true;
    case LONG_QUEUE:
        command->queue = optarg;
        return true;
    case LONG_REPAIR:
        command->repair = true;
        return true;
    case LONG_IGNORE:
        command->ignore_binlog = true;
        return true;
    case 'v':
    case LONG_VERSION:
        command->action = ACTION_VERSION;
        return true;
    case 'h':
    case LONG_HELP:
        command->action = ACTION_HELP;
        return true;
    case ':':
        return option_refuse(parser, "a value is missing", why);
    case '?':
        return option_refuse(parser, "no such option", why);
    default:
        command->codes = EXIT_CODES_BEANSTALKD;
        return flags_take(&parser->flags, letter, optarg, why);
    }
}

// Whether the rest of the command line is ignored, as by beanstalkd after -v or -h.
static bool prints_and_exits(const struct command_line *command)
{
    return command->action == ACTION_VERSION || command->action == ACTION_HELP;
}

static bool options_parse(struct option_parser *parser, int argc, struct error_text *why)
{
    int letter;

    opterr = 0;
    optind = 0; // resets GNU's getopt in the middle of a group of letters
    while ((letter = getopt_long(argc, parser->argv, ":C:vh" FLAGS_LETTERS, long_options, NULL)) !=
           -1) {
        if (!option_apply(parser, letter, why)) {
            return false;
        }
        if (prints_and_exits(parser->command)) {
            return true;
        }
    }
    if (optind < argc) {
        return error_set(why, "%s: no such argument (see --help)", parser->argv[optind]);
    }
    return true;
}

// Adds the settings of the flags before those of --set, which override them.
static enum exit_reason options_apply(struct option_parser *parser, struct error_text *why)
{
    struct command_line *command = parser->command;
    enum exit_reason result = flags_settings(&parser->flags, &command->sets, why);

    if (flags_listen(&parser->flags)) {
        compat_listen_only(&command->presets, "beanstalk");
    }
    if (!command->ignore_binlog) {
        flags_import(&parser->flags, &command->presets);
    }
    flags_add_notes(&parser->flags, &command->notes);
    string_list_move(&command->sets, &parser->sets);
    default_config(command->default_path);
    if (!command->config_path && access(command->default_path, F_OK) == 0) {
        command->config_path = command->default_path;
    }
    return result;
}

static const struct compat_program *const compat_programs[] = {&compat_beanstalkd,
                                                               &compat_gearmand};

static const struct compat_program *compat_named(const char *name)
{
    for (size_t i = 0; i < sizeof compat_programs / sizeof *compat_programs; i++) {
        if (strcmp(compat_programs[i]->name, name) == 0) {
            return compat_programs[i];
        }
    }
    return NULL;
}

// The value of --as, or NULL. Arguments after `--` are not options.
static const char *compat_asked_for(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--as=", 5) == 0) {
            return argv[i] + 5;
        }
        if (strcmp(argv[i], "--as") == 0) {
            return i + 1 < argc ? argv[i + 1] : "";
        }
    }
    return NULL;
}

// Finds the program that the command line replaces; NULL: none. False with the reason in `why` if
// --as names an unknown program.
static bool compat_find(const struct compat_program **compat, int argc, char **argv,
                        struct error_text *why)
{
    const char *name = compat_asked_for(argc, argv);
    const char *slash;

    *compat = NULL;
    if (name) {
        *compat = compat_named(name);
        return *compat || error_set(why, "--as: `%s` is neither beanstalkd nor gearmand", name);
    }
    if (argc > 0) {
        slash = strrchr(argv[0], '/');
        *compat = compat_named(slash ? slash + 1 : argv[0]);
    }
    return true;
}

static enum exit_reason command_line_parse_own(struct command_line *command, int argc, char **argv,
                                               struct error_text *why)
{
    struct option_parser parser = {.command = command, .argv = argv};
    enum exit_reason result = EXIT_REASON_NONE;

    if (argc == 2 && strcmp(argv[1], "hash-token") == 0) {
        command->action = ACTION_HASH_TOKEN;
    } else if (!options_parse(&parser, argc, why)) {
        result = EXIT_REASON_USAGE;
    } else if (!prints_and_exits(command)) {
        result = options_apply(&parser, why);
    }
    string_list_clear(&parser.sets);
    return result;
}

// Checks what does not depend on the replaced program.
static enum exit_reason command_line_check(const struct command_line *command,
                                           struct error_text *why)
{
    if (command->presets.out_of_memory || command->sets.out_of_memory ||
        command->notes.out_of_memory) {
        error_set(why, "out of memory");
        return EXIT_REASON_OTHER;
    }
    if (command->queue && command->action != ACTION_CHECK && !prints_and_exits(command)) {
        error_set(why, "--queue: only with --check-config");
        return EXIT_REASON_USAGE;
    }
    return EXIT_REASON_NONE;
}

enum exit_reason command_line_parse(struct command_line *command, int argc, char **argv,
                                    struct error_text *why)
{
    const struct compat_program *compat;
    enum exit_reason result;

    *command = (struct command_line){.action = ACTION_RUN, .program = "tandemd"};
    if (!compat_find(&compat, argc, argv, why)) {
        return EXIT_REASON_USAGE;
    }
    if (compat) {
        command->compat = compat;
        command->codes = compat->codes;
        command->program = argv[0];
        result = compat->parse(command, argc, argv, why);
    } else {
        result = command_line_parse_own(command, argc, argv, why);
    }
    return result == EXIT_REASON_NONE ? command_line_check(command, why) : result;
}

void command_line_print_error(const struct command_line *command, enum exit_reason result,
                              const struct error_text *why)
{
    const struct compat_program *compat = command->compat;

    (void)fprintf(stderr, "%s: %s\n", command->program, why->text);
    if (result == EXIT_REASON_USAGE && compat && compat->prints_help_on_error) {
        compat->print_help(command, stderr);
    }
}

void command_line_print_help(const struct command_line *command)
{
    const struct compat_program *compat = command->compat;

    if (compat) {
        compat->print_help(command, compat->help_stream());
    } else {
        (void)fputs(command_line_help, stdout);
    }
}

void command_line_print_version(const struct command_line *command)
{
    if (command->compat) {
        command->compat->print_version(stdout);
    } else {
        (void)printf("tandemd %s\n", TANDEM_VERSION);
    }
}

void command_line_clear(struct command_line *command)
{
    string_list_clear(&command->presets);
    string_list_clear(&command->sets);
    string_list_clear(&command->notes);
    *command = (struct command_line){.action = ACTION_RUN};
}
