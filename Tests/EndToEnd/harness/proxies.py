"""nginx, Caddy and HAProxy, each with the recipes of docs/proxies.md, their ports, paths and certificate replaced by those of the test."""

import os
import random
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from .rtcast import ROOT

PAGE = ROOT / "docs/proxies.md"
KINDS = ("nginx", "caddy", "haproxy")
_given = set()


def missing():
    """Which proxy is not here; None when all are."""
    absent = [name for name in KINDS if not shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin")]
    return f"no {', '.join(absent)}: run scripts/setup" if absent else None


def recipes():
    """By kind and place, the recipes of the page that are tested."""
    found = re.findall(r"<!-- recipe (\w+) (\w+) -->\n```\w+\n(.*?)```", PAGE.read_text(), re.S)
    return {(kind, place): text for kind, place, text in found}


def free_port():
    """A port for a program that is started later.

    It is outside of the range from which the kernel takes ports for others meanwhile, no other process of the tests gets it (HAProxy
    and Caddy would share it without a word), and none gets it twice."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    while True:
        port = random.randrange(12_000 + worker % 6 * 3_000, 15_000 + worker % 6 * 3_000)
        with socket.socket() as sock:
            if port not in _given and sock.connect_ex(("127.0.0.1", port)) != 0:
                _given.add(port)
                return port


def certificate(folder):
    """A certificate for localhost; returns the files of the certificate, the key, and both."""
    pem, key, both = (Path(folder) / name for name in ("proxy.pem", "proxy.key", "proxy.both.pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", pem], check=True, capture_output=True)
    both.write_text(pem.read_text() + key.read_text())
    return pem, key, both


class Proxy:
    """One proxy with several recipes, each at a port of its own."""

    def __init__(self, kind):
        self.kind = kind
        self.folder = Path(tempfile.mkdtemp(prefix=f"rtcast-{kind}-"))
        self.folder.chmod(0o755)
        self.pem, self.key, self.both = certificate(self.folder)
        self.parts = []
        self.process = None

    def add(self, place, upstream, path=None, recipe=None):
        """Adds a recipe of the page.

        `upstream`: HOST:PORT, or the path of a Unix socket. `path`: in place of /cast. Returns the port."""
        port = free_port()
        text = recipe or recipes()[self.kind, place]
        number = len(self.parts)
        swaps = [("127.0.0.1:8080", str(upstream)), ("/run/rtcast/cast.sock", str(upstream)), ("/etc/ssl/lab.example.both.pem", str(self.both)),
                 ("/etc/ssl/lab.example.pem", str(self.pem)), ("/etc/ssl/lab.example.key", str(self.key))]
        for old, new in swaps:
            text = text.replace(old, new)
        if path:
            text = re.sub(r"/cast(?=[/ *]|$)", path, text, flags=re.M)
        if self.kind == "nginx":
            text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace("lab.example", "localhost")
            text = text.replace("connection_upgrade", f"connection_upgrade_{number}")
        elif self.kind == "caddy":
            text = text.replace("lab.example {", f"https://localhost:{port} {{\n    bind 127.0.0.1\n    tls {self.pem} {self.key}", 1)
        else:
            text = text.replace("bind :443", f"bind 127.0.0.1:{port}")
            text = re.sub(r"\b(frontend web|backend cast|use_backend cast|default_backend cast)\b", rf"\g<1>{number}", text)
        self.parts.append(text)
        return port

    def start(self, timeout=10):
        """Starts the proxy, and returns when all of its ports are open."""
        ports = [int(port) for part in self.parts for port in re.findall(r"(?:listen 127\.0\.0\.1:|https://localhost:|bind 127\.0\.0\.1:)(\d+)", part)]
        log = open(self.folder / "log", "w")
        self.process = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                        env={"HOME": str(self.folder), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin"})
        deadline = time.monotonic() + timeout
        for port in ports:
            while not self._answers(port):
                assert self.process.poll() is None and time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.05)
        return self

    @staticmethod
    def _answers(port):
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", port)) == 0

    def _command(self):
        parts = "\n".join(self.parts)
        place = self.folder / "config"
        if self.kind == "nginx":
            temporary = "".join(f"{name}_temp_path {self.folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            place.write_text(f"user root;\ndaemon off;\nworker_processes 1;\npid {self.folder}/pid;\nerror_log {self.folder}/errors;\n"
                             f"events {{}}\nhttp {{\naccess_log off;\n{temporary}{parts}}}\n")
            return ["nginx", "-c", str(place), "-e", str(self.folder / "errors")]
        if self.kind == "caddy":
            place.write_text("{\n    admin off\n    auto_https disable_redirects\n}\n" + parts)
            return ["caddy", "run", "--config", str(place), "--adapter", "caddyfile"]
        place.write_text("global\n    maxconn 200\ndefaults\n    timeout connect 5s\n    timeout client 30s\n    timeout server 30s\n" + parts)
        return ["haproxy", "-db", "-f", str(place)]

    def stop(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
