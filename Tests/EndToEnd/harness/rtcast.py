"""The rtcast binary under test, driven through its public face: arguments, JSON lines, signals, exit status."""

import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from harness import json_page

ROOT = Path(__file__).resolve().parents[3]
BINARY = os.environ.get("RTCAST", str(ROOT / ".build/release/rtcast"))
# What is kept from run to run is kept here, and not for whoever runs the tests.
STATE = tempfile.mkdtemp(prefix="rtcast-state-")
# There is no configuration: that of whoever runs the tests must not change them.
CONFIGURATION = STATE + "/config"
os.mkdir(CONFIGURATION, 0o700)
# PulseAudio's library has a cookie and a link there, and complains where it may not make them.
_pulse = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "pulse"
if _pulse.is_dir():
    shutil.copytree(_pulse, CONFIGURATION + "/pulse", symlinks=True)


class Rtcast:
    def __init__(self, *arguments, display=None, json_lines=True, env=None, stdin=subprocess.DEVNULL, sockets=(), without=()):
        """`stdin` may be `subprocess.PIPE`: then `write` and `command` feed it. `sockets` are passed as a service manager passes them.
        `without`: variables that are not set."""
        environment = surroundings(display, env)
        for name in without:
            environment.pop(name, None)
        command = passing(sockets) + [BINARY, *arguments] + (["--json"] if json_lines else [])
        self.process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
            pass_fds=[each.fileno() for each in sockets])
        self.lines = queue.Queue()
        self.seen = []
        self.stderr = []
        self._readers = [threading.Thread(target=self._read_stdout, daemon=True),
                         threading.Thread(target=self._read_stderr, daemon=True)]
        for reader in self._readers:
            reader.start()

    def _read_stdout(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_stderr(self):
        for line in self.process.stderr:
            self.stderr.append(line)

    def wait_event(self, name, timeout=20, where=lambda event: True):
        """The next event called `name` for which `where` holds."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {name!r} event within {timeout} s; seen {self.seen[-5:]}; stderr {self.stderr[-10:]}")
            if line is None:
                raise AssertionError(f"rtcast ended before {name!r}; seen {self.seen[-5:]}; stderr {self.stderr[-10:]}")
            event = json_page.check(json.loads(line))
            self.seen.append(event)
            if event["event"] == name and where(event):
                return event

    def drain(self):
        while True:
            try:
                line = self.lines.get_nowait()
            except queue.Empty:
                return
            if line:
                self.seen.append(json_page.check(json.loads(line)))

    def listening(self):
        """Where it is reached: `url`, as people open it; `whep`; `hub`; and `token` apart."""
        return self.wait_event("listening")

    def url(self):
        return self.listening()["url"]

    def write(self, data):
        """Bytes for the cast's standard input; False once it no longer reads."""
        try:
            self.process.stdin.buffer.write(data)
            self.process.stdin.buffer.flush()
            return True
        except (BrokenPipeError, ValueError):
            return False

    def command(self, name, *arguments):
        """One line of `--control`."""
        assert self.write((json.dumps({"command": name, "arguments": list(arguments)}) + "\n").encode()), "the cast reads no more"

    def end_of_input(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def wait(self, timeout=15):
        code = self.process.wait(timeout)
        for reader in self._readers:
            reader.join(5)
        return code

    def stop(self):
        if self.process.poll() is None:
            self.interrupt()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                self.drain()
                raise AssertionError(f"{self.process.args[1:]} did not end within 10 s of Ctrl-C; seen {self.seen[-5:]}; "
                                     f"stderr {self.stderr[-10:]}")


def passing(sockets):
    """A command in front of another one: the sockets become the descriptors from 3 on (sd_listen_fds(3))."""
    if not sockets:
        return []
    # By way of higher numbers, so that no descriptor is overwritten before it is moved.
    moves = [f"exec {60 + index}<&{each.fileno()}" for index, each in enumerate(sockets)]
    moves += [f"exec {3 + index}<&{60 + index} {60 + index}<&-" for index in range(len(sockets))]
    script = "; ".join([*moves, f"export LISTEN_PID=$$ LISTEN_FDS={len(sockets)}", 'exec "$@"'])
    return ["bash", "-c", script, "bash"]


def run(*arguments, display=None, timeout=20, env=None, stdin=b""):
    """Runs rtcast to its end: (exit status, stdout, stderr)."""
    done = subprocess.run([BINARY, *arguments], capture_output=True, timeout=timeout, env=surroundings(display, env), input=stdin)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def surroundings(display=None, env=None):
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "RTCAST_TOKEN")}
    environment["XDG_STATE_HOME"] = STATE
    environment["XDG_CONFIG_HOME"] = CONFIGURATION
    if display:
        environment["DISPLAY"] = display
    environment.update(env or {})
    return environment


def bearer(event):
    """The header that lets a program in, by a `listening` event."""
    return {"Authorization": f"Bearer {event['token']}"} if "token" in event else {}


class Door(str):
    """An address of a cast, and the header that lets in there."""

    def __new__(cls, address, authorization):
        door = super().__new__(cls, address)
        door.authorization = authorization
        return door

    def __add__(self, more):
        return Door(str(self) + more, self.authorization)


def door(event):
    """The WHEP endpoint of a `listening` event, and the header that lets in there."""
    return Door(event["whep"], bearer(event))
