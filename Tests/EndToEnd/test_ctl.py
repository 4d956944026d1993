"""A running cast, call or hub is commanded through its socket: by `rtcast ctl`, and by clients that keep no rule."""

import json
import re
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from harness import json_page
from harness.browser import Viewer
from harness.rtcast import BINARY, run, surroundings

CAST = ("test", "--pattern", "clock", "--fps", "10", "--size", "320x180")
LINE = b'{"command": "keyframe"}\n'


@pytest.fixture
def session():
    """A folder as XDG_RUNTIME_DIR, with a path that is short enough for sockets."""
    folder = tempfile.mkdtemp(prefix="rtcast-")
    yield Path(folder)
    shutil.rmtree(folder)


@pytest.fixture
def ctl(session):
    def ask(*words, status=0, **environment):
        code, out, err = run("ctl", *words, env={"XDG_RUNTIME_DIR": str(session), **environment})
        assert code == status, (words, code, out, err)
        return out + err
    return ask


@pytest.fixture
def commanded(cast, session):
    """A cast with the socket `talk`."""
    def start(*arguments, name="talk", **options):
        environment = {"XDG_RUNTIME_DIR": str(session), **options.pop("env", {})}
        rtcast = cast(*(arguments or CAST), "--control", f"unix:{name}", env=environment, **options)
        rtcast.listening()
        return rtcast
    return start


