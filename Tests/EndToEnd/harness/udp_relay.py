"""A path of UDP between one viewer and the sender, which delays, loses and is slow: the viewer is told of its near end only."""

import heapq
import random
import re
import socket
import threading
import time


class UDPRelay:
    """`rate` is what passes to the viewer, in bits a second, beyond which `queue` seconds of it wait and the rest is dropped; None: all
    passes. `loss` of what the sender sends is lost, 0 to 1. Both may be changed at any time. `delay`: seconds, each way.
    """

    def __init__(self, rate=None, loss=0.0, queue=0.3, delay=0.0, seed=1):
        self.rate, self.loss, self.queue, self.delay = rate, loss, queue, delay
        self.random = random.Random(seed)
        self.dropped = 0   # of what the sender sent
        self.near, self.far = self._end(), self._end()
        self.sender = self.viewer = None
        # When the slow part of the path is idle again.
        self.idle = 0.0
        self.waiting = []
        self.count = 0
        self.changed = threading.Condition()
        self.is_open = True
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._from_viewer, self._from_sender, self._deliver)]
        for thread in self.threads:
            thread.start()

    @staticmethod
    def _end():
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        end.bind(("127.0.0.1", 0))
        return end

    def through(self, description):
        """The description of the sender, whose candidates lead here."""
        candidate = re.search(r"a=candidate:\S+ 1 udp \d+ (\d+\.\d+\.\d+\.\d+) (\d+) typ host", description)
        self.sender = (candidate[1], int(candidate[2]))
        lines = [line for line in description.split("\r\n") if not line.startswith("a=candidate:")]
        place = next(index for index, line in enumerate(lines) if line.startswith("a=ice-ufrag"))
        lines.insert(place, f"a=candidate:1 1 udp 2130706431 127.0.0.1 {self.near.getsockname()[1]} typ host")
        return "\r\n".join(lines)

    def _from_viewer(self):
        while self.is_open:
            data, self.viewer = self.near.recvfrom(65536)
            if self.sender:
                self._carry(time.monotonic(), self.far, data, self.sender)

    def _from_sender(self):
        while self.is_open:
            data, _ = self.far.recvfrom(65536)
            now = leaves = time.monotonic()
            if self.random.random() < self.loss:
                self.dropped += 1
                continue
            if self.rate:
                leaves = max(self.idle, now) + len(data) * 8 / self.rate
                if leaves - now > self.queue:
                    self.dropped += 1
                    continue
                self.idle = leaves
            if self.viewer:
                self._carry(leaves, self.near, data, self.viewer)

    def _carry(self, leaves, end, data, address):
        with self.changed:
            self.count += 1
            heapq.heappush(self.waiting, (leaves + self.delay, self.count, end, data, address))
            self.changed.notify()

    def _deliver(self):
        while self.is_open:
            with self.changed:
                wait = self.waiting[0][0] - time.monotonic() if self.waiting else None
                if wait is None or wait > 0:
                    self.changed.wait(wait)
                    continue
                _, _, end, data, address = heapq.heappop(self.waiting)
            end.sendto(data, address)

    def close(self):
        with self.changed:
            self.is_open = False
            self.changed.notify()
        # Whoever waits for a datagram gets one.
        for end in (self.near, self.far):
            end.sendto(b"", end.getsockname())
        for thread in self.threads:
            thread.join(5)
        self.near.close()
        self.far.close()
