"""rtcast as a service: what it tells systemd, the sockets that it is passed, and SIGHUP. A stand-in for systemd's notify socket listens,
as the kernel tells it who sent what."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import pytest

from harness.rtcast import BINARY, ROOT, Rtcast, run, surroundings
from harness.signaling import NativeClient, untrusting

UNITS = ROOT / "packaging/systemd"


class Manager:
    """The service manager's end: messages, each with the process that sent it."""

    def __init__(self, name):
        self.name = name
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(name.replace("@", "\0", 1))
        self.said = []

    def env(self, **more):
        return {"NOTIFY_SOCKET": self.name, **more}

    def wait(self, beginning, timeout=20):
        """The next line that begins so."""
        deadline = time.monotonic() + timeout
        while True:
            self.socket.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                data, control, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(struct.calcsize("3i")))
            except TimeoutError:
                raise AssertionError(f"no {beginning!r} within {timeout} s; {self.said}") from None
            self.sender = struct.unpack("3i", control[0][2])[0]
            lines = data.decode().split("\n")
            self.said += lines
            for line in lines:
                if line.startswith(beginning):
                    return line


@pytest.fixture
def manager():
    folder = tempfile.mkdtemp(prefix="rtcast-notify-")
    yield Manager(folder + "/notify")
    shutil.rmtree(folder)


@contextlib.contextmanager
def listening(address=("127.0.0.1", 0), family=socket.AF_INET, kind=socket.SOCK_STREAM, only6=True):
    with socket.socket(family, kind) as server:
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(only6))
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen()
        yield server


def fetch(url, token=None):
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    with urllib.request.urlopen(request, timeout=10, context=untrusting()) as answer:
        return answer.status, answer.read().decode()


def status_of(url, token=None):
    try:
        return fetch(url, token)[0]
    except urllib.error.HTTPError as error:
        return error.code


