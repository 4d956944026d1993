"""`rtcast serve` as its user and its clients meet it."""

import asyncio
import contextlib
import json
import os
import resource
import socket
import ssl
import stat
import subprocess
import time
import urllib.request

import aiohttp
import psutil
import pytest

from harness.rtcast import run
from harness.signaling import NativeClient, PeerJSClient, untrusting


def fetch(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10, context=untrusting()) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def port_of(url):
    return int(url.split(":")[2].split("/")[0])


@pytest.mark.feature("S1.12", "S3.47")
def test_page_health_and_figures(cast):
    hub = cast("serve", "--listen", "127.0.0.1:0")
    url = hub.url()
    status, page = fetch(url)
    assert status == 200 and "<html" in page
    assert fetch(url + "healthz")[0] == 200

    async def work():
        async with await NativeClient.enter(url, "alice"), await NativeClient.enter(url, "bob") as bob:
            await bob.say({"type": "join", "room": "den"})
            await bob.hear(type="peers")
            assert json.loads(fetch(url + "health")[1])["hub"] == {"connections": 2, "peers": 2, "rooms": 1}
            figures = fetch(url + "metrics")[1]
            assert "rtcast_hub_peers 2\n" in figures and "rtcast_hub_rooms 1\n" in figures
    asyncio.run(work())
    assert hub.wait_event("peer") == {"event": "peer", "id": "alice", "state": "joined", "dialect": "hub"}
    hub.wait_event("peer", where=lambda event: event["id"] == "alice" and event["state"] == "left")


def test_a_hub_loads_none_of_the_libraries_that_only_files_need(cast):
    """They bring a hundred others with them: two fifths of a waiting hub's memory."""
    hub = cast("serve", "--listen", "127.0.0.1:0")
    assert fetch(hub.url() + "healthz")[0] == 200
    with open(f"/proc/{hub.process.pid}/maps") as maps:
        assert "libav" not in maps.read()


def test_ctrl_c_says_goodbye_to_everybody(cast):
    hub = cast("serve", "--listen", "127.0.0.1:0")
    url = hub.url()

    async def work():
        async with await NativeClient.enter(url, "alice") as alice, await PeerJSClient.enter(url, "bob") as bob:
            hub.interrupt()
            assert (await alice.hear(type="error"))["code"] == "shutting-down"
            assert await alice.closing() == 1001
            assert await bob.closing() == 1001
    asyncio.run(work())
    assert hub.wait() == 0
    hub.drain()
    assert hub.seen[-1] == {"event": "ended", "reason": "interrupted"}


@pytest.mark.feature("S3.46", "S1.11")
def test_port_from_the_environment_and_addresses_of_the_machine(cast):
    with socket.socket() as free:
        free.bind(("0.0.0.0", 0))
        port = free.getsockname()[1]
    event = cast("serve", "--open", env={"PORT": str(port)}).listening()
    assert event["url"] == f"http://127.0.0.1:{port}/" and "token" not in event
    for url in event["urls"]:
        assert fetch(url + "healthz")[0] == 200
    # Bridges of containers lead to nobody outside.
    outward = [entry.address for name, entries in psutil.net_if_addrs().items() for entry in entries
               if not name.startswith(("cni", "docker", "podman", "virbr")) and entry.family == socket.AF_INET and not entry.address.startswith(("127.", "169.254."))]
    for address in outward:
        assert f"http://{address}:{port}/" in event["urls"]


@pytest.mark.feature("S3.35")
def test_its_own_certificate_is_made_once_and_kept_secret(cast, tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    first = cast("serve", "--listen", "127.0.0.1:0", "--tls", env=state)
    event = first.wait_event("listening")
    assert event["url"].startswith("https://")
    der = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port_of(event["url"]))))
    import hashlib
    assert event["fingerprint"].replace(":", "").lower() == hashlib.sha256(der).hexdigest()
    key = tmp_path / "state/rtcast/serve-key.pem"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    # Good for the addresses that it says, for those who trust it.
    trusting = ssl.create_default_context(cafile=str(tmp_path / "state/rtcast/serve-certificate.pem"))
    with urllib.request.urlopen(event["url"] + "healthz", context=trusting, timeout=10) as answer:
        assert answer.status == 200

    async def work():
        async with await NativeClient.enter(event["url"].replace("https", "wss"), "alice") as alice:
            assert alice.name == "alice"
    asyncio.run(work())
    first.stop()
    again = cast("serve", "--listen", "127.0.0.1:0", "--tls", env=state).wait_event("listening")
    assert again["fingerprint"] == event["fingerprint"]


