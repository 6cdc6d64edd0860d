#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Certificates for tests, made by the program `openssl` when they are needed.

certificates.py FOLDER writes to an existing folder: ca.pem, of an authority; server.pem and
server.key, of 127.0.0.1 and localhost; client.pem and client.key, of a client. They are valid for a
day.
"""

import pathlib
import subprocess
import sys

# In place of the configuration of the machine.
CONFIG = "[req]\ndistinguished_name = name\n[name]\n"
KEY = "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"
# Python 3.13 refuses an authority without the second.
AUTHORITY = "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"
LOCAL = "DNS:localhost,IP:127.0.0.1"


def openssl(*arguments):
    """Runs `openssl`, which must succeed. Returns its output."""
    done = subprocess.run(["openssl", *map(str, arguments)], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class Pair:
    """The files of a certificate and its private key."""

    def __init__(self, folder, name):
        self.certificate = pathlib.Path(folder, f"{name}.pem")
        self.key = pathlib.Path(folder, f"{name}.key")

    def both(self):
        return str(self.certificate), str(self.key)


class Authority(Pair):
    """A certificate authority. Its files have its name; existing ones are used, such as those of an
    intermediate authority, which another one has issued."""

    def __init__(self, folder, name="ca"):
        super().__init__(folder, name)
        self.folder = pathlib.Path(folder)
        self.config = self.folder / "openssl.cnf"
        self.config.write_text(CONFIG)
        if not self.certificate.exists():
            self.sign_itself(self, f"/O=Tandem tests/CN={name}", *AUTHORITY)

    def sign_itself(self, pair, subject, *extensions):
        added = [word for extension in extensions for word in ("-addext", extension)]
        openssl("req", "-x509", "-config", self.config, *KEY, "-keyout", pair.key, "-out",
                pair.certificate, "-subj", subject, "-days", 1, *added)

    def issue(self, name, alt_names="", subject=None, days=1, extensions=()):
        """Issues a certificate with files of that name. With 0 days it has expired."""
        pair = Pair(self.folder, name)
        request = self.folder / f"{name}.csr"
        added = [f"subjectAltName={alt_names}"] if alt_names else []
        openssl("req", "-new", "-config", self.config, *KEY, "-keyout", pair.key, "-out", request,
                "-subj", subject or f"/O=Tandem tests/CN={name}",
                *(word for extension in (*added, *extensions) for word in ("-addext", extension)))
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                "-out", pair.certificate, "-days", days, "-copy_extensions", "copy")
        request.unlink()
        return pair

    def issue_server(self, name="server", alt_names=LOCAL):
        return self.issue(name, alt_names)

    def self_signed(self, name):
        """A certificate that is signed with its own key."""
        pair = Pair(self.folder, name)
        self.sign_itself(pair, f"/O=Tandem tests/CN={name}")
        return pair


def main():
    authority = Authority(sys.argv[1])
    authority.issue_server()
    authority.issue("client", "email:client@localhost")


if __name__ == "__main__":
    main()
