# SPDX-License-Identifier: MIT
"""How tandemctl reaches a broker, and its messages when it cannot."""

import itertools
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import certificates
import fake_api
import ports
import program
import samples


class Addresses(program.WithApi):
    def test_an_address_comes_from_an_option_or_the_environment(self):
        port = self.api.address.rsplit(":", 1)[1]
        for address in (self.api.address, f"127.0.0.1:{port}", f"http://localhost:{port}/"):
            with self.subTest(address=address):
                self.assertEqual(program.run("status", "--address", address).returncode, 0)
        # The option has precedence over the environment, before and after the command.
        self.assertEqual(program.run("-a", self.api.address, "status",
                                     address="http://127.0.0.1:1").returncode, 0)

    def test_a_unix_socket_is_an_address(self):
        with tempfile.TemporaryDirectory() as folder:
            api = fake_api.FakeApi(unix=f"{folder}/admin.sock")
            self.addCleanup(api.close)
            done = program.run("queues", "--address", api.address)
            self.assertEqual(done.returncode, 0, done)
            self.assertIn(b"mail", done.stdout)
            self.assertEqual((api.faults, api.requests[0].headers["Host"]), ([], "localhost"))

    def test_health_tells_a_silent_server_from_one_that_is_no_broker(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        done = program.run("health", "--timeout", "100ms", address=address)
        self.assertEqual((done.returncode, done.stdout), (program.UNREACHABLE, b""))
        self.assertIn(b"no answer", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            done = program.run("health", address=f"unix:{folder}/admin.sock")
            self.assertEqual(done.returncode, program.UNREACHABLE)
            api = fake_api.FakeApi(unix=f"{folder}/admin.sock")
            self.addCleanup(api.close)
            api.overrides["GET", "/healthz"] = (200, b"ok\n")
            self.assertEqual(program.run("health", address=api.address).returncode, program.DONE)
            api.overrides["GET", "/healthz"] = (404, b"")
            done = program.run("health", address=api.address)
            self.assertEqual(done.returncode, program.FAILED)
            self.assertIn(b"status 404", done.stderr)

    def test_what_is_no_address_is_said_so(self):
        for address in ("ftp://a", "http://", "unix:relative", "http://a b", "http://x:99999",
                        "http://user@host", "http://h/path"):
            with self.subTest(address=address):
                done = program.run("status", "--address", address)
                self.assertEqual(done.returncode, program.USAGE)
                self.assertIn(b"is not an address", done.stderr)

    def test_no_proxy_of_the_environment_is_asked(self):
        done = self.run_ctl("status", env={"http_proxy": "http://127.0.0.1:1",
                                           "ALL_PROXY": "http://127.0.0.1:1"})
        self.assertEqual(done.returncode, 0)


class Exports(program.WithApi):
    def export(self, pieces):
        def send(handler):
            handler.send_response(200)
            handler.end_headers()
            handler.close_connection = True
            for piece in pieces:
                handler.wfile.write(piece)
        self.api.overrides["GET", "/api/v1/export"] = 200, send
        return program.run("export", "-", "--address", self.api.address)

    def test_a_line_that_can_be_none_is_refused_before_it_ends(self):
        for begins in (b"x", b'{"next":"', b'{"ide":'):
            done = self.export(itertools.chain([begins], itertools.repeat(b"x" * 65536)))
            self.assertEqual((done.returncode, done.stdout), (program.FAILED, b""))
            self.assertIn(b"longer than any job", done.stderr)
        line = b'{"id":1,"body":"%s"}\n' % (b"x" * 1000000)
        done = self.export([line[:3], line[3:], b'{"next":null}\n'])
        self.assertEqual((done.returncode, done.stdout), (0, line), done.stderr)


class Tokens(program.WithApi):
    def token(self):
        return self.api.requests[-1].headers.get("Authorization")

    def test_a_token_comes_from_a_file_or_the_environment(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("from-file\nnothing\n")
            file.flush()
            self.good("journal", env={"TANDEM_TOKEN": "from-env"})
            self.assertEqual(self.token(), "Bearer from-env")
            self.good("journal", "--token-file", file.name, env={"TANDEM_TOKEN": "from-env"})
            self.assertEqual(self.token(), "Bearer from-file")
        self.good("journal")
        self.assertIsNone(self.token())

    def test_a_token_cannot_add_headers(self):
        self.assertIn("invalid characters", self.bad(program.USAGE, "journal",
                                              env={"TANDEM_TOKEN": "a\r\nX: b"}))

    def test_a_token_that_cannot_be_read_is_said_so(self):
        self.assertIn("No such file", self.bad(program.USAGE, "journal", "--token-file", "/none"))
        self.assertIn("has no token", self.bad(program.USAGE, "journal", "--token-file",
                                              os.devnull))
        self.assertEqual(self.api.requests, [])


class Refusals(program.WithApi):
    def refuse(self, status):
        self.api.overrides["GET", "/api/v1/queues"] = (status, {"error": "because"})

    def test_each_kind_of_refusal_has_its_exit_code(self):
        for status, code in ((400, program.FAILED), (401, program.FORBIDDEN),
                             (403, program.FORBIDDEN), (503, program.NOT_NOW)):
            with self.subTest(status=status):
                self.refuse(status)
                self.assertIn("because", self.bad(code, "queues"))
        self.api.overrides["POST", "/api/v1/jobs/1/kick"] = (409, {"error": "it is held"})
        self.assertIn("it is held", self.bad(program.FAILED, "kick", "1"))
        self.assertIn("no job 99", self.bad(program.NOT_FOUND, "show", "99"))

    def test_a_refusal_says_what_to_do(self):
        self.refuse(401)
        self.assertIn("TANDEM_TOKEN", self.bad(program.FORBIDDEN, "queues"))
        self.refuse(403)
        self.assertIn("server.access_file", self.bad(program.FORBIDDEN, "queues"))

    def test_a_broker_that_starts_is_said_to_start(self):
        self.api.overrides["GET", "/api/v1/queues"] = (503, b"starting\n")
        self.assertIn("still reading its journal", self.bad(program.NOT_NOW, "queues"))

    def test_an_answer_that_is_no_json_is_a_failure(self):
        self.api.overrides["GET", "/api/v1/queues"] = (200, b"<html>")
        self.assertIn("is not JSON", self.bad(program.FAILED, "queues"))
        self.api.overrides["GET", "/api/v1/queues"] = (302, b"elsewhere")
        self.assertIn("HTTP status 302", self.bad(program.FAILED, "queues"))

    def test_a_later_page_that_is_refused_is_a_failure(self):
        self.api.queues = [samples.queue(f"q{number}") for number in range(1500)]
        reply = self.api.get_queues

        def refuse_second(request):
            return (400, {"error": "the cursor is old"}) if "cursor" in request.query \
                else reply(request)
        self.api.overrides["GET", "/api/v1/queues"] = refuse_second
        for options in ([], ["--json"]):
            self.assertIn("cursor is old", self.bad(program.FAILED, "queues", *options))

    def test_an_answer_without_an_end_is_bounded(self):
        def pour(handler):
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.end_headers()
            handler.close_connection = True
            try:
                while True:
                    handler.wfile.write(b" " * 65536)
            except OSError:
                pass
        self.api.overrides["GET", "/api/v1/journal"] = (999, pour)
        self.assertIn("larger than 64 MiB", self.bad(program.FAILED, "journal"))


class Unreachable(unittest.TestCase):
    def fails(self, *arguments, address):
        done = program.run(*arguments, address=address)
        self.assertEqual(done.returncode, program.UNREACHABLE, done)
        return done.stderr.decode()

    def listener(self, answer):
        """The address of a server that accepts one connection and sends these bytes."""
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)

        def serve():
            try:
                client, _ = server.accept()
            except OSError:
                return
            self.addCleanup(client.close)
            client.recv(65536)
            if answer:
                client.sendall(answer)
                client.close()
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    def test_without_an_answer_it_says_what_to_check(self):
        with ports.reserve() as silent:  # no process listens there
            self.assertRegex(
                self.fails("status", address=f"127.0.0.1:{ports.number(silent)}"),
                r"no broker answers at .* Is tandemd running.*--address")
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("no broker answers",
                          self.fails("status", address=f"unix:{folder}/none"))

    def test_an_answer_that_does_not_come_is_waited_for_so_long(self):
        self.assertIn("no answer from", self.fails("status", "--timeout", "50ms",
                                                   address=self.listener(None)))

    def test_a_timeout_of_less_than_a_millisecond_is_one(self):
        self.assertIn("no answer from", self.fails("status", "--timeout", "0.0001",
                                                   address=self.listener(None)))

    def test_another_protocol_is_said_to_be_none_of_ours(self):
        self.assertIn("does not speak HTTP",
                      self.fails("status", address=self.listener(b"UNKNOWN_COMMAND\r\n")))


class Usage(unittest.TestCase):
    def usage(self, *arguments):
        done = program.run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (program.USAGE, b""), done)
        return done.stderr.decode()

    def test_without_a_command_it_lists_them(self):
        self.assertIn("usage: tandemctl", self.usage())
        self.assertIn("  journal-check ", self.usage())

    def test_what_makes_no_sense_is_said_so(self):
        for arguments, words in (
                (["nonsense"], 'unknown command "nonsense"'), (["queues", "--nonsense"], "unknown option"),
                (["queues", "x"], "usage: tandemctl queues"), (["queue"], "queue QUEUE"),
                (["queues", "--limit"], "--limit needs a value: --limit N"),
                (["queues", "--limit", "ten"], '"ten" is not valid: give a number'),
                (["queues", "--json=1"], "--json takes no value"),
                (["queues", "--sort", "color"], "give one of name ready"),
                (["queues", "--with", "ready,+"],
                 '"ready,+" is not valid: give one or more of these, with commas: ready delayed '),
                (["kick", "--older-than", "1y"], "a time such as"),
                (["kick", "--larger-than", "x"], "a size such as"),
                (["kick", "--priority", "9-1"], "a number, or two"),
                (["kick", "--state", "ready,gone"], "ready"),
                (["queues", "--yes"], '--yes is not an option of "queues"')):
            with self.subTest(arguments=arguments):
                self.assertIn(words, self.usage(*arguments))

    def test_help_tells_of_each_command_and_its_options(self):
        names = [line.split()[0] for line in program.run("--help").stdout.decode().splitlines()
                 if line.startswith("  ") and not line.startswith("    ")]
        self.assertGreater(len(names), 25)
        for name in names:
            done = program.run(name, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stdout.startswith(f"usage: tandemctl {name}".encode()))
            self.assertIn(b"--address", done.stdout)
        self.assertIn(b"--dry-run", program.run("help", "kick").stdout)

    def test_it_says_its_version(self):
        self.assertRegex(program.run("--version").stdout, rb"^tandemctl \d+\.\d+\.\d+\n$")

    def test_who_has_read_enough_is_told_nothing(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([program.PROGRAM, "--help"], stdout=writer, check=False,
                              stderr=subprocess.PIPE)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (program.FAILED, b""))

    def test_an_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program.PROGRAM, "--help"], stdout=full, check=False,
                                          stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, program.FAILED)
        self.assertIn(b"cannot be written", done.stderr)


