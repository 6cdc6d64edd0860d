# SPDX-License-Identifier: MIT
"""Two PostgreSQL servers: a primary, and a standby without which it acknowledges nothing."""

import pathlib
import shutil
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import postgres

SECONDS = 120
QUORUM = "'ANY 1 (*)'"
SETTINGS = {"wal_receiver_timeout": "10s",
            "wal_retrieve_retry_interval": "200ms", "log_min_messages": "warning",
            "full_page_writes": "on",  # for pg_rewind
            "max_connections": "100"}  # as pg_rewind finds it where it starts the server by itself
# Acknowledged data is on the disks of both, also after a power cut.
SYNCED = {"fsync": "on"}


class Pair:
    """Both of them."""

    def __init__(self, base, rng, synced):
        settings = {**SETTINGS, **(SYNCED if synced else {})}
        self.rng = rng
        self.servers = [postgres.Cluster(base, **settings) for _ in range(2)]
        self.primary, self.standby = self.servers
        self.user = postgres.USER

    def start(self):
        self.primary.make()
        # Where pg_rewind finds it, too.
        with open(f"{self.primary.data}/postgresql.conf", "a", encoding="ascii") as config:
            config.write("wal_log_hints = on\nwal_keep_size = 512MB\n")
        self.primary.start()
        self.standby.copy(self.primary).start()
        self.want_both()

    def want_both(self):
        self.primary.reload(synchronous_standby_names=QUORUM)
        self.wait_until(lambda: self.primary.sql(
            "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('quorum', 'sync')") == "1")

    @staticmethod
    def wait_until(condition):
        give_up_at = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > give_up_at:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def fail_over(self):
        """Kills the primary and promotes the standby. As a cluster manager would, turns synchronous
        replication off until there is a new standby."""
        self.primary.kill()
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary
        self.primary.reload(synchronous_standby_names="''")

    def rebuild(self):
        """The one that was killed comes back, behind the other. Returns how."""
        rewound = self.rng.random() < 0.5
        if rewound:
            self.standby.rewind(self.primary)
        else:
            shutil.rmtree(self.standby.data)
            self.standby.copy(self.primary)
        self.standby.start()
        self.want_both()
        return "rewound" if rewound else "copied again"

    def close(self):
        for server in self.servers:
            server.close()
