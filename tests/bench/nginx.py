# SPDX-License-Identifier: MIT
"""nginx with one worker, which answers whatever it is asked with a fixed body: what a server for
HTTP costs that has nothing else to do."""

import pathlib
import tempfile

NAME = "nginx"
BODY = '{"handle":"H:localhost:1000000"}'
PATHS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
# It is not told to hang up after a number of requests: ours does not, either.
CONFIGURATION = """
daemon off;
master_process off;
pid {directory}/pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    {paths}
    server {{
        listen 127.0.0.1:{port};
        listen 127.0.0.1:{http_port};
        location / {{ default_type application/json; return 202 '{body}'; }}
    }}
}}
"""


class Nginx:
    """A server as posts.py knows them; it has no jobs."""

    NAME, PORTS, books = "gearman", 2, None

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="nginx-")

    @property
    def COMMANDS(self):
        return {NAME: self.command}

    def command(self, options, port, http_port):
        directory = self.directory.name
        paths = " ".join(f"{path}_temp_path {directory}/{path};" for path in PATHS)
        file = pathlib.Path(directory, "nginx.conf")
        file.write_text(CONFIGURATION.format(directory=directory, paths=paths, port=port,
                                             http_port=http_port, body=BODY))
        return [options.nginx, "-e", "stderr", "-p", directory, "-c", str(file)]
