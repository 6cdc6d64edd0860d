# SPDX-License-Identifier: MIT
"""An endpoint that records its requests, and answers as a test tells it to."""

import base64
import hashlib
import hmac
import http.server
import queue
import ssl
import threading

SECONDS = 60  # only what hangs takes so long


class Request:
    """A request, and how often it came before: the argument of `answer` of an endpoint."""

    def __init__(self, handler, body):
        self.handler, self.headers, self.body, self.path = (
            handler, handler.headers, body, handler.path)

    def is_signed_by(self, secret):
        """By the reference algorithm of Standard Webhooks."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = b".".join([self.headers["webhook-id"].encode(),
                            self.headers["webhook-timestamp"].encode(), self.body])
        wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return f"v1,{wanted}" in self.headers["webhook-signature"].split(" ")

    def reply(self, status, body=b"", **fields):
        self.handler.send_response(status)
        for name, value in fields.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("Content-Length", str(len(body)))
        self.handler.end_headers()
        self.handler.wfile.write(body)

    def write(self, text):
        """Sends bytes that need not be HTTP, and closes the connection."""
        self.handler.wfile.write(text)
        self.handler.close_connection = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = Request(self, body)
        try:
            self.server.endpoint.answer(request)
            self.wfile.flush()
        except OSError:
            self.close_connection = True
        self.server.endpoint.requests.put(request)

    def log_message(self, format, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 100

    def handle_error(self, request, client_address):
        pass  # the broker may break a connection


class Endpoint:
    """`answer` takes a Request. With `certificate`, files of a certificate and its key, by TLS."""

    def __init__(self, answer=lambda request: request.reply(200, b"done"), certificate=None):
        self.answer = answer
        self.requests = queue.Queue()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.endpoint = self
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def url(self, host="127.0.0.1", path="/hook"):
        return f"{self.scheme}://{host}:{self.server.server_address[1]}{path}"

    def next(self):
        """The next request that was answered."""
        return self.requests.get(timeout=SECONDS)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
