# SPDX-License-Identifier: MIT
"""Clients that do what is dear to the broker, without end: each is a function that runs in a process
of its own, with the ports of the protocols, how many stand for a million, and a function to call
each time it begins again."""

import itertools
import json
import select
import socket
import urllib.parse

from client import Client, is_ready
from gearman import Gearman, packet
from operators import Looker, Operator

CONNECTIONS = 256
PART = 256 * 1024
TOLD_AT_ONCE = 50
LISTS = 270  # 3 KB of them
LISTERS = 8
LOOKERS = 16
PAGES = 20
CHUNK = 1000
LINE = b"0123456789abcdefghijklmnopqrstuvwxyz \"quoted\" \n"


def tubes_of(jobs):
    return max(jobs // 200, 50)


def chunks(data, count):
    whole, rest = divmod(count, CHUNK)
    return itertools.chain(itertools.repeat(data * CHUNK, whole), [data * rest])


def exchange(sock, pieces, wanted):
    """Sends everything and reads meanwhile, until that number of bytes has arrived; returns the rest."""
    pieces = iter(pieces)
    piece = memoryview(next(pieces, b""))
    sock.setblocking(False)
    while wanted > 0:
        is_ready(sock, select.POLLIN | (select.POLLOUT if piece else 0), 60)
        try:
            while piece:
                piece = piece[sock.send(piece):] or memoryview(next(pieces, b""))
        except BlockingIOError:
            pass
        try:
            wanted -= len(sock.recv(1 << 20))
        except BlockingIOError:
            pass
    sock.setblocking(True)


def join(client, unique, count):
    """Submits one job that number of times; returns its handle."""
    submit = packet(Gearman.SUBMIT_JOB, b"crowd", unique, b"")
    client.sock.sendall(submit)
    handle = client.expect(Gearman.JOB_CREATED)
    exchange(client.sock, chunks(submit, count - 1), (count - 1) * (12 + len(handle)))
    return handle


def watches(ports, jobs, begin):
    """A million submissions join one job, which then completes with data."""
    client = Gearman(ports["gearman"])
    worker = Gearman(ports["gearman"])
    worker.send(Gearman.CAN_DO, b"crowd")
    for number in itertools.count():
        begin()
        handle = join(client, b"%d" % number, jobs)
        worker.send(Gearman.GRAB_JOB)
        worker.expect(Gearman.JOB_ASSIGN)
        worker.send(Gearman.WORK_COMPLETE, handle, LINE)
        exchange(client.sock, [], jobs * (12 + len(handle) + 1 + len(LINE)))


def cancels(ports, jobs, begin):
    """A job that a million watch is taken back."""
    client = Gearman(ports["gearman"])
    admin = Client(ports["gearman"])
    for number in itertools.count():
        begin()
        handle = join(client, b"%d" % number, jobs)
        if admin.ask(f"cancel job {handle.decode()}") != b"OK\r\n":
            raise AssertionError("not taken back")
        exchange(client.sock, [], jobs * (12 + len(handle)))


def watch_tubes(client, count):
    client.pipeline((b"".join(b"watch t%d\r\n" % tube for tube in range(first, first + CHUNK))
                     for first in range(0, count, CHUNK)), -(-count // CHUNK) * CHUNK)


def waits(ports, jobs, begin):
    """Reserves that wait on 5,000 tubes, into which jobs come."""
    tubes = -(-tubes_of(jobs) // CHUNK) * CHUNK
    producer = Client(ports["beanstalk"])
    workers = {}
    for _ in range(CONNECTIONS):
        worker = Client(ports["beanstalk"])
        watch_tubes(worker, tubes)
        worker.send(b"reserve\r\n")
        workers[worker.sock.fileno()] = worker
    poll = select.poll()
    for number in workers:
        poll.register(number, select.POLLIN)
    for round_number in itertools.count():
        begin()
        some = [(round_number * 31 + at * 97) % tubes for at in range(TOLD_AT_ONCE)]
        producer.pipeline([b"".join(b"use t%d\r\nput 0 0 600 1\r\nx\r\n" % at for at in some)],
                          2 * TOLD_AT_ONCE)
        for number, _ in poll.poll():
            serve(workers[number])


def serve(worker):
    """Does what it was given, and waits for more."""
    worker.receive()
    while b"\r\nx\r\n" in worker.buffer or b"DELETED\r\n" in worker.buffer:
        answer = worker.answer()
        if answer.startswith(b"RESERVED"):
            worker.send(b"delete %s\r\nreserve\r\n" % answer.split()[1])


def streams(ports, _, begin):
    """Event streams of jobs whose worker sends long parts."""
    worker = Gearman(ports["gearman"])
    worker.send(Gearman.CAN_DO, b"stream")
    poll = select.poll()
    readers = {}
    for _ in range(CONNECTIONS):
        reader = socket.create_connection(("127.0.0.1", ports["http"]))
        reader.sendall(b"POST /stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
                       b"Content-Length: 0\r\n\r\n")
        readers[reader.fileno()] = reader
        poll.register(reader, select.POLLIN)
    part = (LINE * (PART // len(LINE) + 1))[:PART]
    packets = []
    for _ in range(CONNECTIONS):
        handle = grab(worker)
        packets.append(packet(Gearman.WORK_DATA, handle, part))
    poll.register(worker.sock, select.POLLOUT)
    worker.sock.setblocking(False)
    for data in itertools.cycle(packets):
        begin()
        data = memoryview(data)
        while data:
            for number, _ in poll.poll():
                if number in readers:
                    readers[number].recv(1 << 20)
                else:
                    data = data[worker.sock.send(data):]


def grab(worker):
    while True:
        worker.send(Gearman.GRAB_JOB)
        kind, body = worker.next()
        if kind == Gearman.JOB_ASSIGN:
            return body.split(b"\0")[0]


def scrapes(ports, _, begin):
    """Metrics, one scrape after the other."""
    operator = Operator(ports["admin"])
    while True:
        begin()
        operator.get("/metrics")


def pages(ports, _, begin):
    """The list of queues, those with most jobs first, page by page: the first pages, each of which
    costs as much as any other."""
    operator = Operator(ports["admin"])
    while True:
        begin()
        cursor = ""
        for _ in range(PAGES):
            page = json.loads(operator.get(f"/api/v1/queues?sort=-ready&limit=1000{cursor}"))
            if not page["next"]:
                break
            cursor = "&cursor=" + urllib.parse.quote(page["next"])


def searches(ports, _, begin):
    """The first page of queues with a part of the name that few have."""
    operator = Operator(ports["admin"])
    while True:
        begin()
        operator.get("/api/v1/queues?search=9999&sort=-oldest_ready_seconds")


def looks(ports, _, begin):
    """Streams of what changes in the list of queues, as many pages of the browser have them."""
    poll = select.poll()
    lookers = {}
    for _ in range(LOOKERS):
        looker = Looker(ports["admin"], "/api/v1/events?queues=100&sort=-ready")
        lookers[looker.sock.fileno()] = looker.sock
        poll.register(looker.sock, select.POLLIN)
    while True:
        begin()
        for number, _ in poll.poll():
            if not lookers[number].recv(1 << 20):
                raise AssertionError("a stream has ended")


def lists(ports, jobs, begin):
    """Many pipelined list-tubes where there are 5,000 tubes."""
    keeper = Client(ports["beanstalk"])
    watch_tubes(keeper, tubes_of(jobs))
    listers = [Client(ports["beanstalk"]) for _ in range(LISTERS)]
    poll = select.poll()
    left = {lister.sock.fileno(): 0 for lister in listers}
    for lister in listers:
        poll.register(lister.sock, select.POLLIN)
    length = len(listers[0].ask("list-tubes"))
    by_number = {lister.sock.fileno(): lister.sock for lister in listers}
    while True:
        begin()
        for number, some in left.items():
            if some <= 0:
                by_number[number].sendall(b"list-tubes\r\n" * LISTS)
                left[number] += LISTS * length
        for number, _ in poll.poll():
            left[number] -= len(by_number[number].recv(1 << 20))


def kicks(ports, jobs, begin):
    """A kick of a million."""
    client = Client(ports["beanstalk"])
    client.ask("use kicked")
    while True:
        ids = ask_many(client, itertools.repeat(b"put 0 1000 600 1\r\nx\r\n", jobs), jobs)
        begin()
        client.ask(f"kick {jobs}")
        ask_many(client, (b"delete %s\r\n" % line.split()[1] for line in ids), jobs)


def ask_many(client, commands, count):
    """The lines of the answers."""
    commands = iter(commands)
    lines = []
    while len(lines) < count:
        part = list(itertools.islice(commands, CHUNK))
        client.send(b"".join(part))
        lines += [client.answer() for _ in part]
    return lines


def subscribers(ports, jobs, begin):
    """A session with 100,000 subscriptions comes, waits and goes."""
    while True:
        begin()
        client = Client(ports["beanstalk"])
        watch_tubes(client, -(-jobs // 10 // CHUNK) * CHUNK)
        client.send(b"reserve\r\n")
        client.close()
