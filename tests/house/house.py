# SPDX-License-Identifier: MIT
"""The rooms, as the build knows them: what is in each, and with which flags it is compiled."""

import collections
import json
import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each room, and the rooms whose public headers it may include.
BELOW_FRONT_ENDS = {"core/base", "core", "proto_common"}
# A room that sees HTTP also sees HTTP/1.1 and the rules; one that sees Gearman, the calendar; one that sees
# admin, JSON and lines of jobs.
FRONT_ENDS = {"proto_beanstalk", "proto_gearman", "proto_http", "http1", "access", "admin",
              "schedule", "transfer", "push", "json"}
SEES = {
    "core/base": set(),
    "core": {"core/base"},
    "json": {"core/base"},
    "os": {"core/base"},
    "access": {"core/base", "core", "os"},
    "schedule": {"core/base", "core"},
    "schedule/system": {"core/base", "core", "schedule"},
    "transfer": {"core/base", "core", "json"},
    "transfer/beanstalkd": {"core/base", "core", "json", "transfer"},
    "transfer/gearmand": {"core/base", "core", "json", "transfer"},
    "journal": {"core/base", "core"},
    "journal/file": {"core/base", "core", "journal"},
    "journal/pg": {"core/base", "core", "journal"},
    "proto_common": {"core/base", "core"},
    "http1": BELOW_FRONT_ENDS,
    "proto_beanstalk": BELOW_FRONT_ENDS,
    "proto_gearman": BELOW_FRONT_ENDS | {"schedule"},
    "proto_http": BELOW_FRONT_ENDS | {"http1", "json", "access"},
    "admin/request": BELOW_FRONT_ENDS | {"http1", "json"},
    "admin/json": BELOW_FRONT_ENDS | {"http1", "json", "admin/request"},
    "admin/metrics": BELOW_FRONT_ENDS | {"http1", "json", "schedule", "admin/request", "admin/json"},
    "admin/api": BELOW_FRONT_ENDS | {"http1", "json", "schedule", "transfer", "admin/request", "admin/json"},
    "admin/events": BELOW_FRONT_ENDS | {"http1", "json", "schedule", "transfer", "admin/request", "admin/json", "admin/api"},
    "admin/page": BELOW_FRONT_ENDS | {"http1", "json", "admin/request"},
    "admin": BELOW_FRONT_ENDS | {"http1", "json", "schedule", "transfer", "admin/request", "admin/json", "admin/metrics",
                                 "admin/api", "admin/events", "admin/page"},
    "push": BELOW_FRONT_ENDS | {"os"},
    "server/process": BELOW_FRONT_ENDS | {"os"},
    "server/log": BELOW_FRONT_ENDS | {"server/process"},
    "server/transport": BELOW_FRONT_ENDS | {"os", "server/process"},
    "server/config": BELOW_FRONT_ENDS | FRONT_ENDS | {"os", "server/process", "server/transport",
                                                      "schedule/system", "transfer/beanstalkd", "transfer/gearmand"},
    "server/net": BELOW_FRONT_ENDS | FRONT_ENDS | {"server/process", "server/transport",
                                                   "schedule/system", "transfer/beanstalkd", "transfer/gearmand", "server/config"},
    "server/io": BELOW_FRONT_ENDS | FRONT_ENDS | {"server/process", "server/transport",
                                                  "schedule/system", "transfer/beanstalkd", "transfer/gearmand", "server/config", "server/net"},
    "server/proxy": BELOW_FRONT_ENDS | FRONT_ENDS | {"server/process", "server/transport",
                                                     "schedule/system", "transfer/beanstalkd", "transfer/gearmand", "server/config", "server/net"},
    "server/conn": BELOW_FRONT_ENDS | FRONT_ENDS | {"server/process", "server/transport",
                                                    "schedule/system", "transfer/beanstalkd", "transfer/gearmand", "server/config", "server/net", "server/io"},
    "server/store": BELOW_FRONT_ENDS | FRONT_ENDS | {"server/process", "server/transport",
                                                     "schedule/system", "transfer/beanstalkd", "transfer/gearmand", "server/config", "server/net",
                                                     "journal", "journal/file", "journal/pg"},
    "server": BELOW_FRONT_ENDS | FRONT_ENDS | {"transfer/beanstalkd", "transfer/gearmand", "journal", "journal/file", "journal/pg", "schedule/system",
                                               "server/process", "server/log", "server/transport", "server/config",
                                               "server/net", "server/io", "server/conn", "server/proxy", "server/store"},
    "ctl/print": {"core/base"},
    "ctl/api": {"core/base", "ctl/print"},
    "ctl/beanstalk": {"core/base", "ctl/print", "ctl/api"},
    "ctl/migrate": {"core/base", "core", "json", "transfer", "ctl/print", "ctl/api", "ctl/beanstalk"},
    # It reads a journal that no broker uses by itself.
    "ctl": {"core/base", "core", "json", "journal", "journal/file", "transfer", "transfer/beanstalkd", "transfer/gearmand",
            "ctl/print", "ctl/api", "ctl/beanstalk", "ctl/migrate"},
}
# Rooms of another program than the broker.
APART = {"ctl/print", "ctl/api", "ctl/beanstalk", "ctl/migrate", "ctl"}
# Rooms that only the room around them sees.
HIDDEN = {"admin/request", "admin/json", "admin/metrics", "admin/api", "admin/events", "admin/page"}
# Rooms that are a part of another: they may include the headers that it keeps to itself.
INSIDE = {"journal/file": "journal", "journal/pg": "journal"}

ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


