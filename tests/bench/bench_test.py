#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: bench_test.py --load PROGRAM --floor PROGRAM

That the floor answers each load that is measured beside it, and what is said of threads and of
goals."""

import argparse
import contextlib
import io
import os
import pathlib
import re
import select
import socket
import ssl
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True

import cases
import chart
import cluster
import encrypted
import floor
import goals
import rows
import servers
import shards
import shards_watch
import started
import takeover
import threads
import turns
from servers import Server, run_load

OPTIONS = argparse.Namespace(drain=100)
JOBS = ["--jobs", "2000", "--warmup", "0"]


def of(rate, busy=1.0):
    """One round of a server."""
    return [{"rate": rate, "server_cpu_us": 1e6 * busy / rate, "server_busy": busy, "p50_us": 1,
             "p99_us": 1, "p999_us": 1, "load_busy": 1, "resident": 1}]


class FloorTest(unittest.TestCase):
    def test_floor_answers_each_load_to_its_end(self):
        for case in cases.speed_cases(OPTIONS) + cases.gearman_cases(OPTIONS):
            if not case.floor:
                continue
            with self.subTest(case.title), Server(case.floor, floor.NAME, OPTIONS) as server:
                result = run_load(OPTIONS, server, case.load_for(floor.NAME) + JOBS)
                self.assertGreaterEqual(result["jobs"], 2000)
                self.assertEqual(result["errors"], 0)

    def test_time_of_each_thread_is_told_by_its_name(self):
        with Server(floor.BEANSTALK_PUT, floor.NAME, OPTIONS) as server:
            result = run_load(OPTIONS, server, ["put", "--size", str(floor.BODY), *JOBS])
        (name, used), = result["threads"]
        self.assertEqual(name, "tandem_floor")
        self.assertAlmostEqual(used, result["server_cpu_us"], places=2)

    def test_time_before_the_measurement_is_not_counted(self):
        with Server(floor.BEANSTALK_PUT, floor.NAME, OPTIONS) as server:
            put = ["put", "--size", str(floor.BODY), "--warmup", "0", "--jobs"]
            run_load(OPTIONS, server, [*put, "20000"])
            result = run_load(OPTIONS, server, [*put, "10"])
            (_, whole), = server.threads().values()
        self.assertLess(result["server_cpu_us"] * result["jobs"], 1e6 * whole / 2)

    def said_by(self, told_floor):
        """The output of the floor until it is stopped behind a load that cycles."""
        with Server(told_floor, floor.NAME, OPTIONS) as server:
            run_load(OPTIONS, server, ["cycle", "--size", str(floor.BODY), *JOBS])
            server.process.terminate()
            server.process.wait(servers.STOP_SECONDS)
            return server.log_text()

    def test_floor_tells_its_slow_turns_if_it_is_asked_to(self):
        # A turn with work to do takes more than nothing, and less than a minute.
        for slow_turn, least, most in ((0, 2000, 1e9), (60000, 0, 0)):
            said = self.said_by(floor.BEANSTALK_CYCLE.that_tells(slow_turn))
            told = said.splitlines()
            self.assertTrue(all(re.fullmatch(r"slow_turn us=\d+", line) for line in told), said)
            self.assertTrue(least <= len(told) <= most, len(told))
        self.assertEqual(self.said_by(floor.BEANSTALK_CYCLE), "")


class CountingServer:
    """Speaks enough of beanstalk's protocol to be put to, and notes what each connection said."""

    def __init__(self, wrap=lambda conn: conn):
        self.wrap = wrap  # makes a connection of an accepted socket
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.said = []
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            conn, (peer, _) = self.listening.accept()
            with self.wrap(conn) as conn, conn.makefile("rb") as lines:
                said = [peer]
                for line in lines:
                    said.append(line.split(b" ")[0].strip().decode())
                    if said[-1] == "put":
                        lines.readline()
                        conn.sendall(b"INSERTED %d\r\n" % (len(self.said) + 1))
            if len(said) == 1:
                return
            self.said.append(said)

    def stop(self):
        socket.create_connection(("127.0.0.1", self.port)).close()
        self.thread.join()
        self.listening.close()