def certificate(folder, name="localhost"):
    """A new certificate and key in these files; its bytes (DER)."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)
    (folder / "key.pem").chmod(0o600)
    return ssl.PEM_cert_to_DER_cert((folder / "cert.pem").read_text())


def shown_by(url):
    port = int(url.split(":")[2].split("/")[0])
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port)))


def secret_file(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def reload(process, manager):
    process.process.send_signal(signal.SIGHUP)
    manager.wait("RELOADING=1")
    manager.wait("READY=1")


def test_a_hub_says_when_it_is_ready_and_when_it_stops(cast, manager):
    hub = cast("serve", "--listen", "127.0.0.1:0", "--token", "s3cret-s3cret", env=manager.env())
    manager.wait("READY=1")
    assert manager.sender == hub.process.pid
    url = hub.url()
    assert fetch(url.split("#")[0] + "healthz")[0] == 200
    assert manager.wait("STATUS=") == f"STATUS=Serving at {url.split('#')[0]}: 0 peers, 0 streams."
    hub.process.send_signal(signal.SIGTERM)
    manager.wait("STOPPING=1")
    assert hub.wait() == 0
    assert not any("s3cret" in line for line in manager.said)


def test_the_status_counts_peers(cast, manager):
    hub = cast("serve", "--listen", "127.0.0.1:0", "--open", env=manager.env())

    url = hub.url()
    manager.wait("STATUS=")

    async def visit():
        async with await NativeClient.enter(url, "alice"):
            assert " 1 peer, " in await asyncio.to_thread(manager.wait, "STATUS=")
    asyncio.run(visit())


def test_a_cast_says_when_it_is_ready_and_who_watches(cast, manager):
    process = cast("test", "--pattern", "clock", env=manager.env())
    manager.wait("READY=1")
    event = process.listening()
    viewer = cast("watch", event["url"], "--no-window")
    while not manager.wait("STATUS=").endswith(": 1 viewer."):
        pass
    viewer.stop()
    while not manager.wait("STATUS=").endswith(": 0 viewers."):
        pass
    process.process.send_signal(signal.SIGTERM)
    manager.wait("STOPPING=1")
    assert process.wait() == 0
    assert not any(event["token"] in line for line in manager.said)


@pytest.mark.parametrize("command", [("serve", "--listen", "127.0.0.1:0"), ("test", "--pattern", "clock")], ids=["hub", "cast"])
def test_signs_of_life_come_while_it_lives(cast, manager, command):
    process = cast(*command, env=manager.env(WATCHDOG_USEC="400000"))
    process.listening()
    for _ in range(4):
        manager.wait("WATCHDOG=1", timeout=10)
    # A process that stands still is silent: this is how systemd finds out.
    process.process.send_signal(signal.SIGSTOP)
    manager.socket.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            manager.socket.recv(4096)
    with pytest.raises(AssertionError):
        manager.wait("WATCHDOG=1", timeout=1.2)
    process.process.send_signal(signal.SIGCONT)
    manager.wait("WATCHDOG=1")


def test_a_socket_whose_name_is_no_file(cast):
    manager = Manager(f"@rtcast-test-{os.getpid()}")
    cast("serve", "--listen", "127.0.0.1:0", env=manager.env())
    manager.wait("READY=1")


def test_a_service_manager_that_is_gone_keeps_nobody_from_casting(cast, tmp_path):
    hub = cast("serve", "--listen", "127.0.0.1:0", env={"NOTIFY_SOCKET": str(tmp_path / "none")})
    assert fetch(hub.url() + "healthz")[0] == 200
    assert any("service manager's socket" in line for line in hub.stderr)


def test_the_hub_takes_over_a_socket_with_those_who_wait_there(cast):
    with listening() as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            hub = cast("serve", sockets=[server])
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
        assert hub.url() == f"http://127.0.0.1:{port}/"


def test_a_cast_takes_over_a_socket(cast):
    with listening() as server:
        event = cast("test", "--pattern", "clock", sockets=[server]).listening()
        assert event["url"].startswith(f"http://127.0.0.1:{server.getsockname()[1]}/#token=")
        assert status_of(event["url"].split("#")[0]) == 200


def test_two_sockets_are_every_address(cast):
    with listening(("0.0.0.0", 0)) as four, listening(("::", four.getsockname()[1]), socket.AF_INET6) as six:
        port = four.getsockname()[1]
        event = cast("serve", "--open", sockets=[four, six]).listening()
        assert event["url"] == f"http://127.0.0.1:{port}/"
        for url in [*event["urls"], f"http://[::1]:{port}/"]:
            assert fetch(url + "healthz")[0] == 200


def test_sockets_for_another_process_are_not_taken(cast):
    with listening() as server:
        hub = cast("serve", "--listen", "127.0.0.1:0", env={"LISTEN_FDS": "1", "LISTEN_PID": "1"})
        assert f":{server.getsockname()[1]}/" not in hub.url()


@pytest.mark.parametrize("kind", ["option", "datagrams", "both versions"])
def test_sockets_that_cannot_serve_are_refused_with_the_remedy(kind):
    options = {"option": {}, "datagrams": {"kind": socket.SOCK_DGRAM},
               "both versions": {"family": socket.AF_INET6, "address": ("::", 0), "only6": False}}[kind]
    with listening(**options) as server:
        arguments = ["--listen", "127.0.0.1:0"] if kind == "option" else []
        process = Rtcast("serve", *arguments, sockets=[server])
        assert process.wait() == 64
        remedy = {"option": "--listen", "datagrams": "ListenStream=", "both versions": "BindIPv6Only=ipv6-only"}[kind]
        assert remedy in "".join(process.stderr), process.stderr


def test_a_new_certificate_is_shown_to_those_who_come_and_nobody_has_to_leave(cast, manager, tmp_path):
    old = certificate(tmp_path)
    hub = cast("serve", "--listen", "127.0.0.1:0", "--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"),
               env=manager.env())
    url = hub.url()
    manager.wait("READY=1")
    assert shown_by(url) == old

    async def work():
        async with await NativeClient.enter(url.replace("https", "wss"), "alice") as alice:
            new = certificate(tmp_path, "other")
            await asyncio.to_thread(reload, hub, manager)
            assert await asyncio.to_thread(shown_by, url) == new != old
            await alice.say({"type": "join", "room": "den"})
            await alice.hear(type="peers")
    asyncio.run(work())


def test_a_certificate_behind_a_link_is_followed_to_its_new_file(cast, manager, tmp_path):
    """As certbot renews them: the link leads to another file, in a folder that the confined program has to read."""
    (tmp_path / "live").mkdir()
    for number in (1, 2):
        folder = tmp_path / "archive" / str(number)
        folder.mkdir(parents=True)
        certificate(folder)
        for name in ("cert", "key"):
            (folder / f"{name}.pem").rename(tmp_path / f"archive/{name}{number}.pem")

    def lead_to(number):
        for name in ("cert", "key"):
            (tmp_path / f"live/{name}.new").symlink_to(f"../archive/{name}{number}.pem")
            (tmp_path / f"live/{name}.new").rename(tmp_path / f"live/{name}.pem")

    lead_to(1)
    hub = cast("serve", "--listen", "127.0.0.1:0", "--tls-cert", str(tmp_path / "live/cert.pem"), "--tls-key", str(tmp_path / "live/key.pem"),
               env=manager.env())
    url = hub.url()
    manager.wait("READY=1")
    lead_to(2)
    reload(hub, manager)
    assert shown_by(url) == ssl.PEM_cert_to_DER_cert((tmp_path / "archive/cert2.pem").read_text()), hub.stderr


def test_new_tokens_count_for_those_who_come_and_nobody_has_to_leave(cast, manager, tmp_path):
    secret, names = secret_file(tmp_path / "token", "first-first-first\n"), secret_file(tmp_path / "tokens", "alice alice-alice-1\n")
    hub = cast("serve", "--listen", "127.0.0.1:0", "--token-file", secret, "--tokens", names, env=manager.env())
    url = hub.url().split("#")[0]
    manager.wait("READY=1")

    async def refusal(**members):
        client = await NativeClient.open(url.rstrip("/") + "/hub")
        async with client:
            await client.say({"type": "register", **members})
            return (await client.hear(type="error"))["code"]

    async def work():
        async with await NativeClient.enter(url, "alice", token="alice-alice-1") as alice, \
                await NativeClient.enter(url, "bob", token="first-first-first") as bob:
            # Replaced as editors do it, by another file of the same name.
            secret_file(tmp_path / "token.new", "second-second-second\n")
            (tmp_path / "token.new").rename(secret)
            secret_file(tmp_path / "tokens.new", "carol carol-carol-1\n")
            (tmp_path / "tokens.new").rename(names)
            await asyncio.to_thread(reload, hub, manager)
            assert await refusal(id="dave", token="first-first-first") == "bad-token"
            async with await NativeClient.enter(url, "carol", token="carol-carol-1"), \
                    await NativeClient.enter(url, "dave", token="second-second-second"):
                pass
            await alice.signal("bob", {"hello": 1})
            await bob.hear(type="signal")
    asyncio.run(work())


def test_what_cannot_be_read_leaves_the_settings_as_they_were(cast, manager, tmp_path):
    old = certificate(tmp_path)
    secret = secret_file(tmp_path / "token", "first-first-first\n")
    hub = cast("serve", "--listen", "127.0.0.1:0", "--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"),
               "--token-file", secret, env=manager.env())
    url = hub.url().split("#")[0]
    manager.wait("READY=1")
    secret_file(tmp_path / "token", "second-second-second\n")
    (tmp_path / "cert.pem").write_text("no certificate")
    reload(hub, manager)
    assert shown_by(url) == old
    assert status_of(url + "metrics", "first-first-first") == 200 and status_of(url + "metrics", "second-second-second") == 401
    assert any("The settings stay as they were." in line for line in hub.stderr), hub.stderr


def test_a_link_that_was_revoked_stays_revoked(cast, manager, tmp_path):
    secret = secret_file(tmp_path / "token", "first-first-first\n")
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    hub = cast("serve", "--listen", "127.0.0.1:0", "--token-file", secret, "--control", env=manager.env(**state), stdin=subprocess.PIPE)
    url = hub.url().split("#")[0]
    manager.wait("READY=1")
    link = run("link", url, "--token-file", secret, "--role", "metrics", env=state)[1].split("#token=")[1].split()[0]
    assert status_of(url + "metrics", link) == 200
    hub.command("revoke", link)
    hub.wait_event("control")
    reload(hub, manager)
    assert status_of(url + "metrics", link) == 401 and status_of(url + "metrics", "first-first-first") == 200


def test_a_preset_is_read_again(cast, manager, tmp_path):
    preset = tmp_path / "mine.json"
    preset.write_text(json.dumps({"fps": 4}))
    process = cast("test", "--pattern", "clock", "--preset", str(preset), env=manager.env())
    manager.wait("READY=1")
    process.wait_event("stats", where=lambda event: 0 < event["fps_captured"] < 6)
    (tmp_path / "new.json").write_text(json.dumps({"fps": 20}))
    (tmp_path / "new.json").rename(preset)
    reload(process, manager)
    process.wait_event("stats", where=lambda event: event["fps_captured"] > 15)


def test_a_line_in_the_journal_has_a_priority():
    read, write = os.pipe()
    stream = os.fstat(write)
    env = {**surroundings(), "NOTIFY_SOCKET": "/none", "JOURNAL_STREAM": f"{stream.st_dev}:{stream.st_ino}"}
    subprocess.run([BINARY, "test", "--duration", "0.1", "--json"], stderr=write, stdout=subprocess.DEVNULL, env=env, timeout=20, check=True)
    os.close(write)
    with os.fdopen(read) as lines:
        assert lines.readline().startswith("<4>The service manager's socket /none")


class Journal:
    """The journal's end of its native protocol."""

    def __init__(self, folder):
        self.path = str(folder / "journal")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)

    def wait(self, beginning, timeout=20):
        """The fields of the next entry whose message begins so."""
        deadline, seen = time.monotonic() + timeout, []
        while True:
            self.socket.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                data = self.socket.recv(65_536)
            except TimeoutError:
                raise AssertionError(f"no {beginning!r} within {timeout} s; {seen}") from None
            fields = {}
            while data:
                line, _, data = data.partition(b"\n")
                name, sign, value = line.partition(b"=")
                if not sign:
                    count = struct.unpack("<Q", data[:8])[0]
                    value, data = data[8:8 + count], data[9 + count:]
                fields[name.decode()] = value.decode()
            seen.append(fields)
            if fields["MESSAGE"].startswith(beginning):
                return fields


