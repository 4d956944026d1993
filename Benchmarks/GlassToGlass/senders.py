"""The programs that are compared. To add one, write a subclass of `Sender` and name it in `SENDERS`.

`connect` starts the program on the near host (`with stage.link.near:`), sets `self.process` to the root of its process tree, and exchanges
descriptions with the receiver: either `receiver.offer()` and `receiver.accept(answer)`, or `receiver.answer(offer)`. A program that serves
WHEP needs `answered(…)` alone.
"""

import json
import os
import re
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import websocket

from harness import rtcast
from harness.browser import chromium

ROOT = Path(__file__).resolve().parents[2]
PAGES = Path(__file__).parent / "pages"
SELKIES = Path(os.environ.get("SELKIES", ROOT / ".build/selkies/bin"))
# Host candidates with addresses instead of mDNS names, which a peer outside of a browser cannot resolve.
PLAIN_ADDRESSES = "--disable-features=WebRtcHideLocalIpsWithMdns,GlobalMediaControls"


def until(attempt, seconds, failure):
    """The first result of `attempt` that is not None."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = attempt()
        if result is not None:
            return result
        time.sleep(0.05)
    raise RuntimeError(failure)


def answered(host, url, offer, headers=None, seconds=15):
    """The answer of the WHEP endpoint `url` on `host`, which may begin to listen only now."""
    request = urllib.request.Request(url, data=offer.encode(), headers={"Content-Type": "application/sdp", **(headers or {})})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask():
        try:
            with host, opener.open(request, timeout=10) as response:
                return response.read().decode()
        except urllib.error.HTTPError as error:
            if error.code not in (404, 503):
                raise
        except urllib.error.URLError:
            pass
        return None
    return until(ask, seconds, f"{url} does not answer")


class Sender:
    """Casts the screen of `stage` at most `fps` times a second and at most `bitrate` bit/s."""

    title = ""

    def __init__(self, stage, fps, bitrate):
        self.stage, self.fps, self.bitrate = stage, fps, bitrate
        self.process = None

    def connect(self, receiver):
        raise NotImplementedError

    def version(self):
        return ""

    def stop(self):
        raise NotImplementedError


class RtcastSender(Sender):
    title = "**rtcast** VP8"
    options = ()

    def connect(self, receiver):
        with self.stage.link.near:
            self.cast = rtcast.Rtcast("screen", "--fps", str(self.fps), "--bitrate", str(self.bitrate), "--listen", "127.0.0.1:0", *self.options,
                                      display=self.stage.display)
        self.process = psutil.Process(self.cast.process.pid)
        door = rtcast.door(self.cast.listening())
        receiver.accept(answered(self.stage.link.near, str(door), receiver.offer(), door.authorization))

    def version(self):
        return rtcast.run("--version")[1].strip()   # names the commit

    def stop(self):
        if self.process:
            self.cast.stop()


class RtcastFullColour(RtcastSender):
    title = "**rtcast** H.264 4:4:4"
    options = ("--codec", "H264", "--chroma", "444")


class ChromiumSender(Sender):
    title = "Chromium VP8"
    codec = "VP8"
    driver = None

    def connect(self, receiver):
        self.driver = chromium(size=(500, 300), host=self.stage.link.near, display=self.stage.display,
                               flags=(PLAIN_ADDRESSES, "--auto-select-desktop-capture-source=Entire screen", "--window-position=1300,700"))
        self.process = psutil.Process(self.driver.driver_process.pid).children()[0]
        self.driver.get(f"file://{PAGES}/sender.html")
        self.driver.execute_script("sender.options = arguments[0]", {"codec": self.codec, "bitrate": self.bitrate, "fps": self.fps})
        self.driver.find_element("tag name", "button").click()
        offered = until(lambda: self.driver.execute_script("return sender.offered"), 20, "Chromium offers no screen")
        if "sdp" not in offered:
            raise RuntimeError(offered["error"])
        self.driver.execute_async_script("sender.accept(arguments[0]).then(arguments[1])", receiver.answer(offered["sdp"]))

    def version(self):
        return "Chromium " + self.driver.capabilities["browserVersion"]

    def stop(self):
        if self.driver:
            self.driver.quit()


class SelkiesSender(Sender):
    """Selkies in its WebRTC mode. Here is the part of its web client in its signaling, which is by WebSocket."""

    title = "Selkies H.264"
    PORT = 8091
    child = socket = None

    def connect(self, receiver):
        self.home = tempfile.TemporaryDirectory(prefix="selkies")
        command = [SELKIES / "selkies", "--mode", "webrtc", "--addr", "127.0.0.1", "--port", str(self.PORT), "--enable-basic-auth", "false",
                   "--audio-enabled", "false", "--microphone-enabled", "false", "--gamepad-enabled", "false", "--webcam-enabled", "false",
                   "--encoder", "h264enc", "--framerate", str(self.fps), "--video-bitrate", str(self.bitrate // 1000),
                   "--rate-control-mode", "cbr", "--manual-resolution", "true", "--manual-width", "1920", "--manual-height", "1080",
                   "--use-cpu", "true"]
        environment = {**os.environ, "DISPLAY": self.stage.display, "HOME": self.home.name, "XDG_RUNTIME_DIR": self.home.name,
                       "PULSE_SERVER": "unix:/nonexistent"}
        with self.stage.link.near:
            self.child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)
        self.process = psutil.Process(self.child.pid)
        self.socket = until(self._open, 30, "Selkies does not listen")
        self.socket.send("HELLO client " + json.dumps({"client_type": "controller", "client_slot": 1, "display_id": "primary",
                                                       "page_size": [1920, 1080]}))
        self.answered = threading.Event()
        threading.Thread(target=self._follow, args=(receiver,), daemon=True).start()
        if not self.answered.wait(30):
            raise RuntimeError("Selkies makes no offer")

    def _open(self):
        try:
            with self.stage.link.near:
                return websocket.create_connection(f"ws://127.0.0.1:{self.PORT}/api/ws", timeout=60, http_no_proxy=["127.0.0.1"])
        except (OSError, websocket.WebSocketException):
            return None

    def _follow(self, receiver):
        """Every message until the socket is closed."""
        try:
            while text := self.socket.recv():
                self._take(text, receiver)
        except (OSError, websocket.WebSocketException):
            pass

    def _take(self, text, receiver):
        peer, _, body = text.partition(" ")
        if text == "HELLO":
            self.socket.send("SESSION server")
        elif text.startswith("ERROR"):
            time.sleep(0.3)   # it is not ready yet
            self.socket.send("SESSION server")
        elif body.startswith("{"):
            message = json.loads(body)
            if message.get("sdp", {}).get("type") == "offer":
                answer = receiver.answer(message["sdp"]["sdp"])
                self.socket.send(f"{peer} " + json.dumps({"sdp": {"type": "answer", "sdp": answer}}))
                for candidate in re.findall(r"^a=(candidate:.*?)\r?$", answer, re.MULTILINE):
                    self.socket.send(f"{peer} " + json.dumps({"ice": {"candidate": candidate, "sdpMid": "0", "sdpMLineIndex": 0}}))
                self.answered.set()
            elif message.get("ice") and self.answered.is_set():
                receiver.candidate(message["ice"])

    def version(self):
        print_version = "import importlib.metadata as m; print(m.version('selkies'))"
        return "Selkies " + subprocess.run([SELKIES / "python", "-c", print_version], capture_output=True, text=True).stdout.strip()

    def stop(self):
        if self.socket:
            self.socket.close()
        if self.child:
            tree = [self.process, *self.process.children(recursive=True)]
            self.child.terminate()
            _, left = psutil.wait_procs(tree, 5)
            for process in left:
                process.kill()
            self.child.wait()
            self.home.cleanup()


SENDERS = {"rtcast": RtcastSender, "rtcast-444": RtcastFullColour, "chromium": ChromiumSender, "selkies": SelkiesSender}
