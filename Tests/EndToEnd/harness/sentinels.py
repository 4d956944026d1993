"""A primary, a replica, and three sentinels that make the replica the primary if the first one fails."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from .processes import wait_for
from .proxies import free_port
from .redis import Redis

NAME = "hubs"


class Sentinels:
    def __init__(self, password=None):
        self.primary = Redis()
        self.replica = Redis("--replicaof", "127.0.0.1", str(self.primary.port))
        self.folder = Path(tempfile.mkdtemp(prefix="rtcast-sentinels-"))
        self.ports = [free_port() for _ in range(3)]
        self.processes = []
        wait_for(lambda: "state=online" in self.primary.cli("info", "replication"), "replica")
        for port in self.ports:
            config = self.folder / f"{port}.conf"
            config.write_text(
                f"port {port}\nbind 127.0.0.1\ndir {self.folder}\n" + (f"requirepass {password}\nsentinel sentinel-pass {password}\n" if password else "")
                + f"sentinel monitor {NAME} 127.0.0.1 {self.primary.port} 2\nsentinel down-after-milliseconds {NAME} 1000\n"
                f"sentinel failover-timeout {NAME} 5000\n")
            log = open(self.folder / f"{port}.log", "w")
            self.processes.append(subprocess.Popen(["redis-server", str(config), "--sentinel"], stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        self.password = password
        for port in self.ports:
            wait_for(lambda: self.knows_all(port), "sentinels that know each other", 40)

    def knows_all(self, port):
        known = self.ask(port, "sentinel", "master", NAME).splitlines()
        values = dict(zip(known[::2], known[1::2]))
        return values.get("num-slaves") == "1" and values.get("num-other-sentinels") == "2"

    def ask(self, port, *words):
        secret = ["-a", self.password, "--no-auth-warning"] if self.password else []
        return subprocess.run(["redis-cli", "-p", str(port), *secret, *words], capture_output=True, text=True, timeout=10).stdout.strip()

    def fail_over(self):
        """The replica and the primary change places, as for maintenance."""
        assert self.ask(self.ports[0], "sentinel", "failover", NAME) == "OK"

    def is_primary(self, server):
        return "role:master" in server.cli("info", "replication")

    @property
    def url(self):
        """No sentinel is at the first place."""
        return f"redis+sentinel://127.0.0.1:{free_port()}," + ",".join(f"127.0.0.1:{port}" for port in self.ports) + f"/{NAME}"

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.primary.stop()
        self.replica.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
