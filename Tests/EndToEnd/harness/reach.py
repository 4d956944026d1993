"""The bed of the tests of reach: an internet with a TURN server and a hub, two homes behind NATs, and browsers in one of them."""

import shutil
import subprocess
import tempfile
import time

import numpy as np

from . import barcode, coturn, netns
from .browser import FAKE_DEVICES, Viewer, chromium
from .coturn import PASSWORD, USER, Authority, Coturn
from .firefox import Firefox
from .hub_turn import HubTurn
from .page_peer import SELECTED

PAGE_PORT = 8080
ALICE = "10.1.0.2"
HUB_PORT = 443   # where firewalls let everybody out


def missing():
    """Why there is no such bed here; None when there is."""
    return netns.missing() or coturn.missing()


class Bed:
    """alice and dave are at home, bob is in the office; both places are behind a NAT."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="rtcast-reach-")
        self.network = netns.Network()
        self.browsers = {}
        self.turns = []
        try:
            self.turn_host = self.network.server("turn", 10)
            self.hub_host = self.network.server("hub", 20)
            self.home = self.network.site("home")
            self.office = self.network.site("office")
            self.alice = self.home.host("alice")
            self.dave = self.home.host("dave")
            self.bob = self.office.host("bob")
            self.carol = self.network.server("carol", 30)   # has no NAT before her
            self.authority = Authority(self.folder, self.turn_host.address)
        except BaseException:
            self.close()
            raise

    def nats(self, home, office):
        self.home.set_nat(home)
        self.office.set_nat(office)

    def move(self, host, site):
        """From one network to another: the old interface is gone, then there is a new one."""
        host.unplug()
        site.plug(host)

    def turn(self, **options):
        """A coturn that ends with the test."""
        self.turns.append(Coturn(self.turn_host, self.authority, **options))
        return self.turns[-1]

    def hub_turn(self, *options, **more):
        """The TURN server in a hub of ours, which ends with the test."""
        self.turns.append(HubTurn(self.turn_host, self.authority, *options, **more))
        return self.turns[-1]

    def trust(self):
        """What makes a program trust the authority of the bed."""
        return {"SSL_CERT_FILE": str(self.authority.certificate)}

    def browser(self, kind, host):
        """One of its kind for each host, for all tests."""
        if (kind, host.name) not in self.browsers:
            if kind == "chromium":
                secure = f"--unsafely-treat-insecure-origin-as-secure=http://{self.hub_host.address}:{HUB_PORT}"
                self.browsers[kind, host.name] = chromium(flags=(*FAKE_DEVICES, secure), host=host)
            else:
                with host:
                    self.browsers[kind, host.name] = Firefox(preferences={"media.peerconnection.ice.loopback": False})
        return self.browsers[kind, host.name]

    def reset(self):
        """As it was before the test."""
        for turn in self.turns:
            turn.stop()
        self.turns = []
        for browser in self.browsers.values():
            browser.get("about:blank")
        self.home.forwards = []
        self.alice.guard(False)
        if self.alice.address != ALICE:
            self.alice.unplug()
            self.home.plug(self.alice, ALICE)
        self.nats("port-restricted", "port-restricted")

    def close(self):
        for turn in self.turns:
            turn.stop()
        for browser in self.browsers.values():
            browser.quit()
        self.network.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def option(url, user=USER, password=PASSWORD):
    """As `--ice-server` takes it."""
    return ["--ice-server", url if url.startswith("stun") else f"{url},{user},{password}"]


class Page(Viewer):
    """The viewer page in either browser; scripts of Firefox's driver do not see what a page's own scripts keep in `window`."""

    def __init__(self, driver, url):
        self.driver = driver
        driver.get("about:blank")
        driver.get(url)

    def select(self):
        return self

    def state(self):
        return self.script("return (window.wrappedJSObject ?? window).rtcast?.state ?? null")

    def wait_live(self, timeout=20):
        # Chromium gives a track of which nothing has come two by two black pixels.
        self.until("document.querySelector('video')?.videoWidth > 2", timeout, "live video")
        return self

    def pair(self):
        """(type of the page's candidate, type of the cast's candidate) of the pair in use."""
        found = self.asynchronous("const done = arguments[0], page = window.wrappedJSObject ?? window;"
                                  f"(async (pc) => {{ {SELECTED} }})(page.rtcast.pc).then(done, (error) => done([String(error), null]))")
        return tuple(found[:2]) if found else None


# Pictures.

def assert_moving(watched, seconds=1.5, least=8):
    """The bar codes of pictures that were presented in that time are readable and in order; `watched` is a `Viewer` or the like."""
    seen = barcode.watch(watched, seconds)
    barcode.assert_in_order(seen, unreadable=0.1)
    assert len({one["number"] for one in seen}) >= least, seen


RECORDER = barcode.READER + r"""
const video = document.querySelector(arguments[0]), notes = window.notes = [];
const step = (now) => {
  const code = window.barcode.read(video);
  if (code && notes.at(-1)?.number !== code.frame) notes.push({ number: code.frame, at: performance.now() / 1000 });
  video.requestVideoFrameCallback(step);
};
video.requestVideoFrameCallback(step);
"""


class Recorder:
    """Notes from now on when which numbered picture is presented."""

    def __init__(self, page, video="video"):
        self.page = page
        page.script(RECORDER, video)

    def notes(self):
        return self.page.script("return window.notes")

    def mark(self):
        """The page's clock now, in seconds."""
        return self.page.script("return performance.now() / 1000")

    def wait_moving_after(self, mark, count=5, timeout=20):
        """So many pictures have been presented since that time."""
        deadline = time.monotonic() + timeout
        while sum(note["at"] > mark for note in self.notes()) < count:
            assert time.monotonic() < deadline, f"no pictures within {timeout} s; the last is {mark - self.notes()[-1]['at']:.1f} s before the mark"
            time.sleep(0.1)

    def longest_gap(self, since, until=None):
        """Seconds; `since` is a time of the page's clock at which pictures came."""
        notes = [note["at"] for note in self.notes() if note["at"] > since - 1 and (until is None or note["at"] < until)]
        return max(b - a for a, b in zip(notes, notes[1:] + [until or self.mark()]))


def recorded(path):
    """The numbers on the pictures of a recording, in their order; None where unreadable, and the time of each in seconds."""
    size = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height", "-of", "csv=p=0", str(path)],
                          capture_output=True, text=True, check=True).stdout.strip().split(",")[:2]
    width, height = map(int, size)
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", str(path), "-map", "v:0", "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo",
                          "-"], capture_output=True).stdout
    pictures = np.frombuffer(raw[:len(raw) // (width * height) * width * height], np.uint8).reshape(-1, height, width)
    return [barcode.read(picture) for picture in pictures]
