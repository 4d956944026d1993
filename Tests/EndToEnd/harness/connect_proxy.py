"""A web proxy on a host of a test network, for those who have no other way out: CONNECT with a name and a password (RFC 9110, 9.3.6)."""

import base64
import socket
import threading

from .netns import _carry

USER, PASSWORD = "ada", "way out"


class ConnectProxy:
    def __init__(self, host, port):
        self.host, self.port = host, port
        self.targets = []
        self.refused = 0
        with host:
            self.listener = socket.create_server((host.address, port))
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, user=USER, password=PASSWORD.replace(" ", "%20")):
        return f"http://{user}:{password}@{self.host.address}:{self.port}"

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near):
        head = b""
        while b"\r\n\r\n" not in head:
            part = near.recv(4096)
            if not part:
                return near.close()
            head += part
        line, *fields = head.decode().split("\r\n")
        method, target, _ = line.split(" ")
        secret = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if method != "CONNECT" or not any(field.lower() == f"proxy-authorization: basic {secret}".lower() for field in fields):
            self.refused += 1
            near.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return near.close()
        self.targets.append(target)
        address, _, port = target.rpartition(":")
        with self.host:
            far = socket.create_connection((address, int(port)), 5)
        far.settimeout(None)
        near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=_carry, args=(one, other), daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