class Room:
    """A folder whose sources are one library."""

    def __init__(self, folder, target, compiler, flags, tree):
        self.folder, self.target = folder, target
        self.compiler, self.flags = compiler, flags
        self.archive = tree / folder / f"lib{target}.a"
        self.headers = {f"{folder}/{path.name}" for path in (ROOT / folder).glob("*.h")}
        shown = tree / "rooms" / target / "shown" / folder
        self.public = {f"{folder}/{path.name}" for path in shown.glob("*.h")}

    def files(self):
        return sorted([*(ROOT / self.folder).glob("*.c"), *(ROOT / self.folder).glob("*.h")])

    def compile(self, text, *options):
        """The compiler's word about a source file of this room. It runs where no header is, since
        it looks beside what it compiles first."""
        return subprocess.run([self.compiler, *self.flags, *options, "-x", "c", "-"], input=text,
                              cwd="/", text=True, capture_output=True, check=False)


Function = collections.namedtuple("Function", "name static head opens closes")


def functions(text):
    """Each function that has its body in this source, with the numbers of the first line of its head
    and of the lines of its braces. By our format, a body opens and closes with a brace alone at the
    left, and the head is in the lines before it. `name` is None if there is none."""
    head, opened = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line == "{":
            joined = ATTRIBUTE.sub("", " ".join(head))
            found = re.search(r"(\w+)\s*\(", joined)
            opened = (found and found[1], joined.startswith("static"), number - len(head), number)
        elif line == "}" and opened:
            yield Function(*opened, number)
            opened = None
        if not line or line[0] in "{}#/" or line.endswith(";"):
            head = []
        else:
            head.append(line)


def includes(path):
    """(quote or bracket, name) of each #include of a file."""
    return INCLUDE.findall(path.read_text())


def rooms(tree):
    """Folder -> Room, of all libraries that are not of the tests."""
    found, seen = {}, {}
    for entry in json.loads((tree / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        # Ninja runs the compiler in the build folder, make in the folder of the target.
        output = os.path.relpath(pathlib.Path(entry["directory"], words[words.index("-o") + 1]), tree)
        place = re.fullmatch(r"(.+)/CMakeFiles/([^/]+)\.dir/[^/]+", output)
        if not place or place[1].split("/")[0] == "tests":
            continue
        folder, target = place.groups()
        if not (tree / "rooms" / target).is_dir():
            continue  # an executable
        compiler = next(word for word in words if not word.endswith("ccache"))
        flags = [word for word in words[words.index(compiler) + 1:words.index("-o")]]
        if seen.setdefault(target, flags) != flags:
            raise SystemExit(f"{entry['file']}: compiled with other flags than the rest of {folder}")
        found[folder] = Room(folder, target, compiler, flags, tree)
    return found