def test_a_certificate_from_files(cast, tmp_path):
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "2",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    url = cast("serve", "--listen", "127.0.0.1:0", "--tls-cert", str(certificate), "--tls-key", str(key)).url()
    assert fetch(url + "healthz")[0] == 200
    other = tmp_path / "o.pem"
    subprocess.run(["openssl", "genrsa", "-out", other, "2048"], check=True, capture_output=True)
    status, _, error = run("serve", "--listen", "127.0.0.1:0", "--tls-cert", str(certificate), "--tls-key", str(other))
    assert status == 66 and "does not belong" in error
    status, _, error = run("serve", "--listen", "127.0.0.1:0", "--tls-cert", str(key), "--tls-key", str(key))
    assert status == 66 and "BEGIN CERTIFICATE" in error


@pytest.fixture
def secured(cast, tmp_path):
    return port_of(cast("serve", "--listen", "127.0.0.1:0", "--tls", env={"XDG_STATE_HOME": str(tmp_path)}).url())


def shake_hands(port, **settings):
    context = untrusting()
    for name, value in settings.items():
        if name == "protocols":
            context.set_alpn_protocols(value)
        else:
            setattr(context, name, value)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain, context.wrap_socket(plain) as secure:
        return secure.version(), secure.selected_alpn_protocol(), secure.cipher()[0]


def test_which_versions_and_protocols_its_tls_takes(secured):
    assert shake_hands(secured)[:2] == ("TLSv1.3", None)
    assert shake_hands(secured, maximum_version=ssl.TLSVersion.TLSv1_2, protocols=["h2", "http/1.1"])[:2] == ("TLSv1.2", "http/1.1")
    with pytest.raises(ssl.SSLError, match="(?i)no.application.protocol"):
        shake_hands(secured, protocols=["h2"])
    # Forward secrecy and AEAD, or nothing.
    context = untrusting()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AES128-SHA:AES256-SHA256:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA")
    with socket.create_connection(("127.0.0.1", secured), timeout=10) as plain, pytest.raises(ssl.SSLError):
        context.wrap_socket(plain)


def test_a_renegotiation_is_refused(secured):
    from OpenSSL import SSL

    context = SSL.Context(SSL.TLS_CLIENT_METHOD)
    context.set_max_proto_version(SSL.TLS1_2_VERSION)
    with socket.create_connection(("127.0.0.1", secured)) as plain:
        connection = SSL.Connection(context, plain)
        connection.set_connect_state()
        connection.do_handshake()
        assert connection.renegotiate()
        with pytest.raises(SSL.Error, match="no renegotiation"):
            connection.do_handshake()
    assert shake_hands(secured)[0] == "TLSv1.3"


def test_its_tls_outlives_rubbish(secured):
    import random

    noise = random.Random(5)
    for count in range(60):
        with socket.create_connection(("127.0.0.1", secured), timeout=10) as plain:
            plain.sendall((b"\x16\x03\x01" if count % 2 else b"") + noise.randbytes(1 + count * 20))
            if count % 3:
                plain.shutdown(socket.SHUT_WR)
    assert shake_hands(secured)[0] == "TLSv1.3"


@pytest.mark.parametrize("arguments, status", [
    (["--tls-cert", "x"], 64), (["--tls", "--tls-cert", "x", "--tls-key", "y"], 64), (["--tls-cert", "/x", "--tls-key", "/y"], 66),
    (["--tokens", "/nothing"], 66), (["--max-peers", "0"], 64), (["--max-message", "1"], 64), (["--token", ""], 64),
    (["--allow-origin", "app"], 64), (["--ice-server", "http://x"], 64), (["--listen", "127.0.0.1"], 64),
    (["--listen", "192.0.2.1:0"], 69), (["--open", "--token", "sesame"], 64),
    (["--frame-ancestors", "app"], 64), (["--token", "short"], 64),
])
def test_what_cannot_be_is_said(arguments, status):
    got, output, error = run("serve", *arguments)
    assert got == status and output == "" and error.strip(), error