class Client:
    """A program at the socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)

    def event(self):
        line = self.lines.readline()
        assert line.endswith(b"\n"), f"the connection ended: {line}"
        return json_page.check(json.loads(line))

    def is_closed(self):
        try:
            return self.lines.read(1) == b""
        except ConnectionResetError:
            return True


def test_the_socket_is_for_its_user_alone_and_goes_with_the_cast(commanded, session, ctl):
    rtcast = commanded()
    path = session / "rtcast/talk.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert ctl("stop") == ""
    assert not path.exists(), "when ctl returns, the socket is gone"
    assert rtcast.wait() == 0
    rtcast.drain()
    assert rtcast.seen[-1] == {"event": "ended", "reason": "stopped"}


def test_status_says_what_is_cast_since_when_and_for_whom(commanded, ctl, browser):
    began = time.time()
    rtcast = commanded()
    link = next(event for event in rtcast.seen if event["event"] == "listening")["url"]
    viewer = Viewer(browser, link).wait_live()
    rtcast.wait_event("stats", where=lambda event: event["viewers"] == 1 and event["fps_sent"] > 5)
    status = json_page.check(json.loads(ctl("status", "--json")))
    assert status["kind"] == "cast" and status["source"] == "test" and status["urls"] == [link] and status["to"] is None
    assert status["process"] == rtcast.process.pid and began - 1 <= status["since"] <= time.time()
    assert status["viewers"] == 1 and not status["paused"]
    assert json_page.fault("stats", status["stats"]) is None and status["stats"]["fps_sent"] > 5
    text = ctl("status")
    assert re.match(rf"Casts test for \S+( s)?, process {rtcast.process.pid}\.\n  {re.escape(link)}\n  1 viewer  320×180", text), text
    [peer] = json_page.check(json.loads(ctl("viewers", "--json")))["peers"]
    joined = next(event for event in rtcast.seen if event["event"] == "peer")
    assert peer["id"] == joined["id"] and peer["state"] == "connected" and peer["codec"] == status["stats"]["codec"]
    assert peer["remote"].startswith("127.0.0.1:") or ":" in peer["remote"]
    assert peer["bitrate_bps"] > 0 and peer["rtt_ms"] is not None
    header, row = ctl("viewers").splitlines()
    assert header.split()[:3] == ["ID", "STATE", "ADDRESS"] and row.split()[:3] == [peer["id"], "connected", peer["remote"]]
    viewer.script("rtcast.pc.close()")


def test_commands_take_effect(commanded, session, ctl, clips):
    rtcast = commanded()
    assert ctl("viewers") == "No viewers.\n"
    assert ctl("pause") == "" and json.loads(ctl("--json", "status"))["paused"]
    assert json_page.check(json.loads(ctl("resume", "--json"))) == {"event": "control", "ok": True, "command": "resume"}
    assert not json.loads(ctl("status", "--json"))["paused"]
    ctl("source", "test", "--pattern", "bars", "--size", "640x360")
    rtcast.wait_event("capture", where=lambda event: event["width"] == 640)
    # A file of the working folder of ctl, which is not that of the cast.
    clip = Path(clips.numbered("numbered-ctl.mp4", seconds=2))
    done = subprocess.run([BINARY, "ctl", "source", "file", clip.name, "--loop"], cwd=clip.parent, capture_output=True, timeout=30,
                          env=surroundings(env={"XDG_RUNTIME_DIR": str(session)}))
    assert done.returncode == 0, done.stderr
    assert json.loads(ctl("status", "--json"))["source"] == "file"


def test_standard_input_and_the_socket_take_commands_at_once(commanded, session):
    rtcast = commanded(*CAST, "--control", stdin=subprocess.PIPE)
    client = Client(session / "rtcast/talk.sock")
    for fps in (5, 6, 7):
        client.send(b'{"command": "fps", "value": %d}\n' % fps)
        rtcast.command("bitrate", f"{fps}00k")
    assert [client.event()["command"] for _ in range(3)] == ["fps"] * 3
    for _ in range(3):
        assert rtcast.wait_event("control")["command"] == "bitrate"
    rtcast.command("viewers")
    assert rtcast.wait_event("viewers") == {"event": "viewers", "peers": []}


def test_clients_are_answered_each_in_its_own_order(commanded, session):
    commanded()
    clients = [Client(session / "rtcast/talk.sock") for _ in range(4)]
    answers = [[] for _ in clients]

    def talk(client, got):
        # Each third line is refused, and tells its number.
        def write():
            for number in range(90):
                client.send(LINE if number % 3 else b'{"command": "fps", "value": "n%d"}\n' % number)
        writer = threading.Thread(target=write)
        writer.start()
        got += [client.event() for _ in range(90)]
        writer.join()

    threads = [threading.Thread(target=talk, args=each) for each in zip(clients, answers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for got in answers:
        assert len(got) == 90
        for number, event in enumerate(got):
            assert event.get("command") == "keyframe" if number % 3 else f'not "n{number}"' in event["message"], (number, event)


def test_a_client_that_says_goodbye_first_is_answered(commanded, session):
    commanded()
    client = Client(session / "rtcast/talk.sock")
    client.send(LINE * 40 + b'{"command": "pause"}')
    client.socket.shutdown(socket.SHUT_WR)
    assert [client.event()["command"] for _ in range(41)] == ["keyframe"] * 40 + ["pause"]
    assert client.is_closed()


def test_a_line_of_100_kB_is_refused_and_the_next_one_read(commanded, session):
    commanded()
    client = Client(session / "rtcast/talk.sock")
    client.send(b"{" * 100_000 + b"\n" + LINE)
    assert "64 KiB" in client.event()["message"]
    assert client.event()["command"] == "keyframe"


def test_a_client_that_never_reads_is_let_go_and_holds_nobody_up(commanded, session, ctl):
    rtcast = commanded()
    deaf = Client(session / "rtcast/talk.sock")
    asks = b'{"command": "status"}\n' * 100
    deaf.socket.settimeout(60)
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        # Its answers fill what is kept of them, or it takes nothing for ten seconds: it is disconnected either way.
        while True:
            deaf.send(asks)
            assert ctl("pause") == ""
    before = rtcast.wait_event("stats")["t_ms"]
    rtcast.wait_event("stats", timeout=5, where=lambda event: event["t_ms"] > before)
    assert ctl("resume") == ""


def test_one_client_too_many_is_told_so(commanded, session, ctl):
    commanded()
    crowd = [Client(session / "rtcast/talk.sock") for _ in range(16)]
    for client in crowd:
        client.send(LINE)
        client.event()
    late = Client(session / "rtcast/talk.sock")
    assert "no more are accepted" in late.event()["message"] and late.is_closed()
    crowd[0].socket.shutdown(socket.SHUT_RDWR)
    assert crowd[0].is_closed()
    assert ctl("pause") == ""


def test_a_socket_of_a_dead_cast_is_replaced(commanded, session, ctl):
    rtcast = commanded()
    rtcast.process.kill()
    rtcast.process.wait()
    path = session / "rtcast/talk.sock"
    assert path.exists()
    assert "Nobody takes commands" in ctl("status", status=69)
    commanded()
    assert ctl("pause") == ""


def test_a_socket_in_use_is_refused_and_stays(commanded, session, ctl):
    commanded()
    code, out, err = run(*CAST, "--control", "unix:talk", env={"XDG_RUNTIME_DIR": str(session)})
    assert code == 69 and "Another program takes commands" in err, (code, out, err)
    assert ctl("pause") == ""


@pytest.mark.parametrize("path, status, words", [
    ("/no/such/folder/x", 69, "cannot be made"), ("/" + "x" * 120, 64, "has 1 to 107 bytes"), ("/etc/hostname", 69, "cannot be made")])
def test_a_path_where_no_socket_can_be_is_refused(path, status, words):
    code, _, err = run(*CAST, "--control", f"unix:{path}")
    assert code == status and words in err, (code, err)


def test_nobody_to_command(ctl, session):
    assert "No cast, call or hub takes commands" in ctl("status", status=69)
    assert "Nobody takes commands" in ctl("--socket", "/no/such/socket", "pause", status=69)
    assert "Nobody takes commands" in ctl("pause", status=69, RTCAST_CONTROL="unix:nobody")
    failed = json_page.check(json.loads(ctl("status", "--json", status=69).splitlines()[0]))
    assert failed["status"] == 69


@pytest.mark.quick
def test_a_command_that_is_none_is_refused_by_the_nearest_name(ctl):
    assert 'is "status" meant?' in ctl("statsu", status=64)
    assert "Name a command" in ctl(status=64)
    assert "takes one value" in ctl("bitrate", status=64)
    assert "Command a running cast" in ctl("--help")


def test_a_command_of_others_is_refused(commanded, ctl):
    commanded()
    assert "is for calls; this is a cast" in ctl("hangup", status=64)


def test_several_casts_are_told_apart(commanded, session, ctl):
    commanded()
    commanded(name="other")
    refused = ctl("status", status=64)
    assert "talk.sock" in refused and "other.sock" in refused
    ctl("--socket", "other", "pause")
    assert json.loads(ctl("status", "--json", RTCAST_CONTROL="unix:other"))["paused"]
    path = session / "rtcast/talk.sock"
    assert not json.loads(ctl("status", "--json", "--socket", str(path)))["paused"]
    ctl("--socket", "other", "stop")
    assert not json.loads(ctl("status", "--json"))["paused"], "the only one that is left"


def test_the_hub_is_commanded_too(commanded, ctl):
    hub = commanded("serve", "--listen", "127.0.0.1:0")
    status = json_page.check(json.loads(ctl("status", "--json")))
    assert status["kind"] == "hub" and status["peers"] == 0 and status["streams"] == []
    assert status["urls"] == [next(event for event in hub.seen if event["event"] == "listening")["url"]]
    assert ctl("status").startswith("Hub for ")
    assert "is for casts; this is a hub" in ctl("viewers", status=64)
    assert ctl("stop") == "" and hub.wait() == 0


def test_a_call_is_commanded_too(cast, session, ctl):
    hub = cast("serve", "--listen", "127.0.0.1:0").listening()["hub"]
    environment = {"XDG_RUNTIME_DIR": str(session)}
    quiet = ("--server", hub, "--no-window", "--audio", "none")
    bob = cast("call", *quiet, "--name", "bob", "--answer", "auto")
    bob.wait_event("registered")
    alice = cast("call", "bob", *quiet, "--name", "alice", "--control", "unix:call", env=environment)
    alice.wait_event("peer", where=lambda event: event["state"] == "connected")
    status = json_page.check(json.loads(ctl("status", "--json")))
    assert status["kind"] == "call" and status["id"] == "alice" and status["state"] == "connected"
    assert [peer["id"] for peer in status["stats"]] == ["bob"]
    assert ctl("status").startswith("Call as alice at ")
    assert "is for casts; this is a call" in ctl("viewers", status=64)
    assert ctl("stop") == "" and alice.wait() == 0
