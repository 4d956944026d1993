"""An application of the library (Tests/CallProbe), and aiortc at the other end of its own signaling: what either says is carried here."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from .far_peer import FarPeer
from .rtcast import BINARY

PROBE = Path(BINARY).parent / "CallProbe"
AIORTC = [sys.executable, str(Path(__file__).parents[1] / "peers/aiortc_peer.py")]


class Application:
    """The program's commands and events; it is called "probe"."""

    def __init__(self):
        self.changed = threading.Condition()
        self.writing = threading.Lock()
        self.events = []
        self.far = None
        self.process = subprocess.Popen([PROBE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def write(self, line):
        try:
            with self.writing:
                self.process.stdin.write(line + "\n")
                self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass   # what comes after the end concerns nobody

    def do(self, *words):
        """Returns when it is done, with what has happened since; fails where it cannot be."""
        line = " ".join(words)
        with self.changed:
            start = len(self.events)
        self.write(line)
        done = self.wait(lambda e: e["event"] in ("done", "failed") and e["command"] == line, start, what=line)
        assert done["event"] == "done", done
        return self.events[start:]

    def wait(self, where, start=0, timeout=40, what=None):
        """The first event from `start` on for which `where` holds."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while not (found := next((e for e in self.events[start:] if where(e)), None)):
                left = deadline - time.monotonic()
                assert left > 0 and self.process.poll() is None, f"no {what or 'such event'} within {timeout} s; {self.events[-12:]}"
                self.changed.wait(min(left, 0.5))
            return found

    def event(self, name, start=0, **members):
        return self.wait(lambda e: e["event"] == name and all(e.get(k) == v for k, v in members.items()), start, what=f"{name} {members}")

    def named(self, name):
        with self.changed:
            return [e for e in self.events if e["event"] == name]

    def mark(self):
        """For `start`: what comes from now on."""
        with self.changed:
            return len(self.events)

    def descriptions(self, kind):
        """The SDP of each that it has sent."""
        signals = [json.loads(e["data"]) for e in self.named("signal")]
        return [s["description"]["sdp"] for s in signals if s["type"] == "description" and s["description"]["type"] == kind]

    def hears(self, name, hertz, start):
        """A pitch of what is `played` or `tapped`; 0 is silence."""
        self.wait(lambda e: e["event"] == name and abs(int(e["hertz"]) - hertz) <= hertz * 0.03, start, what=f"{hertz} Hz {name}")

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the application does not end; {self.events[-12:]}")
        finally:
            self.reader.join(5)

    def _read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            with self.changed:
                self.events.append(event)
                self.changed.notify_all()
            match event["event"]:
                case "signal":
                    self.far.hear({"type": "signal", "from": "probe", "data": json.loads(event["data"])})
                case "candidate":
                    self.far.hear({"type": "candidate", "from": "probe", **json.loads(event["data"])})
                case "bye":
                    self.far.hear({"type": "bye", "from": "probe", "call": event["call"]})
        with self.changed:
            self.changed.notify_all()


class FarEnd(FarPeer):
    """aiortc, called "far", at the other end of the application's signaling."""

    def __init__(self, application):
        self.application = application
        application.far = self
        super().__init__(AIORTC, None, "far")

    def hear(self, message):
        with self.changed:
            self._hear(message)
            self.changed.notify_all()

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    async def _attend(self, hub, registered):
        registered.set()

    def _say(self, message):
        match message["type"]:
            case "signal":
                self.application.write(f"signal far {json.dumps(message['data'])}")
            case "candidate":
                self.application.write(f"candidate far {json.dumps({'call': message['call'], 'candidate': message['candidate']})}")
            case "bye":
                self.application.write(f"end far {message['call']}")
