# SPDX-License-Identifier: MIT
"""Completion of tandemctl commands in shells."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import program
import samples

PATIENT = "--timeout=60s"  # by itself it asks for a second, which is short on a busy machine
COMPLETION = pathlib.Path(__file__).resolve().parents[2] / "ctl/completion"


class Words(program.WithApi):
    def offered(self, *words, code=0):
        done = self.run_ctl("complete", str(len(words) + 1), "tandemctl", PATIENT, *words)
        self.assertEqual((done.returncode, done.stderr), (code, b""))
        return done.stdout.decode().splitlines()

    def test_commands_come_first(self):
        self.assertEqual(self.offered("que"), ["queues", "queue"])
        self.assertGreater(len(self.offered("")), 25)
        self.assertEqual(self.offered("--address", "http://h:1", "sta"), ["status"])

    def test_options_are_those_of_the_command(self):
        self.assertEqual(self.offered("kick", "--old"), ["--older-than"])
        self.assertEqual(self.offered("status", "--old"), [])
        self.assertIn("--address", self.offered("status", "--"))

    def test_words_of_options_are_offered(self):
        self.assertEqual(self.offered("jobs", "mail", "--state", "b"), ["buried"])
        self.assertEqual(self.offered("queues", "--with=ready,bu"), ["--with=ready,buried"])
        self.assertEqual(self.offered("queues", "--sort", "-w"), ["-workers", "-waiting"])
        self.assertEqual(self.offered("drain", "o"), ["on", "off"])
        self.assertEqual(self.offered("log-commands", "o"), ["off"])
        self.assertEqual(self.offered("policy", "s"), ["show", "set"])
        self.assertEqual(self.offered("policy", "set", ""), [])

    def test_names_of_queues_are_the_broker_s(self):
        self.api.queues += [samples.queue("m*x"), samples.queue("m\nx"), samples.queue("mü")]
        self.assertEqual(self.offered("queue", "m"), ["m*x", "mail", "mü"])
        self.assertEqual(self.offered("kick", "--queue", "ma"), ["mail"])
        self.assertEqual(self.offered("kick", "--queue=th"), ["--queue=thumbs"])
        self.assertEqual(self.offered("move", "1", "--to", "i"), ["idle"])
        self.api.requests.clear()
        self.offered("queue", "m*")
        self.assertEqual(self.api.requests[0].query["name"], r"m\**")

    def test_the_broker_that_the_line_names_is_asked(self):
        done = program.run("complete", "5", "tandemctl", PATIENT, "--address", self.api.address,
                           "queue", "ma", address="http://127.0.0.1:1")
        self.assertEqual(done.stdout, b"mail\n")

    def test_where_files_are_meant_the_shell_is_told(self):
        self.assertEqual(self.offered("journal-check", "x", code=1), [])
        self.assertEqual(self.offered("status", "--cacert", "", code=1), [])

    def test_without_a_broker_nothing_is_said(self):
        done = program.run("complete", "2", "tandemctl", "queue", "", address="unix:/none")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_nonsense_is_answered_with_nothing(self):
        for words in (["complete"], ["complete", "x", "y"], ["complete", "9", "tandemctl"],
                      ["complete", "0", "tandemctl"]):
            self.assertEqual(program.run(*words).returncode, 0)


class Shells(program.WithApi):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.symlink(program.PROGRAM, f"{folder.name}/tandemctl")
        self.env = program.environment(self.api.address)
        self.env["PATH"] = f"{folder.name}:{self.env['PATH']}"
        self.api.queues += [samples.queue("two words"), samples.queue("a:b:c"),
                            samples.queue("$(exit)`x`;")]

    def bash(self, line):
        """The words that the completion function of bash offers for a line."""
        script = f"""
            source {COMPLETION}/tandemctl.bash
            compopt() {{ printf 'compopt %s\\n' "$*"; }}
            COMP_LINE=$1 COMP_POINT=${{#1}}
            COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
            $(complete -p tandemctl | sed 's/.*-F \\([^ ]*\\).*/\\1/')
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", line], env=self.env,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.stderr, "")
        return [word for word in done.stdout.splitlines() if word]

    def test_bash_offers_commands_states_and_queues(self):
        self.assertEqual(self.bash("tandemctl stat"), ["status"])
        self.assertEqual(self.bash("tandemctl jobs mail --state "),
                         ["ready", "delayed", "reserved", "buried"])
        self.assertEqual(self.bash(f"tandemctl {PATIENT} queue ma"), ["mail"])

    def test_bash_quotes_what_a_name_has_in_it(self):
        self.assertEqual(self.bash(f"tandemctl {PATIENT} queue tw"), [r"two\ words"])
        self.assertEqual(self.bash(rf"tandemctl {PATIENT} queue two\ w"), [r"two\ words"])
        self.assertEqual(self.bash(f"tandemctl {PATIENT} queue $"), [r"\$\(exit\)\`x\`\;"])

    def test_bash_completes_behind_colons_and_equal_signs(self):
        self.assertEqual(self.bash(f"tandemctl {PATIENT} queue a:b"), ["b:c"])
        self.assertEqual(self.bash(f"tandemctl {PATIENT} kick --queue=th"), ["thumbs"])
        self.assertEqual(self.bash(f"tandemctl {PATIENT} --address {self.api.address} queue ma"),
                         ["mail"])

    def test_bash_offers_files_where_they_are_meant(self):
        self.assertEqual(self.bash("tandemctl journal-check "), ["compopt -o default"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_offers_the_same(self):
        script = f"""
            compadd() {{ shift; print -l -- "$@"; }}
            _files() {{ print files; }}
            offer() {{ local -a words; words=("$@"); local CURRENT=$#words
                       source {COMPLETION}/_tandemctl; }}
            offer tandemctl {PATIENT} queue ma
            offer tandemctl jobs mail --state b
            offer tandemctl {PATIENT} queue two\\\\\\ w
            offer tandemctl journal-check ''
        """
        done = subprocess.run(["zsh", "-f", "-c", script], env=self.env, capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual((done.stderr, done.stdout.splitlines()),
                         ("", ["mail", "buried", "two words", "files"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
