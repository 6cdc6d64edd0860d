#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each protocol over TLS, by Python's ssl: versions, large bodies, records of any size, ends."""

import http.client
import socket
import ssl
import threading

import bed
from bed import HOST, MIB, Records, TlsCase, loopback

TLS_1_2, TLS_1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
QUESTIONS = {
    "beanstalk": b"list-tube-used\r\n",
    "gearman": b"version\n",
    "http": b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n",
}
LARGE = bytes(range(256)) * (10 * MIB // 256)


class ProtocolsTest(TlsCase):
    def post(self, broker, path, body, **headers):
        host, port = broker.addresses["http"][0].rsplit(":", 1)
        connection = http.client.HTTPSConnection(host, int(port), context=self.context(),
                                                 timeout=bed.SECONDS)
        self.addCleanup(connection.close)
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def test_a_job_is_put_reserved_and_deleted_with_either_version(self):
        broker = self.start()
        for version, name in ((TLS_1_2, "TLSv1.2"), (TLS_1_3, "TLSv1.3")):
            client = self.beanstalk(broker, self.context(least=version, most=version))
            self.assertEqual(client.connection.version(), name)
            number = client.put(b"hello").split()[1]
            self.assertEqual(client.body(), b"hello")
            self.assertEqual(client.ask(b"delete " + number), b"DELETED")

    def test_a_job_of_one_protocol_is_done_by_a_worker_of_another(self):
        broker = self.start()
        self.worker(broker, "upper")
        self.assertEqual(self.gearman(broker).do("upper", b"packet"), b"PACKET")
        self.assertEqual(self.post(broker, "/upper", b"post"), (200, b"POST"))
        worker = self.beanstalk(broker)
        worker.ask(b"watch lines")
        self.assertEqual(self.post(broker, "/lines", b"later", **{"X-Gearman-Background": "1"}),
                         (200, b""))
        self.assertEqual(worker.body(), b"later")

    def test_addresses_in_plain_text_stand_beside_those_with_tls(self):
        broker = self.start(listen=["beanstalk.listen=127.0.0.1:0 tls:127.0.0.1:0",
                                    "gearman.listen=", "http.listen=", "admin.listen="])
        plain = bed.Beanstalk(self.connect_plain(broker, number=0))
        plain.put(b"hello")
        broker.addresses["beanstalk"].reverse()
        self.assertEqual(self.beanstalk(broker).body(), b"hello")

    def test_a_unix_socket_speaks_tls(self):
        path = self.folder / "socket"
        self.start(listen=[f"beanstalk.listen=tls:unix:{path}", "gearman.listen=", "http.listen=",
                           "admin.listen="])
        with socket.socket(socket.AF_UNIX) as plain:
            plain.settimeout(bed.SECONDS)
            plain.connect(str(path))
            client = Records(plain, self.context()).shake()
            client.send(b"put 0 0 60 1\r\nx\r\n")
            self.assertEqual(client.read(), b"INSERTED 1\r\n")


class BytesTest(TlsCase):
    def test_a_beanstalk_body_of_ten_megabytes_comes_back_whole(self):
        broker = self.start("beanstalk.max_job_size=16M")
        self.assertTrue(self.beanstalk(broker).put(LARGE).startswith(b"INSERTED "))
        self.assertEqual(self.beanstalk(broker).body(), LARGE)

    def test_a_workload_and_a_result_of_ten_megabytes_come_back_whole(self):
        broker = self.start()
        self.worker(broker, "reverse", lambda workload: workload[::-1])
        self.assertEqual(self.gearman(broker).do("reverse", LARGE), LARGE[::-1])

    def test_a_post_and_its_answer_of_ten_megabytes_come_back_whole(self):
        broker = self.start()
        self.worker(broker, "reverse", lambda workload: workload[::-1])
        host, port = broker.addresses["http"][0].rsplit(":", 1)
        connection = http.client.HTTPSConnection(host, int(port), context=self.context())
        self.addCleanup(connection.close)
        connection.request("POST", "/reverse", LARGE)
        self.assertEqual(connection.getresponse().read(), LARGE[::-1])

    def test_many_commands_at_once_are_answered_in_their_order(self):
        client = self.beanstalk(self.start())
        client.send(b"".join(b"put 0 0 60 5\r\n%05d\r\n" % i for i in range(10000)))
        self.assertEqual([client.line() for _ in range(10000)],
                         [b"INSERTED %d" % i for i in range(1, 10001)])
        client.send(b"reserve\r\n" * 10000)
        for i in range(10000):
            self.assertEqual([client.line(), client.line()],
                             [b"RESERVED %d 5" % (i + 1), b"%05d" % i])

    def test_each_byte_may_be_a_record(self):
        client = self.beanstalk(self.start())
        for byte in b"put 0 0 60 5\r\nhello\r\nreserve\r\n":
            client.send(bytes([byte]))
        self.assertEqual([client.line() for _ in range(3)],
                         [b"INSERTED 1", b"RESERVED 1 5", b"hello"])

    def test_the_bytes_of_a_record_may_come_one_by_one(self):
        client = Records(self.connect_plain(self.start()), self.context()).shake()
        client.tls.write(b"put 0 0 60 5\r\nhello\r\n")
        for byte in client.staged():
            client.connection.sendall(bytes([byte]))
        self.assertEqual(client.read(), b"INSERTED 1\r\n")

    def test_an_answer_that_is_not_read_waits_and_comes_whole(self):
        broker = self.start("beanstalk.max_job_size=1M", "server.write_timeout=0")
        client = self.beanstalk(broker)
        body = LARGE[:MIB]
        client.put(body)
        client.send(b"peek 1\r\n" * 50)
        # The broker has filled what the kernel takes, and serves others.
        self.assert_served(broker)
        for _ in range(50):
            self.assertEqual(client.line(), b"FOUND 1 %d" % MIB)
            self.assertEqual(client.stream.read(MIB + 2), body + b"\r\n")

    # Both sides write, and neither has read yet.
    def test_a_client_may_send_while_answers_wait_for_it(self):
        broker = self.start("server.write_timeout=0")
        client = self.connect(broker)
        client.setblocking(False)
        command, sent, received = b"put 0 0 60 60000\r\n" + b"x" * 60000 + b"\r\npeek 1\r\n", 0, 0
        count, data = 200, memoryview(command * 200)
        with self.assertRaises(ssl.SSLWantWriteError):
            while sent < len(data):
                sent += client.send(data[sent:sent + 65536])
        client.setblocking(True)
        client.settimeout(bed.SECONDS)
        wanted = sum(len(b"INSERTED %d\r\n" % i) for i in range(1, count + 1)) + count * (
            len(b"FOUND 1 60000\r\n") + 60002)
        client.setblocking(False)
        while received < wanted:
            bed.wait_either_way(client, sent < len(data))
            sent += bed.try_send(client, data[sent:sent + 65536])
            received += bed.try_receive(client)
        self.assertEqual((sent, received), (len(data), wanted))


class CrowdTest(TlsCase):
    def test_many_clients_at_once_get_each_what_is_theirs(self):
        broker = self.start()
        context = self.context()
        wrong = []

        def run(number):
            client = self.beanstalk(broker, context)
            client.ask(b"use mine-%d" % number)
            client.ask(b"watch mine-%d" % number)
            for i in range(40):
                body = b"%d:%d " % (number, i) * (1 + (number * 37 + i * 101) % 4000)
                job = client.put(body).split()[1]
                if (client.body(), client.ask(b"delete " + job)) != (body, b"DELETED"):
                    wrong.append((number, i))

        crowd = [threading.Thread(target=run, args=[number]) for number in range(20)]
        for one in crowd:
            one.start()
        for one in crowd:
            one.join()
        self.assertEqual(wrong, [])

    def test_events_of_a_stream_come_when_they_happen(self):
        broker = self.start()
        going = threading.Event()
        self.addCleanup(going.set)
        self.worker(broker, "upper", lambda workload: going.wait(bed.SECONDS) and b"done")
        client = self.connect(broker, "http").makefile("rwb")
        client.write(b"POST /upper HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                     b"Content-Length: 1\r\n\r\nx")
        client.flush()
        while client.readline() != b"event: created\n":
            pass
        going.set()
        while client.readline() != b"event: complete\n":
            pass

    def test_a_client_that_reads_nothing_is_dropped_when_its_time_is_over(self):
        broker = self.start("server.write_timeout=1", "beanstalk.max_job_size=1M")
        client = self.beanstalk(broker)
        client.put(LARGE[:MIB])
        client.send(b"peek 1\r\n" * 50)
        broker.expect(" warn not_reading ")
        self.assert_served(broker)


class EndTest(TlsCase):
    def test_who_says_no_more_still_gets_all_answers_and_then_the_end(self):
        client = Records(self.connect_plain(self.start()), self.context()).shake()
        client.tls.write(b"put 0 0 60 5\r\nhello\r\n" * 100)
        client.say_no_more()
        self.assertEqual(client.rest(), b"".join(b"INSERTED %d\r\n" % i for i in range(1, 101)))

    def test_a_reserve_of_who_says_no_more_does_not_wait(self):
        client = Records(self.connect_plain(self.start()), self.context()).shake()
        client.send(b"reserve\r\n")
        client.say_no_more()
        self.assertEqual(client.rest(), b"TIMED_OUT\r\n")

    # As in plain text: who waits for an answer keeps its direction open.
    def test_a_request_of_who_says_no_more_is_given_up_and_so_is_its_job(self):
        broker = self.start()
        client = Records(self.connect_plain(broker, "http"), self.context()).shake()
        client.send(b"POST /upper HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nfirst")
        client.say_no_more()
        self.assertEqual(client.rest(), b"")
        worked = []
        self.worker(broker, "upper", lambda workload: worked.append(workload) or b"")
        self.gearman(broker).do("upper", b"second")
        self.assertEqual(worked, [b"second"])

    def test_the_end_of_a_gearman_worker_gives_its_job_to_another(self):
        broker = self.start()
        client = self.gearman(broker)
        client.submit("upper", b"x")
        first = Records(self.connect_plain(broker, "gearman"), self.context()).shake()
        first.send(b"\0REQ\0\0\0\1\0\0\0\5upper" b"\0REQ\0\0\0\t\0\0\0\0")
        self.assertEqual(first.read()[:8], b"\0RES\0\0\0\x0b")
        first.say_no_more()
        self.assertEqual(first.rest(), b"")
        self.worker(broker, "upper")
        self.assertEqual(client.packet()[1].partition(b"\0")[2], b"X")

    def test_quit_ends_with_a_close_notify(self):
        client = Records(self.connect_plain(self.start()), self.context()).shake()
        client.send(b"list-tube-used\r\nquit\r\n")
        self.assertEqual(client.rest(), b"USING default\r\n")

    def test_an_answer_that_closes_ends_with_a_close_notify(self):
        client = Records(self.connect_plain(self.start(), "http"), self.context()).shake()
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        self.assertTrue(client.rest().startswith(b"HTTP/1.1 "))

    def test_the_end_of_the_broker_is_a_close_notify(self):
        broker = self.start()
        clients = []
        for protocol, question in QUESTIONS.items():
            client = Records(self.connect_plain(broker, protocol), self.context()).shake()
            client.send(question)
            self.assertTrue(client.read())
            clients.append(client)
        broker.process.terminate()
        self.assertEqual([client.rest() for client in clients], [b""] * 3)

    # An end without close_notify may be somebody else's doing: what came before it is complete or
    # is not carried out.
    def test_jobs_of_a_client_whose_connection_is_cut_are_ready_again(self):
        for cut in (lambda client: client.connection.shutdown(socket.SHUT_WR),
                    lambda client: client.connection.close()):
            broker = self.start()
            client = Records(self.connect_plain(broker), self.context()).shake()
            client.send(b"put 0 0 60 4\r\nwork\r\nreserve\r\nput 0 0 60 9\r\nhalf")
            self.assertIn(b"INSERTED ", client.read())
            cut(client)
            other = self.beanstalk(broker)
            self.assertEqual(other.body(b"reserve-with-timeout 60"), b"work")
            self.assertEqual(other.ask(b"reserve-with-timeout 0"), b"TIMED_OUT")


    def test_a_record_that_was_changed_ends_the_connection_and_does_nothing(self):
        broker = self.start()
        for version in (TLS_1_2, TLS_1_3):
            client = Records(self.connect_plain(broker),
                             self.context(least=version, most=version)).shake()
            client.tls.write(b"put 0 0 60 4\r\nwork\r\n")
            record = bytearray(client.staged())
            record[-1] ^= 1
            client.connection.sendall(record)
            with self.assertRaisesRegex(ssl.SSLError, "bad record mac"):
                client.read()
        self.assertEqual(self.beanstalk(broker).ask(b"reserve-with-timeout 0"), b"TIMED_OUT")

    def test_plain_text_in_between_ends_the_connection_and_does_nothing(self):
        broker = self.start()
        client = Records(self.connect_plain(broker), self.context()).shake()
        client.connection.sendall(b"put 0 0 60 4\r\nwork\r\n")
        with self.assertRaises(ssl.SSLError):
            client.read()
        self.assertEqual(self.beanstalk(broker).ask(b"reserve-with-timeout 0"), b"TIMED_OUT")


class ChoiceTest(TlsCase):
    """The protocol that both sides agree on."""

    def test_an_older_version_than_the_least_is_refused(self):
        broker = self.start("tls.min_version=1.3")
        with self.assertRaises(ssl.SSLError) as caught:
            self.connect(broker, context=self.context(most=TLS_1_2))
        self.assertIn("ALERT_PROTOCOL_VERSION", caught.exception.reason)
        broker.expect(bed.FAILED + ".*protocol=beanstalk")
        self.assert_served(broker)

    def test_tls_1_1_is_not_spoken(self):
        broker = self.start()
        context = self.context(least=ssl.TLSVersion.TLSv1, most=ssl.TLSVersion.TLSv1_1)
        context.set_ciphers("ALL:@SECLEVEL=0")
        with self.assertRaises(ssl.SSLError):
            self.connect(broker, context=context)
        self.assert_served(broker)

    def test_ciphers_of_tls_1_2_are_those_that_are_named(self):
        broker = self.start("tls.ciphers=ECDHE-ECDSA-AES256-GCM-SHA384")
        client = self.connect(broker, context=self.context(most=TLS_1_2))
        self.assertEqual(client.cipher()[0], "ECDHE-ECDSA-AES256-GCM-SHA384")
        context = self.context(most=TLS_1_2)
        context.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")
        with self.assertRaises(ssl.SSLError):
            self.connect(broker, context=context)

    def test_the_newest_http_that_is_offered_is_chosen_and_others_alone_are_refused(self):
        broker = self.start()
        for offered, chosen in ((["h2", "http/1.0", "http/1.1"], "http/1.1"),
                                (["http/1.0"], "http/1.0"), ([], None)):
            context = self.context()
            context.set_alpn_protocols(offered)
            client = self.connect(broker, "http", context)
            self.assertEqual(client.selected_alpn_protocol(), chosen)
            client.sendall(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
            self.assertEqual(client.recv(9), b"HTTP/1.1 ")
        context = self.context()
        context.set_alpn_protocols(["h2"])
        with self.assertRaises(ssl.SSLError) as caught:
            self.connect(broker, "http", context)
        self.assertIn("no application protocol", str(caught.exception))

    def test_other_protocols_do_not_mind_what_is_offered(self):
        broker = self.start()
        context = self.context()
        context.set_alpn_protocols(["h2"])
        self.assertEqual(self.beanstalk(broker, context).ask(b"list-tube-used"), b"USING default")

    def test_a_session_is_resumed_with_either_version(self):
        broker = self.start()
        for version in (TLS_1_2, TLS_1_3):
            context = self.context(least=version, most=version)
            first = bed.Beanstalk(self.connect(broker, context=context))
            self.assertFalse(first.connection.session_reused)
            first.ask(b"list-tube-used")  # a ticket of TLS 1.3 comes behind the handshake
            second = self.connect(broker, context=context, session=first.connection.session)
            self.assertTrue(second.session_reused)
            self.assertEqual(bed.Beanstalk(second).ask(b"list-tube-used"), b"USING default")

    def test_a_session_of_one_protocol_s_port_is_not_needed_at_another(self):
        broker = self.start()
        context = self.context()
        first = bed.Beanstalk(self.connect(broker, context=context))
        first.ask(b"list-tube-used")
        second = self.connect(broker, "http", context, first.connection.session)
        second.sendall(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual(second.recv(9), b"HTTP/1.1 ")


if __name__ == "__main__":
    bed.main()
