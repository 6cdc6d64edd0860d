/* SPDX-License-Identifier: MIT */
#include "core/log.h"
#include "server/libevent_log.h"
#include "server/options.h"
#include "server/server.h"

#include <stdio.h>

static int fail(enum exit_code code, const struct complaint *why)
{
    (void)fprintf(stderr, "tandemd: %s\n", why->text);
    return (int)code;
}

static int serve(struct settings *settings, const struct settings_source *source)
{
    const struct server_settings *ours = &settings->server;
    struct log_output log;
    struct server server;
    struct complaint why;
    bool good;

    log_output_init(&log, (enum log_level)ours->log_level);
    libevent_log_route();
    if (!log_output_open(&log, ours->log_file, (enum log_format)ours->log_format,
                         (enum log_level)ours->log_level, &why)) {
        return fail(EXIT_CODE_FAILED, &why);
    }
    good = server_open(&server, settings, source, &log, &why);
    if (good) {
        log_info("started", log_string("version", TANDEM_VERSION),
                 log_number("pid", server.facts.process.pid));
        server_run(&server);
    }
    server_close(&server);
    if (good) {
        log_info("stopped", log_string("version", TANDEM_VERSION));
    } else {
        log_error("not_started", log_string("why", why.text));
    }
    log_output_close(&log);
    return good ? EXIT_CODE_GOOD : EXIT_CODE_FAILED;
}

static int run(const struct options *options)
{
    const struct settings_source source = {
        .path = options->config_path, .sets = options->sets, .set_count = options->set_count};
    struct complaint why;
    struct settings *settings = settings_load(&source, &why);
    int code = EXIT_CODE_GOOD;

    if (!settings) {
        return fail(EXIT_CODE_USAGE, &why);
    }
    if (options->action == ACTION_CHECK) {
        config_print(&settings->config, stdout);
    } else {
        code = serve(settings, &source);
    }
    settings_free(settings);
    return code;
}

int main(int argc, char **argv)
{
    struct options options;
    struct complaint why;
    int code = EXIT_CODE_GOOD;

    if (!options_parse(&options, argc, argv, &why)) {
        code = fail(EXIT_CODE_USAGE, &why);
    } else {
        switch (options.action) {
        case ACTION_VERSION:
            (void)printf("tandemd %s\n", TANDEM_VERSION);
            break;
        case ACTION_HELP:
            (void)fputs(options_help, stdout);
            break;
        case ACTION_CHECK:
        case ACTION_RUN:
            code = run(&options);
            break;
        }
    }
    options_clear(&options);
    return code;
}