def test_the_journal_gets_entries_with_fields(cast, tmp_path):
    journal = Journal(tmp_path)
    read, write = os.pipe()
    stream = os.fstat(write)
    env = {**surroundings(), "JOURNAL_STREAM": f"{stream.st_dev}:{stream.st_ino}", "RTCAST_JOURNAL_SOCKET": journal.path}
    process = subprocess.Popen([BINARY, "test", "--pattern", "clock", "--json"], stderr=write, stdout=subprocess.PIPE, env=env, text=True)
    os.close(write)
    try:
        url = next(event["url"] for event in map(json.loads, process.stdout) if event["event"] == "listening")
        viewer = cast("watch", url, "--no-window")
        joined = journal.wait("A viewer joined.")
        assert joined["PRIORITY"] == "6" and joined["SYSLOG_IDENTIFIER"] == "rtcast" and joined["VIEWER"]
        viewer.stop()
        left = journal.wait("A viewer left.")
        assert left["VIEWER"] == joined["VIEWER"] and left["REASON"]
    finally:
        process.terminate()
        process.wait(10)
    with os.fdopen(read) as lines:
        assert lines.read() == "", "each line is in one place"


def test_a_journal_that_does_not_take_an_entry_gets_a_line(tmp_path):
    """The socket is there, and nobody reads it any more."""
    journal = Journal(tmp_path)
    read, write = os.pipe()
    stream = os.fstat(write)
    env = {**surroundings(), "JOURNAL_STREAM": f"{stream.st_dev}:{stream.st_ino}", "RTCAST_JOURNAL_SOCKET": journal.path}
    journal.socket.close()
    process = subprocess.Popen([BINARY, "test", "--pattern", "clock", "--json", "--control", "unix:/etc/hostname"], stderr=write,
                               stdout=subprocess.DEVNULL, env=env)
    os.close(write)
    with os.fdopen(read) as lines:
        assert lines.readline().startswith("<3>The socket /etc/hostname cannot be made")
    assert process.wait(20) == 69


def test_without_a_service_manager_a_hang_up_ends_the_program(cast):
    hub = cast("serve", "--listen", "127.0.0.1:0")
    hub.listening()
    hub.process.send_signal(signal.SIGHUP)
    assert hub.wait() == 0
    hub.drain()
    assert hub.seen[-1]["event"] == "ended"


@pytest.fixture
def units(tmp_path):
    """The units with a program that is there."""
    for unit in UNITS.glob("rtcast-*"):
        (tmp_path / unit.name).write_text(unit.read_text().replace("/usr/bin/rtcast", "/bin/true"))
    return tmp_path


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd-analyze")
def test_the_units_are_confined_and_in_order(units):
    def told(*words, **env):
        done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, env={**os.environ, **env})
        return done.returncode, done.stdout + done.stderr

    status, text = told("security", "--offline=true", "--no-pager", "--threshold=20", str(units / "rtcast-hub.service"))
    assert status == 0, text
    status, text = told("verify", "--man=no", *map(str, units.glob("rtcast-hub.*")))
    assert status == 0 and "rtcast" not in text, text
    status, text = told("verify", "--user", "--man=no", str(units / "rtcast-screen.service"), XDG_RUNTIME_DIR=str(units))
    assert status == 0 and "cycle" not in text, text
