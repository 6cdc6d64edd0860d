# SPDX-License-Identifier: MIT
"""A way over which a broker reaches a database, which can be slow, cut, silent, and closed by half."""

import asyncio
import pathlib
import socket
import struct
import sys
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import ports

CHUNK = 65536
RESET = struct.pack("ii", 1, 0)
# The bytes that pass: requests, replies.
OPEN, DARK, DEAF, MUTE = (True, True), (False, False), (True, False), (False, True)


class Net(threading.Thread):
    """The loop in which all links are served."""

    def __init__(self):
        super().__init__(name="net", daemon=True)
        self.loop = asyncio.new_event_loop()
        self.start()

    def run(self):
        self.loop.run_forever()

    def call(self, work):
        """The result of the coroutine."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.join()
        self.loop.close()


class Link:
    """Listens, and passes on to a port of this machine, until it is told otherwise."""

    def __init__(self, net, to):
        self.net, self.to = net, to
        self.passes = OPEN
        self.is_cut = False
        self.delay = 0  # seconds, of each chunk
        self.writers = set()
        self.tasks = set()
        self.held = ports.reserve()
        self.port = ports.number(self.held)
        net.call(self.begin())

    async def begin(self):
        self.changed = asyncio.Condition()
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port)

    #
    # Operations for other threads
    #

    def cut(self):
        """Both ends of each connection are reset, and new connections are refused."""
        self.net.call(self.become(is_cut=True))

    def silence(self, passes=DARK):
        """Bytes in flight stay there, and neither end is told; new connections get no answer."""
        self.net.call(self.become(passes=passes))

    def slow(self, seconds):
        self.net.call(self.become(delay=seconds))

    def heal(self):
        """Continues to pass the bytes that were held."""
        self.net.call(self.become(is_cut=False, passes=OPEN, delay=0))

    def half_close(self):
        """The end of requests, to each database that is asked at present; answers go on."""
        self.net.call(self.end_requests())

    def close(self):
        self.net.call(self.end())
        self.held.close()

    #
    # In the loop
    #

    async def become(self, **how):
        for name, value in how.items():
            setattr(self, name, value)
        if self.is_cut:
            self.reset_all()
        async with self.changed:
            self.changed.notify_all()

    async def end_requests(self):
        for writer in self.writers:
            if writer.requests:
                end(writer)

    async def end(self):
        self.server.close()
        self.reset_all()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def reset_all(self):
        for writer in list(self.writers):
            reset(writer)

    async def serve(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        self.add(writer, requests=False)
        there, pumps = None, []
        try:
            if self.is_cut:
                return
            from_there, there = await asyncio.open_connection("127.0.0.1", self.to)
            self.add(there, requests=True)
            pumps = [asyncio.ensure_future(self.pump(reader, there, 0)),
                     asyncio.ensure_future(self.pump(from_there, writer, 1))]
            await asyncio.gather(*pumps)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self.tasks.discard(task)
            for pump in pumps:
                pump.cancel()
            for one in filter(None, (writer, there)):
                self.writers.discard(one)
                reset(one)

    def add(self, writer, requests):
        writer.requests, writer.ended = requests, False
        self.writers.add(writer)

    async def pump(self, reader, writer, direction):
        while data := await reader.read(CHUNK):
            if self.delay:
                await asyncio.sleep(self.delay)
            await self.let_pass(direction)
            if not writer.ended:
                writer.write(data)
                await writer.drain()
        await self.let_pass(direction)
        end(writer)

    async def let_pass(self, direction):
        async with self.changed:
            await self.changed.wait_for(lambda: self.passes[direction] or self.is_cut)
        if self.is_cut:
            raise ConnectionResetError


def end(writer):
    """Nothing follows what was written."""
    if not writer.ended and not writer.is_closing():
        writer.ended = True
        writer.write_eof()


def reset(writer):
    """The other end is told that there is no connection."""
    sock = writer.get_extra_info("socket")
    if sock is not None and not writer.is_closing():
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()