def test_tokens_of_all_and_of_single_peers(cast, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("# theirs\nalice  hers\n\nbob\this\n")
    url = cast("serve", "--listen", "127.0.0.1:0", "--token", "sesame", "--tokens", str(tokens)).url()
    assert url.endswith("#token=sesame")
    base = url.split("#")[0]
    assert fetch(base + "metrics")[0] == 401
    assert fetch(base + "metrics", Authorization="Bearer sesame")[0] == 200

    async def work():
        for name, token, admitted in [("alice", "hers", True), ("alice", "sesame", False), ("carol", "sesame", True),
                                      ("bob", "hers", False), ("carol", None, False)]:
            async with await NativeClient.open(base + "hub") as client:
                await client.say({"type": "register", "id": name, **({"token": token} if token else {})})
                answer = await client.hear()
                assert answer["type"] == "registered" if admitted else answer["code"] == "bad-token", (name, token, answer)
        async with await PeerJSClient.enter(base, "dave", key="sesame"):
            assert await PeerJSClient.peers(base, "sesame") == (200, ["dave"])
            assert await PeerJSClient.peers(base, "hers") == (401, None)
    asyncio.run(work())
    tokens.write_text("alice\n")
    status, _, error = run("serve", "--tokens", str(tokens))
    assert status == 66 and "Line 1" in error


def test_pages_of_other_sites_are_refused_unless_allowed(cast):
    closed = cast("serve", "--listen", "127.0.0.1:0").url()
    opened = cast("serve", "--listen", "127.0.0.1:0", "--allow-origin", "https://app.example").url()

    async def work():
        for url, origin, status in [(closed, "https://app.example", 403), (opened, "https://app.example", 101),
                                    (opened, "https://else.example", 403), (closed, closed.rstrip("/"), 101)]:
            async with aiohttp.ClientSession() as session:
                try:
                    await (await session.ws_connect(url + "hub", origin=origin)).close()
                    got = 101
                except aiohttp.WSServerHandshakeError as error:
                    got = error.status
                assert got == status, (url, origin)
    asyncio.run(work())


def test_hostile_clients_are_answered_and_harm_nobody(cast):
    hub = cast("serve", "--listen", "127.0.0.1:0", "--max-message", "2000", "--max-rate", "20")
    url = hub.url()

    async def work():
        async with await NativeClient.enter(url, "alice") as alice, await NativeClient.enter(url, "mallory") as mallory:
            for text in ["", "{", "[]", "null", '{"type":7}', '{"type":"signal","to":"alice"}', "\u0000", "[" * 1000]:
                await mallory.say(text)
                assert (await mallory.hear())["code"] == "malformed", text
            await mallory.say({"type": "signal", "to": "nobody", "data": 1})
            assert (await mallory.hear())["code"] == "unknown-peer"
            for _ in range(400):
                await mallory.say({"type": "signal", "to": "alice", "data": "x"})
            assert (await mallory.hear(code="too-fast"))["message"]
            async with await NativeClient.open(url + "hub") as large:
                await large.say("x" * 5000)
                assert (await large.hear())["code"] == "too-large"
                assert await large.closing() == 1009
            async with await NativeClient.open(url + "hub") as binary:
                await binary.socket.send_bytes(b"x")
                assert (await binary.hear())["code"] == "not-text"
                assert await binary.closing() == 1003
            await alice.say({"type": "ping"})
            await alice.hear(type="pong")
    asyncio.run(work())


def test_a_client_that_never_reads_costs_a_bounded_amount(cast):
    hub = cast("serve", "--listen", "127.0.0.1:0", "--max-rate", "5000")
    url = hub.url()

    async def work():
        # 64 megabytes, from as many: nobody may send more than one at once.
        async with contextlib.AsyncExitStack() as stack:
            senders = [await stack.enter_async_context(await NativeClient.enter(url, f"sender{i}")) for i in range(64)]
            reader, writer = await asyncio.open_connection("127.0.0.1", port_of(url), limit=1024)
            writer.write(b"GET /hub HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                         b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            writer.transport.pause_reading()
            register = b'{"type":"register","id":"stuck"}'
            writer.write(bytes([0x81, 0x80 | len(register)]) + bytes(4) + register)
            hub.wait_event("peer", where=lambda event: event["id"] == "stuck")
            before = psutil.Process(hub.process.pid).memory_info().rss
            for _ in range(10):
                for sender in senders:
                    await sender.signal("stuck", "x" * 100_000)
            for sender in senders:
                await sender.say({"type": "ping"})
                await sender.hear(type="pong")
            grown = psutil.Process(hub.process.pid).memory_info().rss - before
            assert grown < 40 << 20, f"{grown >> 20} MiB more"
            writer.close()
    asyncio.run(work())


def test_ten_thousand_connections_that_say_nothing(cast):
    """B3: the oldest give way, and keep nobody out meanwhile; the log has a line a minute."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 12_000:
        pytest.skip("this machine lets nobody have 12,000 open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    hub = cast("serve", "--listen", "127.0.0.1:0", "--max-connections", "500")
    url = hub.url()
    port = port_of(url)
    silent = []
    try:
        for number in range(10_000):
            connection = socket.create_connection(("127.0.0.1", port), timeout=10)
            connection.setblocking(False)
            silent.append(connection)
            if number % 1_000 == 999:
                assert fetch(url + "healthz")[0] == 200, "somebody was kept out"
        waiting, deadline = set(silent), time.monotonic() + 10
        while len(waiting) > 600:
            assert time.monotonic() < deadline, f"{len(waiting)} wait"
            for connection in list(waiting):
                try:
                    if connection.recv(65536):
                        continue
                except BlockingIOError:
                    continue
                except ConnectionError:
                    pass
                waiting.discard(connection)
            time.sleep(0.05)
        rss = psutil.Process(hub.process.pid).memory_info().rss
        assert rss < 120 << 20, f"{rss >> 20} MiB"
        warnings = [line for line in hub.stderr if "one was sent away" in line]
        assert len(warnings) <= 3, warnings
    finally:
        for connection in silent:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
