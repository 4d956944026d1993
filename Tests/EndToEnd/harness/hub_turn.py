"""The TURN server in our hub, on a host of a test network, with what the tests ask of coturn."""

from .coturn import SECRET, credentials
from .rtcast import Rtcast

HTTPS = 443


class HubTurn:
    """A hub with `--turn`: STUN, and TURN over UDP and TCP at 3478, and over TLS at the hub's own port."""

    def __init__(self, host, authority, *options, tls=True):
        self.host, self.scheme = host, "https" if tls else "http"
        certificate = ["--tls-cert", str(authority.server), "--tls-key", str(authority.key)] if tls else []
        with host:
            self.hub = Rtcast("serve", "--open", "--listen", f"{host.address}:{HTTPS}", *certificate, "--turn", "--turn-secret", SECRET, *options)
        self.listening = self.hub.listening()

    def stop(self):
        self.hub.stop()

    def url(self, scheme="turn", transport=None, port=None):
        return f"{scheme}:{self.host.address}{f':{port}' if port else ''}{f'?transport={transport}' if transport else ''}"

    def credentials(self, name="ada"):
        return credentials(600, name)

    def figure(self, name, label=""):
        """The sum of a figure of `/metrics`, over its labels, or those of them that have this text."""
        text = self.host.run("curl", "-ksS", f"{self.scheme}://{self.host.address}:{HTTPS}/metrics")
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.split("{")[0].split()[0] == name and label in line)
