"""A peer that is not ours, at the hub: what it says of calls is said here, its media connection is a process of its own.

The process reads commands and writes events, a JSON object a line:

    start {caller, iceServers?, iceTransportPolicy?}
                                a connection with a picture and a 660 Hz tone; the caller's has a data channel "chat" too
    offer, description {type, sdp}, candidate {candidate, sdpMid, sdpMLineIndex}
    add-video                   another picture, to be offered next
    say {text}, close
    drop-video, say {text, label}, say-bytes {text, label}, close-channel {label}         aiortc alone

    description, candidate, state {state}, chat {state}, message {text}, error {message}
    figures {videos: [{frames, width}], audio, tone}    what has come: pictures, sound packets, and its pitch where it can tell
    Of aiortc's, `chat` has the channel's label and retransmissions too, `message` the label and `bytes` in the place of `text`, and `videos`
    the RTP times of the last pictures.
"""

import asyncio
import json
import subprocess
import threading
import time
import uuid
from itertools import zip_longest

import aiohttp

from .signaling import NativeClient

SOUND = 660


class FarPeer:
    def __init__(self, command, hub, name):
        self.name = name
        self.command = command
        self.changed = threading.Condition()
        self.events = []
        self.figures = {"videos": [], "audio": 0, "tone": None}
        self.peer = self.call_id = self.ended = None
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.complaints = []
        self.loop = asyncio.new_event_loop()
        registered = threading.Event()
        self.threads = [threading.Thread(target=work, daemon=True) for work in (
            lambda: self.loop.run_until_complete(self._attend(hub, registered)), self._read, self._read_complaints)]
        for thread in self.threads:
            thread.start()
        assert registered.wait(10), "not registered"

    # What a test does and sees.

    def call(self, peer):
        self.peer, self.call_id = peer, uuid.uuid4().hex
        self._signal({"type": "call", "media": {"audio": True, "video": True}})

    def hang_up(self):
        self._say({"type": "bye", "to": self.peer, "call": self.call_id})
        self.do("close")

    def do(self, what, **more):
        try:
            self.process.stdin.write(json.dumps({"do": what, **more}) + "\n")
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            raise AssertionError(f"{self.name}'s process is gone: {''.join(self.complaints[-20:])}")

    def until(self, condition, what, timeout=20):
        """Waits until `condition()` is truthy, and returns it."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while not (value := condition()):
                left = deadline - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    told = [e for e in self.events if e["event"] not in ("hub", "description", "candidate")]
                    raise AssertionError(f"{self.name}: no {what} within {timeout} s; {self.figures}; {told[-8:]}; "
                                         f"{''.join(self.complaints[-20:])}")
                self.changed.wait(min(left, 0.5))
            return value

    def wait_event(self, event, **members):
        return self.until(lambda: next((e for e in self.events if e["event"] == event
                                        and all(e.get(k) == v for k, v in members.items())), None), f"{event} {members}")

    def wait_moving(self, count=1):
        """That many pictures come, and go on coming."""
        def frames():
            return [video["frames"] for video in self.figures["videos"]]
        self.until(lambda: sum(f > 2 for f in frames()) >= count, f"{count} pictures")
        before = frames()
        self.until(lambda: sum(now > then + 4 for then, now in zip_longest(before, frames(), fillvalue=0)) >= count,
                   f"{count} moving pictures")

    def wait_still(self):
        """No picture comes any more."""
        marks = [(None, 0.0)]

        def still():
            now, when = [video["frames"] for video in self.figures["videos"]], time.monotonic()
            if now != marks[-1][0]:
                marks.append((now, when))
            return when - marks[-1][1] > 1.0
        self.until(still, "rest")

    def wait_tone(self, hz, tolerance=0.03):
        self.until(lambda: self.figures["tone"] and abs(self.figures["tone"] / hz - 1) < tolerance, f"tone of {hz} Hz")

    def stop(self):
        asyncio.run_coroutine_threadsafe(self.client.socket.close(), self.loop)
        self.threads[0].join(5)
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    # The process.

    def _read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            with self.changed:
                if event["event"] == "figures":
                    self.figures = event
                else:
                    self.events.append(event)
                self.changed.notify_all()
            if event["event"] == "description":
                self._signal({"type": "description", "description": {"type": event["type"], "sdp": event["sdp"]}})
            elif event["event"] == "candidate":
                self._say({"type": "candidate", "to": self.peer, "call": self.call_id, "candidate": event["candidate"]})
        with self.changed:
            self.changed.notify_all()

    def _read_complaints(self):
        self.complaints.extend(self.process.stderr)

    # The hub.

    def _say(self, message):
        asyncio.run_coroutine_threadsafe(self.client.say(message), self.loop)

    def _signal(self, data):
        self._say({"type": "signal", "to": self.peer, "data": {"call": self.call_id, **data}})

    async def _attend(self, hub, registered):
        self.client = await NativeClient.enter(hub, self.name)
        registered.set()
        async for frame in self.client.socket:
            if frame.type != aiohttp.WSMsgType.TEXT:
                break
            message = json.loads(frame.data)
            with self.changed:
                self._hear(message)
                self.changed.notify_all()
        await self.client.close()

    def _hear(self, message):
        self.events.append({"event": "hub", **message})
        match message["type"]:
            case "signal" if message["data"]["type"] == "call":
                self.peer, self.call_id = message["from"], message["data"]["call"]
                self.do("start", caller=False)
                self._signal({"type": "accept"})
            case "signal" if message["data"].get("call") == self.call_id:
                data = message["data"]
                match data["type"]:
                    case "accept":
                        self.do("start", caller=True)
                        self.do("offer")
                    case "description":
                        self.do("description", **data["description"])
                    case "end" | "reject":
                        self._over(data)
            case "candidate" if message.get("call") == self.call_id and message["candidate"]:
                self.do("candidate", **message["candidate"])
            case "bye":
                self._over(message)

    def _over(self, how):
        self.ended = how
        self.do("close")
