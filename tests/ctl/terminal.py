# SPDX-License-Identifier: MIT
"""A pseudo-terminal with a size, and the picture that results from the output of a program. Escape
sequences that the picture does not know are an error, so that a program writes only those that
every terminal understands."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unicodedata

import program

SECONDS = 60  # only what hangs takes so long
END = "\x1b[?9999h"  # no program writes this
TOKEN = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|\r|\n|\x08|[^\x00-\x1f]+")


class Picture:
    """The text on the screen. `other`: it is the alternate screen, which full-screen programs use;
    `wrapped`: how often text exceeded the last column; `drawing`: only a part of a full redraw has
    arrived."""

    def __init__(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.rows = [""] * lines
        self.at = (0, 0)
        self.other, self.cursor, self.wrapped, self.drawing = False, True, 0, False
        self.kept = None

    def text(self):
        return "\n".join(row.rstrip() for row in self.rows)

    def feed(self, text):
        end = 0
        for token in TOKEN.finditer(text):
            assert token.start() == end, repr(text[end:token.start()])
            end = token.end()
            if token[3]:
                self.command(token[1], token[2], token[3])
            elif token[0] == "\r":
                self.at = (self.at[0], 0)
            elif token[0] == "\n":
                self.feed_line()
            elif token[0] == "\x08":
                self.at = (self.at[0], max(self.at[1] - 1, 0))
            else:
                self.write(token[0])
        assert end == len(text), repr(text[end:])

    def feed_line(self):
        if self.at[0] + 1 < self.lines:
            self.at = (self.at[0] + 1, self.at[1])
        else:
            self.rows = [*self.rows[1:], ""]

    def write(self, text):
        for letter in text:
            row, column = self.at
            width = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
            if column + width > self.columns:
                self.wrapped += 1
                self.feed_line()
                row, column = self.at[0], 0
            line = self.rows[row].ljust(column)
            self.rows[row] = line[:column] + letter + line[column + width:]
            self.at = (row, column + width)

    def command(self, private, numbers, letter):
        row, column = self.at
        if private:
            self.switch(numbers, letter == "h")
        elif letter == "H" and not numbers:
            self.at, self.drawing = (0, 0), True
        elif letter == "K" and not numbers:
            self.rows[row] = self.rows[row][:column]
        elif letter == "J":
            first = 0 if numbers == "2" else row + 1
            if not numbers:
                self.rows[row] = self.rows[row][:column]
                self.drawing = False
            self.rows[first:] = [""] * (self.lines - first)
        else:
            assert letter == "m", (numbers, letter)

    def switch(self, number, on):
        if number == "25":
            self.cursor = on
        else:
            assert number == "1049", number
            if on and not self.other:
                self.kept, self.rows = (self.rows, self.at), [""] * self.lines
            elif not on and self.other:
                self.rows, self.at = self.kept
            self.other = on


class Terminal:
    """tandemctl on its own pseudo-terminal."""

    def __init__(self, *arguments, address=None, columns=80, lines=24, env=None):
        self.main, side = pty.openpty()
        self.side = side
        self.resize(columns, lines, tell=False)
        self.settings = termios.tcgetattr(side)
        self.process = subprocess.Popen(
            [program.PROGRAM, *arguments], stdin=side, stdout=side, stderr=side,
            env=program.environment(address, **(env or {})), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.written = ""
        self.fed = b""
        self.drained = False

    def resize(self, columns, lines, tell=True):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.picture = Picture(columns, lines)
        self.resized = tell
        if tell:
            self.picture.other = self.picture.drawing = True
            self.picture.kept = ([""] * lines, (0, 0))

    def type(self, keys):
        os.write(self.main, keys.encode())

    def read(self, seconds):
        """Reads the output that arrives within this time; False at the end."""
        if not select.select([self.main], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.main, 65536)
        except OSError:
            return False
        self.fed += data
        # A character or an escape sequence may be incomplete.
        cut = re.search(rb"(\x1b(\[[\d;?]*)?|[\xc0-\xff][\x80-\xbf]{0,2})$", self.fed)
        whole = self.fed[:cut.start()] if cut and self.incomplete(cut[0]) else self.fed
        self.fed = self.fed[len(whole):]
        text = whole.decode()
        if END in text:
            self.drained, text = True, text.replace(END, "")
        self.written += text
        self.show(text)
        return bool(data)

    def show(self, text):
        """Discards the output that was drawn for the previous size."""
        if self.resized:
            text = text[text.find("\x1b[H"):] if "\x1b[H" in text else ""
            self.resized = not text
        self.picture.feed(text)

    @staticmethod
    def incomplete(tail):
        try:
            tail.decode()
            return tail.startswith(b"\x1b")
        except UnicodeDecodeError:
            return True

    def wait(self, fits, what):
        """Waits until the complete picture satisfies the condition."""
        give_up_at = time.monotonic() + SECONDS
        while self.picture.drawing or not fits():
            left = give_up_at - time.monotonic()
            if left < 0 or self.process.poll() is not None and not self.read(0):
                raise AssertionError(f"it never came to {what}; there stands:\n"
                                     + self.picture.text())
            self.read(min(left, 0.2))

    def expect(self, pattern):
        """Waits until the text is on the screen."""
        self.wait(lambda: re.search(pattern, self.picture.text()), repr(pattern))
        return re.search(pattern, self.picture.text())

    def expect_gone(self, pattern):
        self.wait(lambda: not re.search(pattern, self.picture.text()), f"be without {pattern!r}")

    def end(self):
        """Waits for the end, reads all output, and returns the exit code."""
        give_up_at = time.monotonic() + SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < give_up_at, self.picture.text()
            self.read(0.05)
        # Its output may still be in the buffer of the terminal.
        os.write(self.side, END.encode())
        while not self.drained:
            assert time.monotonic() < give_up_at, self.picture.text()
            self.read(0.05)
        return self.process.returncode

    def is_restored(self):
        """Whether the terminal is as it was: its settings, its screen, its cursor."""
        return (termios.tcgetattr(self.side) == self.settings and not self.picture.other
                and self.picture.cursor)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.side)
        os.close(self.main)
