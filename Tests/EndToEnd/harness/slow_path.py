"""A path that loses and is slow, for one viewer alone: a UDP relay whose address stands in the viewer's answer."""

import collections
import random
import re
import socket
import threading
import time


class SlowPath:
    """Relays datagrams between one viewer and a server's UDP port.

    `rate` is what passes to the viewer in bits a second, after which `queue` seconds of it wait and the rest is dropped; `loss` of what
    passes is lost. Both may be changed at any time.
    """

    def __init__(self, rate=None, loss=0.0, queue=0.3, seed=1):
        self.rate, self.loss, self.queue = rate, loss, queue
        self.random = random.Random(seed)
        self.outside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.outside.bind(("127.0.0.1", 0))
        self.inside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.inside.bind(("127.0.0.1", 0))
        self.server = self.viewer = None
        self.waiting = collections.deque()
        self.free = 0.0
        self.over = threading.Event()
        self.threads = [threading.Thread(target=body, daemon=True) for body in (self._up, self._down, self._deliver)]
        for thread in self.threads:
            thread.start()

    def through(self, description):
        """The description of the server, whose candidates lead here."""
        candidate = re.search(r"a=candidate:\S+ 1 udp \d+ (\d+\.\d+\.\d+\.\d+) (\d+) typ host", description)
        self.server = (candidate[1], int(candidate[2]))
        port = self.outside.getsockname()[1]
        lines = [line for line in description.split("\r\n") if not line.startswith("a=candidate:")]
        where = next(i for i, line in enumerate(lines) if line.startswith("a=ice-ufrag"))
        lines.insert(where, f"a=candidate:1 1 udp 2130706431 127.0.0.1 {port} typ host")
        return "\r\n".join(lines)

    def _up(self):
        while not self.over.is_set():
            data, self.viewer = self.outside.recvfrom(65536)
            if self.server:
                self.inside.sendto(data, self.server)

    def _down(self):
        while not self.over.is_set():
            data, _ = self.inside.recvfrom(65536)
            now = time.monotonic()
            if self.random.random() < self.loss:
                continue
            if self.rate:
                self.free = max(self.free, now) + len(data) * 8 / self.rate
                if self.free - now > self.queue:
                    self.free -= len(data) * 8 / self.rate
                    continue
            self.waiting.append((self.free if self.rate else now, data))

    def _deliver(self):
        while not self.over.is_set():
            if not self.waiting or self.waiting[0][0] > time.monotonic():
                time.sleep(0.001)
                continue
            data = self.waiting.popleft()[1]
            if self.viewer:
                self.outside.sendto(data, self.viewer)

    def close(self):
        self.over.set()
        for end in (self.outside, self.inside):
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", end.getsockname())
        for thread in self.threads:
            thread.join(5)
        self.outside.close()
        self.inside.close()