class ClosedOutput(program.WithApi):
    def test_a_connection_is_not_taken_for_a_closed_standard_output(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" queues >&-', program.PROGRAM],
                              capture_output=True, check=False,
                              env=program.environment(self.api.address))
        self.assertEqual(done.returncode, program.FAILED, done)
        self.assertIn(b"the output cannot be written", done.stderr)


class Certificates(unittest.TestCase):
    """An API behind TLS that requires a client certificate."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        authority = certificates.Authority(cls.folder)
        server, cls.client = authority.issue_server(), authority.issue("client")
        cls.cacert = str(authority.certificate)
        cls.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        cls.context.load_cert_chain(*server.both())
        cls.context.load_verify_locations(cls.cacert)
        cls.context.verify_mode = ssl.CERT_REQUIRED

    def setUp(self):
        self.api = fake_api.FakeApi(tls=self.context)
        self.addCleanup(self.api.close)

    def test_who_is_vouched_for_is_spoken_to_with_a_certificate(self):
        certificate, key = self.client.both()
        done = program.run("queues", "--cacert", self.cacert, "--cert", certificate, "--key", key,
                           address=self.api.address)
        self.assertEqual((done.returncode, self.api.faults), (0, []), done)
        self.assertIn(b"mail", done.stdout)

    def test_who_is_not_vouched_for_is_sent_nothing(self):
        done = program.run("queues", address=self.api.address, env={"TANDEM_TOKEN": "secret"})
        self.assertEqual(done.returncode, program.UNREACHABLE)
        self.assertRegex(done.stderr, b"is not trusted .*--cacert")
        self.assertEqual(self.api.requests, [])

    def test_a_certificate_that_cannot_be_used_is_said_so(self):
        done = program.run("queues", "--cacert", self.cacert, "--cert", "/none.pem",
                           address=self.api.address)
        self.assertEqual(done.returncode, program.USAGE)
        self.assertIn(b"certificate of --cert", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
