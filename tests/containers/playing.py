# SPDX-License-Identifier: MIT
"""Runs what a manifest says of a container without an engine: its command with its arguments and
environment, paths of mounts and ports mapped to those of a test, and its probes. TANDEMD and
TANDEMCTL are the programs."""

import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 60  # only what hangs takes so long
ADMIN = 9180
# The ports of the image and their protocols.
PROTOCOLS = {11300: "beanstalk", 4730: "gearman", 8080: "http", ADMIN: "admin"}


def until(condition):
    """Waits for it and returns its value."""
    give_up_at = time.monotonic() + SECONDS
    while not (value := condition()):
        if time.monotonic() > give_up_at:
            raise TimeoutError(condition)
        time.sleep(0.02)
    return value


def http(url, data=None, **headers):
    """The status and the body. `Host` is a header like any other."""
    request = urllib.request.Request(url, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


class Container:
    """`paths` maps paths of the container to those of this machine. `words` are the arguments of
    the image's entry point, `variables` the environment."""

    def __init__(self, folder, paths, words, variables=None):
        self.folder, self.paths = pathlib.Path(folder), paths
        (self.folder / "bin").mkdir(exist_ok=True)
        for name in ("tandemd", "tandemctl"):
            link = self.folder / "bin" / name
            if not link.exists():
                link.symlink_to(pathlib.Path(os.environ[name.upper()]).resolve())
        config = self.folder / "container.conf"
        config.write_text(self.mapped((ROOT / "conf/container.conf").read_text()))
        self.words = ["tandemd", "--config", str(config), *map(self.mapped, words)]
        self.environment = {"PATH": f"{self.folder}/bin:/usr/bin:/bin",
                            **{key: self.mapped(value)
                               for key, value in (variables or {}).items()}}
        self.ports, self.log, self.process = {}, [], None
        self.changed = threading.Condition()

    def mapped(self, text):
        for path, here in self.paths.items():
            text = text.replace(path, str(here))
        # The system chooses ports.
        return re.sub(r"(\*|127\.0\.0\.1):\d+", "127.0.0.1:0", text)

    def run(self):
        """To its end, as an init container; its exit code."""
        return subprocess.run(self.words, env=self.environment, stdout=subprocess.DEVNULL,
                              timeout=SECONDS, check=False).returncode

    def start(self):
        """Returns when all ports are known and the admin port answers."""
        self.ports, self.log = {}, []
        self.process = subprocess.Popen(self.words, env=self.environment, stderr=subprocess.PIPE)
        self.reader = threading.Thread(target=self.read_log)
        self.reader.start()
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.ports) == len(PROTOCOLS), SECONDS), \
                self.log
        self.environment["TANDEM_ADDRESS"] = f"127.0.0.1:{self.ports['admin']}"
        return self

    def read_log(self):
        """Each line is JSON, but for those of sanitizers, which the exit code tells of."""
        for line in self.process.stderr:
            with self.changed:
                self.log.append(line)
                if line.startswith(b"{"):
                    said = json.loads(line)
                    if said["event"] == "listening":
                        self.ports[said["protocol"]] = int(said["address"].rpartition(":")[2])
                self.changed.notify_all()

    def url(self, protocol, path):
        return f"http://127.0.0.1:{self.ports[protocol]}{path}"

    def execute(self, command):
        """The exit code and the output of a command in the container."""
        done = subprocess.run(command, env=self.environment, capture_output=True, timeout=SECONDS,
                              check=False)
        return done.returncode, done.stdout + done.stderr

    def probe(self, probe, names):
        """Whether it succeeds. `names` are the container's ports by name."""
        if "exec" in probe:
            return self.execute(probe["exec"]["command"])[0] == 0
        port = PROTOCOLS[names[probe["httpGet"]["port"]]]
        status, _ = http(self.url(port, probe["httpGet"]["path"]), Host="10.1.2.3:9180")
        return status == 200

    def stop(self):
        """The exit code after SIGTERM, the signal of the image."""
        if not self.process:
            return 0
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(SECONDS)
        self.reader.join()
        self.process.stderr.close()
        self.process = None
        return code
