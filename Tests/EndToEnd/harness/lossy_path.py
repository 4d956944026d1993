"""A path of UDP that delays and loses, for one viewer: the viewer is told of its near end only, and writes there."""

import heapq
import random
import socket
import threading
import time


class LossyPath:
    def __init__(self, target, delay=0.025, seed=1):
        """`target`: where the sender listens. `delay`: seconds, each way. `loss` is of what comes from the sender."""
        self.target, self.delay, self.loss = target, delay, 0.0
        self.random = random.Random(seed)
        self.near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.near.bind(("127.0.0.1", 0))
        self.far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.far.bind(("127.0.0.1", 0))
        for each in (self.near, self.far):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        self.port = self.near.getsockname()[1]
        self.viewer = None
        self.lost = 0
        self.waiting = []
        self.count = 0
        self.changed = threading.Condition()
        self.is_open = True
        for work in (self._from_viewer, self._from_sender, self._deliver):
            threading.Thread(target=work, daemon=True).start()

    def _from_viewer(self):
        while datagram := self._receive(self.near):
            self.viewer = datagram[1]
            self._carry(self.far, datagram[0], self.target)

    def _from_sender(self):
        while datagram := self._receive(self.far):
            if self.random.random() < self.loss:
                self.lost += 1
            elif self.viewer:
                self._carry(self.near, datagram[0], self.viewer)

    @staticmethod
    def _receive(end):
        try:
            return end.recvfrom(2048)
        except OSError:
            return None

    def _carry(self, end, datagram, address):
        with self.changed:
            self.count += 1
            heapq.heappush(self.waiting, (time.monotonic() + self.delay, self.count, end, datagram, address))
            self.changed.notify()

    def _deliver(self):
        while self.is_open:
            with self.changed:
                wait = self.waiting[0][0] - time.monotonic() if self.waiting else 1
                if wait > 0:
                    self.changed.wait(wait)
                    continue
                _, _, end, datagram, address = heapq.heappop(self.waiting)
            try:
                end.sendto(datagram, address)
            except OSError:
                return

    def close(self):
        self.is_open = False
        for each in (self.near, self.far):
            each.close()
