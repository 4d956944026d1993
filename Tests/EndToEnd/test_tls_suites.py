"""What others' TLS and DTLS make of ours: testssl.sh, OpenSSL's s_client and GnuTLS's client, against `serve --tls` and, behind the ICE
of a WHEP session, against the DTLS of a cast."""

import hashlib
import json
import re
import shutil
import socket
import ssl
import subprocess
import threading
import urllib.request

import pytest
from aioice import stun

from harness.rtcast import bearer

needs = {name: pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed; scripts/setup installs it.")
         for name in ("testssl", "gnutls-cli", "openssl")}


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    """A certificate of a client's own, its key, and its fingerprint."""
    folder = tmp_path_factory.mktemp("identity")
    certificate, key = folder / "c.pem", folder / "k.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
                    "-days", "2", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.read_text())).hexdigest().upper()
    return certificate, key, ":".join(re.findall("..", digest))


@pytest.fixture
def port(cast, tmp_path):
    url = cast("serve", "--listen", "127.0.0.1:0", "--tls", env={"XDG_STATE_HOME": str(tmp_path)}).url()
    return int(re.search(r":(\d+)", url.removeprefix("https://")).group(1))


def s_client(*arguments, timeout=30):
    done = subprocess.run(["openssl", "s_client", *arguments], input="", capture_output=True, text=True, timeout=timeout)
    return done.returncode, done.stdout + done.stderr


# TLS

@needs["testssl"]
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_testssl_finds_nothing_but_that_nobody_signed_the_certificate(port, tmp_path):
    report = tmp_path / "report.json"
    subprocess.run(["testssl", "--quiet", "--warnings", "off", "--color", "0", "--ip", "one", "--protocols", "--std", "--server-defaults",
                    "--heartbleed", "--ccs-injection", "--renegotiation", "--compression", "--freak", "--sweet32", "--rc4",
                    "--jsonfile", str(report), f"https://127.0.0.1:{port}"], capture_output=True, timeout=380)
    findings = {finding["id"]: finding for finding in json.loads(report.read_text())}
    assert findings["TLS1_2"]["severity"] == findings["TLS1_3"]["severity"] == "OK"
    bad = {name: finding["finding"] for name, finding in findings.items()
           if finding["severity"] not in ("OK", "INFO") and name not in (
               # It signs for itself, so nobody revokes it and no DNS record names who may sign; all ciphers are good, in any order.
               "cert_chain_of_trust", "cert_revocation", "DNS_CAArecord", "cipher_order", "cert_trust", "cert_validityPeriod", "HSTS",
               # What the tester's own OpenSSL lacks.
               "engine_problem")}
    assert not bad


@needs["openssl"]
@pytest.mark.parametrize("version, is_taken", [("-tls1", False), ("-tls1_1", False), ("-tls1_2", True), ("-tls1_3", True)])
def test_openssl_connects_by_new_versions_alone(port, version, is_taken):
    status, said = s_client("-connect", f"127.0.0.1:{port}", version, "-cipher", "ALL:@SECLEVEL=0")
    assert (status == 0 and "Server certificate" in said) == is_taken, said


@needs["gnutls-cli"]
@pytest.mark.parametrize("version, is_taken", [("TLS1.1", False), ("TLS1.2", True), ("TLS1.3", True)])
def test_gnutls_connects_by_new_versions_alone(port, version, is_taken):
    done = subprocess.run(["gnutls-cli", "--insecure", "--priority", f"NORMAL:-VERS-ALL:+VERS-{version}", "-p", str(port), "127.0.0.1"],
                          input="", capture_output=True, text=True, timeout=30)
    assert ("Handshake was completed" in done.stdout) == is_taken, done.stdout + done.stderr


# DTLS

OFFER = """v=0
o=- 1 2 IN IP4 127.0.0.1
s=-
t=0 0
a=group:BUNDLE 0
m=video 9 UDP/TLS/RTP/SAVPF 96
c=IN IP4 0.0.0.0
a=ice-ufrag:abcd
a=ice-pwd:abcdefghijklmnopqrstuvwx
a=fingerprint:sha-256 {fingerprint}
a=setup:{setup}
a=mid:0
a=recvonly
a=rtcp-mux
a=rtpmap:96 VP8/90000
"""


