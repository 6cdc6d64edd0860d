# SPDX-License-Identifier: MIT
"""The clients of a script, for any protocol: they connect, disconnect, and expect no more bytes."""

SHOWN_BYTES = 160


class Mismatch(Exception):
    """The servers differ in a way that is not allowed, or neither did what the script says."""


class BareStage:
    """A pair of servers with the clients of one script."""

    client_type = None

    def __init__(self, peers):
        self.peers = peers
        self.clients = []
        self.exchanges = 0

    def client(self):
        client = self.client_type(self)
        self.add(client)
        return client

    def add(self, client):
        self.clients.append(client)
        self.settle()

    def open_clients(self, count):
        return [self.client() for _ in range(count)]

    def settle(self):
        """Waits until both servers know which connections there are."""
        raise NotImplementedError

    def finish(self):
        """Ends all clients. Their unread output must be the same from both servers."""
        for client in list(self.clients):
            client.finish()


class BareClient:
    """A connection to each server; what is said goes to both."""

    def __init__(self, stage):
        self.stage = stage
        self.theirs, self.ours = (server.connect() for server in stage.peers.both())

    def both(self):
        return self.theirs, self.ours

    def half_close(self):
        for connection in self.both():
            connection.half_close()

    def ends(self):
        """Both servers hang up and say nothing more."""
        self.end()
        self.stage.exchanges += 1

    def finish(self):
        self.half_close()
        self.end()

    def end(self):
        rests = self.theirs.rest(), self.ours.rest()
        self.gone()
        if rests != (b"", b""):
            raise Mismatch("more came than was expected\n" +
                           beside(self.stage.peers, rests[0], rests[1]))

    def hang_up(self):
        """Closes without a word, and waits until both servers know."""
        self.gone()

    def gone(self):
        for connection in self.both():
            connection.close()
        self.stage.clients.remove(self)
        self.stage.settle()


def shown(data):
    text = repr(data)
    return text if len(text) <= SHOWN_BYTES else text[:SHOWN_BYTES] + "..."


def beside(peers, theirs, ours):
    """The replies of both servers, one below the other."""
    names = [server.name for server in peers.both()]
    width = max(map(len, names))
    return "\n".join(f"  {name.ljust(width)} {shown(reply)}"
                     for name, reply in zip(names, (theirs, ours)))
