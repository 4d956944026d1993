"""Debian's redis-server, started and stopped by the test."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from .proxies import certificate, free_port


def missing():
    """Why there is no Redis here; None when there is."""
    return None if shutil.which("redis-server") else "no redis-server: run scripts/setup"


class Redis:
    """One server. What it holds is lost with it, unless `keeps` is true."""

    def __init__(self, *settings, tls=False, keeps=False, port=None):
        self.folder = Path(tempfile.mkdtemp(prefix="rtcast-redis-"))
        self.port = port or free_port()
        self.tls = tls
        listening = ["--port", str(self.port)]
        if tls:
            self.pem, self.key, _ = certificate(self.folder)
            listening = ["--port", "0", "--tls-port", str(self.port), "--tls-cert-file", str(self.pem), "--tls-key-file", str(self.key),
                         "--tls-auth-clients", "no", "--tls-ca-cert-file", str(self.pem)]
        kept = ["--appendonly", "yes", "--appendfsync", "always"] if keeps else ["--appendonly", "no"]
        self.command = ["redis-server", "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", "", "--daemonize", "no", *listening, *kept,
                        *settings]
        self.process = None
        self.start()

    @property
    def url(self):
        return f"redis{'s' if self.tls else ''}://{'localhost' if self.tls else '127.0.0.1'}:{self.port}"

    def start(self, timeout=10):
        log = open(self.folder / "log", "a")
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + timeout
        while True:
            with socket.socket() as sock:
                if sock.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            assert self.process.poll() is None and time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.02)

    def cli(self, *words):
        secure = ["--tls", "--cacert", str(self.pem)] if self.tls else []
        done = subprocess.run(["redis-cli", "-p", str(self.port), *secure, *words], capture_output=True, text=True, timeout=10, check=True)
        return done.stdout.strip()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def freeze(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def stop(self):
        if self.process.poll() is None:
            self.thaw()
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
