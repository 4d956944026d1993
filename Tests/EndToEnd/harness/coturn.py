"""Debian's coturn on a host of a test network: STUN, and TURN over UDP, TCP and TLS."""

import base64
import hashlib
import hmac
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

USER, PASSWORD, REALM, SECRET = "ada", "lovelace", "reach.test", "between-us"


def missing():
    """Why there is no coturn here; None when there is."""
    return None if shutil.which("turnserver") else "no turnserver: install coturn"


class Authority:
    """A certificate authority of the test's own, and a server's certificate from it."""

    def __init__(self, folder, address):
        self.folder = Path(folder)
        self.certificate = self.folder / "authority.pem"   # what clients are to trust
        self.server = self.folder / "server.pem"
        self.key = self.folder / "server-key.pem"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=Reach tests",
                      "-keyout", "authority-key.pem", "-out", "authority.pem")
        (self.folder / "names").write_text(f"subjectAltName=IP:{address}\n")
        self._openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=turn", "-keyout",
                      "server-key.pem", "-out", "server.csr")
        self._openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority-key.pem", "-CAcreateserial", "-days", "2",
                      "-extfile", "names", "-out", "server.pem")

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)


class Coturn:
    """`secret` true: users are made by time-limited credentials (`credentials`), not by name."""

    def __init__(self, host, authority=None, secret=False, udp=True, options=()):
        self.host = host
        self.folder = Path(tempfile.mkdtemp(prefix="rtcast-coturn-"))
        users = ["--use-auth-secret", f"--static-auth-secret={SECRET}"] if secret else ["--lt-cred-mech", f"--user={USER}:{PASSWORD}"]
        tls = ["--tls-listening-port=443", f"--cert={authority.server}", f"--pkey={authority.key}"] if authority else ["--no-tls", "--no-dtls"]
        self.command = [
            "turnserver", "-n", "-v", "--no-cli", f"--listening-ip={host.address}", f"--relay-ip={host.address}", f"--realm={REALM}", "--fingerprint",
            "--log-file=stdout", "--simple-log", f"--userdb={self.folder / 'db'}", f"--pidfile={self.folder / 'pid'}", "--no-rfc5780",
            *([] if udp else ["--no-udp"]), *users, *tls, *options]
        self.process = None
        self.start()

    def start(self, timeout=10):
        self.log = self.folder / f"log{time.monotonic_ns()}"
        with self.host, open(self.log, "w") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + timeout
        while f"{self.host.address}:3478 " not in self.host.run("ss", "-Hltn"):
            assert self.process.poll() is None and time.monotonic() < deadline, f"coturn does not start: {self.log.read_text()[-2000:]}"
            time.sleep(0.02)

    def kill(self):
        """As a machine that loses its power: nothing is said to anybody."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def lines(self, *words):
        """What it logged that has all of these words."""
        return [line for line in self.log.read_text(errors="replace").splitlines() if all(word in line for word in words)]

    def url(self, scheme="turn", transport=None, port=None):
        return f"{scheme}:{self.host.address}{f':{port}' if port else ''}{f'?transport={transport}' if transport else ''}"


def credentials(seconds, name="ada"):
    """User and password that end after so many seconds (the REST API for TURN servers)."""
    user = f"{int(time.time()) + seconds}:{name}"
    return user, base64.b64encode(hmac.new(SECRET.encode(), user.encode(), hashlib.sha1).digest()).decode()