class Path:
    """Through ICE to the DTLS of a cast: datagrams that come to `port` go there from an address that it knows."""

    def __init__(self, listening, fingerprint, setup="active"):
        offer = OFFER.format(fingerprint=fingerprint, setup=setup).replace("\n", "\r\n").encode()
        request = urllib.request.Request(listening["whep"], offer, {"Content-Type": "application/sdp", **bearer(listening)})
        with urllib.request.urlopen(request, timeout=10) as answer:
            sdp = answer.read().decode()
        self.setup = re.search(r"a=setup:(\w+)", sdp).group(1)
        self.ufrag, self.password = (re.search(rf"a=ice-{name}:(\S+)", sdp).group(1) for name in ("ufrag", "pwd"))
        candidates = re.findall(r"a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ host", sdp, re.I)
        self.far = next((host, int(number)) for host, number in candidates if ":" not in host)
        self.ice, self.near = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for each in self.ice, self.near:
            each.bind(("0.0.0.0", 0))
        self.port = self.near.getsockname()[1]
        self.client = None
        self.nominated = threading.Event()
        for work in self.listen, self.pass_on:
            threading.Thread(target=work, daemon=True).start()
        for _ in range(50):
            self.check()
            if self.nominated.wait(0.2):
                return
        raise AssertionError("no check is answered")

    def check(self):
        message = stun.Message(stun.Method.BINDING, stun.Class.REQUEST)
        message.attributes.update({"USERNAME": f"{self.ufrag}:abcd", "PRIORITY": 1853824767, "ICE-CONTROLLING": 1, "USE-CANDIDATE": None})
        message.add_message_integrity(self.password.encode())
        message.add_fingerprint()
        self.ice.sendto(bytes(message), self.far)

    def listen(self):
        while True:
            try:
                data, address = self.ice.recvfrom(4096)
            except OSError:
                return
            if 20 <= data[0] <= 63:
                if self.client:
                    self.near.sendto(data, self.client)
            elif data[0] < 2:
                message = stun.parse_message(data)
                if message.message_class == stun.Class.RESPONSE:
                    self.nominated.set()
                elif message.message_class == stun.Class.REQUEST:
                    reply = stun.Message(stun.Method.BINDING, stun.Class.RESPONSE, transaction_id=message.transaction_id)
                    reply.attributes["XOR-MAPPED-ADDRESS"] = address
                    reply.add_message_integrity(b"abcdefghijklmnopqrstuvwx")
                    reply.add_fingerprint()
                    self.ice.sendto(bytes(reply), address)

    def pass_on(self):
        while True:
            try:
                data, self.client = self.near.recvfrom(4096)
                self.ice.sendto(data, self.far)
            except OSError:
                return

    def close(self):
        for each in self.ice, self.near:
            each.close()


@pytest.fixture
def path(cast):
    paths = []

    def open_path(fingerprint):
        paths.append(Path(cast("test", "--fps", "5", "--size", "320x180").listening(), fingerprint))
        assert paths[-1].setup == "passive"
        return paths[-1]

    yield open_path
    for each in paths:
        each.close()


@needs["openssl"]
@pytest.mark.parametrize("profile", ["SRTP_AEAD_AES_128_GCM", "SRTP_AES128_CM_SHA1_80"])
def test_openssl_shakes_hands_with_the_dtls_of_a_cast(path, identity, profile):
    certificate, key, fingerprint = identity
    way = path(fingerprint)
    _, said = s_client("-dtls1_2", "-connect", f"127.0.0.1:{way.port}", "-cert", str(certificate), "-key", str(key), "-use_srtp", profile)
    assert f"SRTP Extension negotiated, profile={profile}" in said, said
    assert re.search(r"New, TLSv1.2, Cipher is ECDHE-ECDSA-(AES|CHACHA)", said), said
    assert "Secure Renegotiation IS supported" in said and "Extended master secret: yes" in said


@needs["openssl"]
@pytest.mark.parametrize("arguments", [["-dtls1"], ["-dtls1_2", "-cipher", "AES128-SHA:AES256-SHA256:@SECLEVEL=0"]],
                         ids=["DTLS 1.0", "no forward secrecy"])
def test_what_is_weak_is_refused_by_the_dtls_of_a_cast(path, identity, arguments):
    certificate, key, fingerprint = identity
    way = path(fingerprint)
    status, said = s_client(*arguments, "-connect", f"127.0.0.1:{way.port}", "-cert", str(certificate), "-key", str(key),
                            "-use_srtp", "SRTP_AEAD_AES_128_GCM")
    assert "Cipher is (NONE)" in said and "alert" in said, said


@needs["gnutls-cli"]
def test_gnutls_shakes_hands_with_the_dtls_of_a_cast(path, identity):
    certificate, key, fingerprint = identity
    way = path(fingerprint)
    done = subprocess.run(["gnutls-cli", "--udp", "--insecure", "--x509certfile", str(certificate), "--x509keyfile", str(key),
                           "--srtp-profiles", "SRTP_AES128_CM_HMAC_SHA1_80", "-p", str(way.port), "127.0.0.1"],
                          input="", capture_output=True, text=True, timeout=30)
    assert "Handshake was completed" in done.stdout and "DTLS1.2" in done.stdout, done.stdout + done.stderr


@needs["openssl"]
def test_a_certificate_that_was_not_described_is_refused(path, identity):
    certificate, key, _ = identity
    way = path(":".join(["AB"] * 32))
    status, said = s_client("-dtls1_2", "-connect", f"127.0.0.1:{way.port}", "-cert", str(certificate), "-key", str(key),
                            "-use_srtp", "SRTP_AEAD_AES_128_GCM")
    assert "alert" in said, said
