/* SPDX-License-Identifier: MIT */
#include "ctl/print/screen.h"

#include "core/base/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

void screen_find(struct screen *screen)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *kind = getenv("TERM");
    struct winsize size;

    *screen = (struct screen){.terminal = isatty(STDOUT_FILENO) == 1};
    screen->shows_progress = isatty(STDERR_FILENO) == 1;
    screen->asks = screen->shows_progress && isatty(STDIN_FILENO) == 1;
    screen->colour = screen->terminal && !(no_colour && *no_colour) && kind && *kind &&
                     strcmp(kind, "dumb") != 0;
    if (screen->terminal) {
        bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;

        screen->width = known && size.ws_col > 0 ? size.ws_col : 80;
        screen->height = known && size.ws_row > 0 ? size.ws_row : 24;
    }
}

bool screen_write(struct text *text)
{
    bool good = fwrite(text_string(text), 1, text->len, stdout) == text->len && fflush(stdout) == 0;

    text_cut(text, 0);
    return good;
}

//
// Styles
//

static const char *style_code(enum style style)
{
    switch (style) {
    case STYLE_PLAIN:
        return "";
    case STYLE_STRONG:
        return "\033[1m";
    case STYLE_FAINT:
        return "\033[2m";
    case STYLE_GOOD:
        return "\033[32m";
    case STYLE_ODD:
        return "\033[33m";
    case STYLE_BAD:
        return "\033[31m";
    case STYLE_MARK:
        return "\033[7m";
    }
    UNREACHABLE();
}

void style_add(struct text *to, enum style style, bool colour, struct slice what)
{
    bool changes = colour && style != STYLE_PLAIN && what.len > 0;

    if (changes) {
        text_put(to, style_code(style));
    }
    text_add(to, what);
    if (changes) {
        text_put(to, "\033[0m");
    }
}

//
// Progress and questions
//

#define BAR_MOST 30
#define BAR_LEAST 5
// The columns of "[] 100 % " around the bar.
#define FRAME 9

void progress_draw(uint64_t done, uint64_t total, const char *words)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    // The last column stays empty, since some terminals wrap after it.
    size_t width = known ? size.ws_col - 1U : 79;
    size_t bar = width > FRAME + BAR_LEAST ? (width - FRAME) / 3 : 0;
    double share = total == 0 || done >= total ? 1 : (double)done / (double)total;
    struct text line = {0};
    size_t left;

    bar = bar > BAR_MOST ? BAR_MOST : bar;
    text_put_char(&line, '\r');
    if (bar >= BAR_LEAST) {
        size_t full = (size_t)(share * (double)bar);

        text_put_char(&line, '[');
        text_fill(&line, '#', full);
        text_fill(&line, '.', bar - full);
        text_put(&line, "] ");
    }
    text_format(&line, "%3d %% ", (int)(share * 100));
    left = width > bar + FRAME ? width - bar - FRAME : 0;
    text_add(&line, slice_of(words, text_fit(slice_str(words), left)));
    text_put(&line, "\033[K");
    (void)fputs(text_string(&line), stderr);
    (void)fflush(stderr);
    text_free(&line);
}

void progress_clear(void)
{
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
}

bool prompt_confirms(const char *question)
{
    char answer[16];

    (void)fprintf(stderr, "%s [y/N] ", question);
    (void)fflush(stderr);
    if (!fgets(answer, sizeof answer, stdin)) {
        (void)fputc('\n', stderr);
        return false;
    }
    answer[strcspn(answer, "\r\n")] = '\0';
    return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}
