/* SPDX-License-Identifier: MIT */
#include "ctl/print/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool shows_colour(void)
{
    const char *no = getenv("NO_COLOR");
    const char *kind = getenv("TERM");

    return !(no && *no) && kind && *kind && strcmp(kind, "dumb") != 0;
}

void screen_find(struct screen *screen)
{
    struct winsize size;

    *screen = (struct screen){.terminal = isatty(STDOUT_FILENO) == 1};
    screen->shows = isatty(STDERR_FILENO) == 1;
    screen->talks = screen->shows && isatty(STDIN_FILENO) == 1;
    screen->colour = screen->terminal && shows_colour();
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