class LoadTest(unittest.TestCase):
    def test_each_job_of_short_connections_has_one_of_its_own(self):
        server = CountingServer()
        subprocess.run([OPTIONS.load, "short", "--port", str(server.port), "--jobs", "10"],
                       check=True, stdout=subprocess.DEVNULL, timeout=20)
        server.stop()
        # The last one ends with the run.
        self.assertEqual([said[1:] for said in server.said], 9 * [["put", "quit"]] + [["put"]])
        self.assertEqual(len({said[0] for said in server.said}), 10)


    def resumed(self, *flags):
        """Of each of ten connections over TLS, whether it resumed a session."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*started.certificate())
        accepted = []

        def wrap(conn):
            if len(accepted) < 10:
                conn = context.wrap_socket(conn, server_side=True)
                accepted.append(conn.session_reused)
            return conn
        server = CountingServer(wrap)
        load = subprocess.run([OPTIONS.load, "short", "--tls", *flags, "--port", str(server.port),
                               "--jobs", "10"], check=True, stdout=subprocess.PIPE, text=True,
                              timeout=20)
        server.stop()
        self.assertEqual([said[1] for said in server.said], 10 * ["put"])
        return accepted, servers.parse_line(load.stdout)

    def test_connections_over_tls_begin_a_session_each(self):
        resumed, said = self.resumed()
        self.assertEqual(resumed, 10 * [False])
        self.assertEqual((said["tls_handshakes"], said["tls_resumed"]), (9, 0))

    def test_connections_with_tickets_resume_the_session_of_the_first(self):
        resumed, said = self.resumed("--tickets")
        self.assertEqual(resumed, [False] + 9 * [True])
        self.assertEqual((said["tls_handshakes"], said["tls_resumed"]), (9, 8))

    def second_of_two(self, listening):
        """The first bytes of the second of two connections; the first one would have begun
        before."""
        silent, half = listening.accept()[0], listening.accept()[0]
        with silent, half:
            half.settimeout(20)
            said = half.recv(1)
            silent.setblocking(False)
            self.assertRaises(BlockingIOError, silent.recv, 1)
            return said

    def any_of_two(self, listening):
        one, other = listening.accept()[0], listening.accept()[0]
        with one, other:
            talking, _, _ = select.select([one, other], [], [], 20)
            return talking[0].recv(1)

    def test_stalled_connections_begin_tls_or_are_silent_and_come_again(self):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            with subprocess.Popen([OPTIONS.load, "stall", "--tls", "--conns", "2", "--port",
                                   str(listening.getsockname()[1])],
                                  stdout=subprocess.PIPE) as load:
                try:
                    said = [self.second_of_two(listening), self.any_of_two(listening)]
                finally:
                    load.terminate()
                self.assertEqual(load.stdout.readline(), b"ready conns=2\n")
        self.assertEqual(said, 2 * [b"\x16"])  # a record of the handshake

    def test_result_can_have_a_size_of_its_own(self):
        result = (floor.JOB * 20)[:16] + bytes(ord("a") + at % 26 for at in range(16, 150))
        complete = floor.HEADER + len(floor.HANDLE) + 1 + len(result)
        answers = floor.Floor(
            "gearman",
            floor.side(floor.step(floor.CAN_DO + floor.GRAB, flags="ow"),
                       floor.step(complete + floor.GRAB, flags="nw"), notice=floor.ASSIGN)
            + floor.side(floor.step(floor.SUBMIT, floor.CREATED, "nw"),
                         notice=floor.packet(13, floor.HANDLE, result)))
        with Server(answers, floor.NAME, OPTIONS) as server:
            load = run_load(OPTIONS, server, ["trips", "--size", str(floor.BODY), "--result-size",
                                              "150", *JOBS])
        self.assertGreaterEqual(load["jobs"], 2000)


class TurnsTest(unittest.TestCase):
    def test_slow_turns_are_counted_above_each_limit(self):
        found = turns.count([1.2, 2.5, 7.25])
        self.assertEqual(found[turns.LONGEST], 7.25)
        self.assertEqual([found[f"turns above {limit} ms"] for limit in turns.LIMITS],
                         [3, 2, 1, 1, 0])
        self.assertEqual(turns.count([])[turns.LONGEST], turns.SLOW)

    def test_table_stays_empty_where_the_floor_has_no_number(self):
        found = {turns.LONGEST: {"tandemd": 2.5, "floor": 1.25}, "HTTP, jobs/s": {"tandemd": 7}}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            turns.print_turns(argparse.Namespace(turn_jobs=1, turn_seconds=1), found)
        lines = [line.split() for line in printed.getvalue().splitlines()]
        self.assertIn([*turns.LONGEST.split(), "2.50", "1.25"], lines)
        self.assertIn(["HTTP,", "jobs/s", "7.00"], lines)


class GoalsTest(unittest.TestCase):
    def goal(self, kept, title, what):
        return next(line for line in goals.lines(kept)
                    if line.startswith(title) and f" {what} " in line)

    def test_missed_goal_beside_a_peer_shows_what_the_floor_reaches(self):
        kept = {"speed": {cases.PAIRS: {"tandemd": of(120), "beanstalkd": of(100),
                                        "floor": of(130)}}}
        line = self.goal(kept, cases.PAIRS, "x beanstalkd")
        self.assertIn("1.20  missed; the floor reaches 1.30", line)

    def test_goal_that_is_met_says_nothing_of_the_floor(self):
        kept = {"speed": {cases.PAIRS: {"tandemd": of(200), "beanstalkd": of(100),
                                        "floor": of(210)}}}
        self.assertTrue(self.goal(kept, cases.PAIRS, "x beanstalkd").endswith("2.00  met"))

    def test_share_of_the_floor_says_nothing_more_of_it(self):
        kept = {"speed": {cases.PUT_1: {"tandemd": of(50), "floor": of(100)}}}
        self.assertTrue(self.goal(kept, cases.PUT_1, "of the floor").endswith("0.50  missed"))

    def test_turn_that_is_too_long_shows_how_long_those_of_the_floor_are(self):
        for longest in (1, 8.25):
            kept = {"turns": {turns.LONGEST: {"tandemd": 9.5, "floor": longest}}}
            line = self.goal(kept, "the longest turn", "ms of CPU time")
            self.assertIn(f"9.50  missed; the floor reaches {longest:.2f}", line)

    def test_idle_server_is_compared_by_its_cpu_time(self):
        kept = {"speed": {cases.PUT_16: {"tandemd": of(100, busy=0.5), "beanstalkd": of(100)}}}
        line = self.goal(kept, cases.PUT_16, "x beanstalkd")
        self.assertIn("2.00  missed, by CPU time per job", line)

    def test_durable_puts_are_bounded_by_the_disk_or_by_memory(self):
        def share(syncs, in_memory):
            kept = {"durable": {"sync always, 10 conns": {"tandemd": of(90),
                                                          "in memory": of(in_memory)},
                                "syncs, 10 records each": {"disk": [{"rate": syncs}]}}}
            return self.goal(kept, "sync always, 10 conns", "of disk or memory").split()[-2:]

        self.assertEqual(share(syncs=10, in_memory=1000), ["0.90", "met"])
        self.assertEqual(share(syncs=1000, in_memory=180), ["0.50", "missed"])


class ThreadsTest(unittest.TestCase):
    TITLE = threads.LOADS[threads.TRIPS].title

    def used(self, *each, p50=1):
        """One round of a server whose threads use so much."""
        return [{**of(1e6 / sum(each))[0], "threads": [["x", used] for used in each],
                 "busiest_us": max(each), "core_us": each[0], "p50_us": p50}]

    def lines(self, title, **by_server):
        kept = {title: {name.replace("_", "-"): rounds for name, rounds in by_server.items()}}
        return [line.removeprefix(f"{title:46}") for line in goals.lines({"threads": kept})]

    def said(self, lines, what):
        line, = [line for line in lines if line.startswith(what + " ")]
        return line.split()[-2:]

    def test_threads_are_compared_with_what_one_needs(self):
        lines = self.lines(self.TITLE, tandemd=self.used(10),
                           tandemd_io2=self.used(4, 6, 5), gearmand_t2=self.used(0, 16, 2))
        self.assertEqual(self.said(lines, "busiest, of one thread"), ["0.60", "met"])
        self.assertEqual(self.said(lines, "core's, of one thread"), ["0.40", "missed"])
        self.assertEqual(self.said(lines, "all, of one thread"), ["1.50", "missed"])
        self.assertEqual(self.said(lines, "busiest, of gearmand -t 2"), ["0.38", "met"])
        self.assertEqual(len(lines), 4)

    def test_as_many_threads_are_compared_with_those_of_gearmand(self):
        lines = self.lines(self.TITLE, tandemd=self.used(10), tandemd_io4=self.used(1, 2, 3, 2),
                           gearmand_t4=self.used(0, 5, 4))
        self.assertEqual(self.said(lines, "of 4, of gearmand -t 4"), ["0.60", "missed"])
        self.assertEqual(len(lines), 1)

    def test_first_thread_is_the_cores(self):
        result = threads.with_busiest({"threads": [["x", 2.0], ["y", 5.0], ["z", 3.0]]})
        self.assertEqual((result["core_us"], result["busiest_us"]), (2, 5))

    def test_lone_client_is_compared_by_its_latency(self):
        lines = self.lines(threads.LOADS["put-1"].title, tandemd=self.used(10, p50=20),
                           tandemd_io2=self.used(99, p50=22))
        self.assertEqual(self.said(lines, "p50, of one thread's"), ["1.10", "missed"])
        self.assertEqual(len(lines), 1)

    def test_one_thread_is_compared_with_that_of_an_earlier_build(self):
        lines = self.lines(self.TITLE, tandemd=self.used(10), tandemd_before=self.used(8))
        self.assertEqual(self.said(lines, "one thread, of before"), ["1.25", "missed"])

    def test_table_shows_each_thread_that_does_something(self):
        results = {self.TITLE: {"tandemd": self.used(10), "tandemd-io2": self.used(4, 0.001, 5)}}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            threads.print_threads(results)
        shares, = [line.split() for line in printed.getvalue().splitlines() if "of tandemd" in line]
        self.assertEqual(shares[2:5], ["0.50", "0.40", "0.90"])
        self.assertIn("x:4.00 x:5.00\n", printed.getvalue())


class TlsTest(unittest.TestCase):
    def test_sessions_are_resumed_by_tickets_and_never_without(self):
        for name, made, resumed, right in (
                (encrypted.TLS, 1000, 0, True), (encrypted.TLS, 1000, 1, False),
                (encrypted.TICKETS, 1000, 950, True), (encrypted.TICKETS, 1000, 800, False)):
            said = {"tls_handshakes": made, "tls_resumed": resumed}
            with self.subTest(name, resumed=resumed):
                if right:
                    encrypted.check_resumed(name, said)
                else:
                    self.assertRaises(servers.Failure, encrypted.check_resumed, name, said)

    def test_tls_is_compared_with_plain_text_and_with_stunnel(self):
        def used(cpu):
            return of(1e6 / cpu)
        kept = {"tls": {encrypted.PUT: {"tandemd": used(1), "tandemd-tls": used(1.5),
                                        "stunnel": used(6)},
                        encrypted.RESULTS: {"tandemd": used(1), "tandemd-tls": used(2.6)}}}
        said = [line.split()[-2:] for line in goals.lines(kept)]
        self.assertEqual(said, [["1.50", "met"], ["2.60", "missed"], ["4.00", "met"]])


def of_cluster(rows_50=20000, kill=5.0):
    """The results of a part, with round figures."""
    results = {cluster.puts_title(count): {cluster.ROWS: of(rate), cluster.FILES: of(2 * rate)}
               for count, rate in zip(cluster.CONNECTIONS, (1000, rows_50, 50000))}
    for clients in cluster.CLIENTS:
        name = cluster.insert_name(clients)
        results[name] = {name: [{"rate": 1000.0 * clients, "mean_us": 1000}]}
    results[cluster.SYNCS] = {"disk": [{"rate": 5000}]}
    results[cluster.REPLAY] = {cluster.ROWS: [1.5, 2.0, 9.0], cluster.FILES: [1.0]}
    results[cluster.CATCH_UP] = {cluster.ROWS: [1.5]}
    for way in takeover.WAYS:
        results[takeover.title(way)] = {cluster.ROWS: [0.1, kill, 0.2]}
    return results


class ClusterTest(unittest.TestCase):
    def reached(self, results):
        return {(line[:46].strip(), line[46:72].strip()): line.split()[-1]
                for line in goals.lines({"cluster": results})}

    def test_puts_are_compared_with_inserts_and_with_files(self):
        self.assertEqual(set(self.reached(of_cluster(kill=0.5)).values()), {"met"})
        missed = self.reached(of_cluster(rows_50=19000, kill=6.1))
        self.assertEqual(
            {what for what, word in missed.items() if word == "missed"},
            {(cluster.puts_title(50), "x one INSERT for each"),
             *((takeover.title(way), "seconds at worst") for way in takeover.WAYS)})

    def test_table_shows_all_that_was_measured(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            cluster.print_cluster(argparse.Namespace(replay_jobs=1000), of_cluster())
        self.assertRegex(out.getvalue(), r"put, 50 conns, committed +in PostgreSQL +20000 .* 20\.0\n")
        self.assertRegex(out.getvalue(), r"INSERT, 50 +INSERT, 50 +50000 .* 50\.0\n")
        self.assertRegex(out.getvalue(), r"a kill -9 +3 +0\.10 +0\.20 +5\.00 +5\.00\n")

    def test_shards_reckon_with_what_was_measured(self):
        results = of_cluster()
        for count, batch in zip(cluster.CONNECTIONS, (1, 50, 100)):
            # 100 microseconds for a commit, and two for each job.
            results[cluster.puts_title(count)][cluster.ROWS][0].update(
                {cluster.BATCH: batch, cluster.DATABASE: 100 / batch + 2})
        figures = cluster.figures_for_shards(results)
        self.assertEqual(figures.keys(), shards.FIGURES.keys())
        self.assertAlmostEqual(figures["commit_us"], 100)
        self.assertAlmostEqual(figures["row_us"], 2)


class ShardsTest(unittest.TestCase):
    def test_page_shows_what_is_reckoned(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            shards.report(shards.FIGURES)
        page = pathlib.Path(__file__).parents[2] / "docs/SHARDS.md"
        self.assertIn(f"```text\n{out.getvalue()}```\n", page.read_text(encoding="utf-8"))

    def test_more_shards_reach_more_until_the_database_is_busy(self):
        costs = shards.costs_of(shards.FIGURES)
        one, two, sixteen = [shards.simulate(costs, count, 2) for count in (1, 2, 16)]
        self.assertAlmostEqual(two / one, 2, delta=0.2)
        # Two cores do nothing but commits then.
        self.assertLess(two, sixteen)
        self.assertLess(sixteen, 2 / costs.row)

    def test_exact_order_is_paid_for_with_offers_that_are_given_back(self):
        exact, in_turn = [shards_watch.Watch(way, 4, 1.1).run() for way in ("exact", "in turn")]
        self.assertLess(exact.overtaken, in_turn.overtaken)
        self.assertGreater(exact.returned, in_turn.returned)

    def test_no_job_is_lost_or_begun_twice(self):
        for way in shards_watch.WAYS:
            begun = []
            watch = shards_watch.Watch(way, 4, 0.8)
            watch.begin = lambda worker, shard, job, begin=watch.begin: (
                begun.append(job[0][1]), begin(worker, shard, job))
            watch.run()
            self.assertEqual(len(begun), len(set(begun)), way)
            late = [number for number in range(max(begun)) if number not in set(begun)]
            self.assertLess(len(late), shards_watch.WORKERS, way)


class ChartTest(unittest.TestCase):
    def test_each_server_has_a_bar_and_the_floor_a_line(self):
        kept = {"speed": {cases.PUT_1: {"tandemd": of(50), "beanstalkd": of(25),
                                        "floor": of(100)}}}
        drawn = chart.draw([{key: str(value) for key, value in row.items()}
                            for row in rows.rows_of(kept)])
        half = chart.BARS_WIDTH // 2
        self.assertIn(f'width="{half}" height="{chart.BAR}" class="tandemd"', drawn)
        self.assertIn(f'width="{half // 2}" height="{chart.BAR}" class="beanstalkd"', drawn)
        self.assertIn(f'x="{chart.BARS_AT + chart.BARS_WIDTH - 1}"', drawn)
        self.assertIn("floor 100", drawn)

    def test_nothing_is_drawn_where_nothing_was_measured(self):
        self.assertIsNone(chart.draw([]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--load", required=True)
    parser.add_argument("--floor", required=True)
    parser.parse_args(namespace=OPTIONS)
    # A floor that answers too little makes the load wait for ever.
    servers.LOAD_SECONDS = 20
    # The same core may serve both: nothing is measured here.
    available = sorted(os.sched_getaffinity(0))
    OPTIONS.cores = [available[0], available[-1]]
    unittest.main(argv=sys.argv[:1], verbosity=2)
