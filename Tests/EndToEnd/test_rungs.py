"""Many viewers, two rungs: who joins, loses or is slow costs those who are there nothing."""

import asyncio
import threading
import time
import urllib.request

import aiortc
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from harness.browser import Viewer
from harness.rtcast import bearer
from harness.udp_relay import UDPRelay


def page(size=(1280, 720), seed=1):
    """A page of text."""
    random = np.random.default_rng(seed)
    image = Image.new("RGB", size, (250, 250, 248))
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default()
    for y in range(8, size[1] - 12, 14):
        words = ("".join(chr(97 + c) for c in random.integers(0, 26, random.integers(2, 11))) for _ in range(38))
        draw.text((12, y), " ".join(words), fill=(20, 20, 30), font=font)
    return np.asarray(image)


class Peer:
    """A viewer by aiortc, on a thread of its own; behind a `UDPRelay`, if there is one."""

    def __init__(self, listening, path=None):
        self.listening, self.path = listening, path
        self.frames = 0
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self._do(self._open())

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    async def _open(self):
        self.peer = aiortc.RTCPeerConnection()
        self.peer.addTransceiver("video", direction="recvonly")
        await self.peer.setLocalDescription(await self.peer.createOffer())
        offer = self.peer.localDescription.sdp
        if self.path:
            # Without an address of ours the cast finds us by the path alone.
            offer = "".join(line for line in offer.splitlines(keepends=True) if not line.startswith("a=candidate:"))
        request = urllib.request.Request(
            self.listening["whep"], offer.encode(),
            {"Content-Type": "application/sdp", **bearer(self.listening)})
        answer = await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=10).read().decode())
        if self.path:
            answer = self.path.through(answer)
        await self.peer.setRemoteDescription(aiortc.RTCSessionDescription(answer, "answer"))
        track = self.peer.getTransceivers()[0].receiver.track
        self.task = asyncio.ensure_future(self._watch(track))

    async def _watch(self, track):
        while True:
            await track.recv()
            self.frames += 1

    def wait_picture(self):
        deadline = time.monotonic() + 20
        while self.frames == 0:
            assert time.monotonic() < deadline, "no picture"
            time.sleep(0.02)
        return self

    def close(self):
        self.task.cancel()
        self._do(self.peer.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)


@pytest.fixture
def peers():
    """Makes viewers and their paths, and lets go of them at the end."""
    made = []

    def make(kind, *arguments, **options):
        made.append(kind(*arguments, **options))
        return made[-1]
    yield make
    for one in reversed(made):
        one.close()


def video(viewer):
    return viewer.stat("inbound-rtp", kind="video")


def wait_rest(viewer, seconds=2.5):
    """Until nothing comes any more."""
    deadline, last, since = time.monotonic() + 40, None, time.monotonic()
    while time.monotonic() - since < seconds:
        assert time.monotonic() < deadline, "the picture does not come to rest"
        received = video(viewer)["bytesReceived"]
        if received != last:
            last, since = received, time.monotonic()
        time.sleep(0.1)
    return video(viewer)


@pytest.mark.alone("what a viewer of a resting page receives")
def test_five_viewers_join_a_resting_page_and_who_was_there_receives_nothing(xserver, cast, browser, peers):
    painter = xserver.client()
    painter.put(painter.window(), page())
    listening = cast("screen", "--fps", "30", display=xserver.name).listening()
    url = listening["url"]
    first = Viewer(browser, url).wait_live()
    before = wait_rest(first)
    joined = [Viewer(browser, url, new_tab=True).wait_live() for _ in range(2)]
    for _ in range(3):
        peers(Peer, listening).wait_picture()
    wait_rest(joined[-1])
    after = video(first)
    assert after["bytesReceived"] - before["bytesReceived"] < 1_000
    assert after["keyFramesDecoded"] == before["keyFramesDecoded"]
    painter.close()


@pytest.mark.alone("the delay of a change")
def test_a_page_change_hands_over_who_waits(xserver, cast, browser):
    painter = xserver.client()
    window = painter.window()
    painter.put(window, page())
    rtcast = cast("screen", "--fps", "30", display=xserver.name)
    url = rtcast.url()
    first = Viewer(browser, url).wait_live()
    wait_rest(first)
    second = Viewer(browser, url, new_tab=True).wait_live()
    wait_rest(second)
    painter.put(window, page(seed=2))
    wait_rest(second)
    wait_rest(first)
    # What both are sent now is one rung's: the same frames.
    before = [video(viewer)["framesReceived"] for viewer in (first, second)]
    for step in range(20):
        painter.fill(window, 100 + 20 * step, 300, 16, 16, 0x104080)
        time.sleep(0.1)
    wait_rest(second)
    after = [video(viewer)["framesReceived"] for viewer in (first, second)]
    assert after[0] - before[0] == after[1] - before[1]
    painter.close()


TROUBLES = {"slow": {"rate": 300_000}, "lossy": {"loss": 0.1}}


@pytest.mark.alone("the delay of a change")
@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_trouble_of_one_is_nobody_elses(trouble, cast, browser, peers):
    """Noise takes all that the main rung may have: the viewer who is there gets as much, and no key frame more, whoever else struggles."""
    rtcast = cast("test", "--pattern", "noise", "--fps", "15", "--size", "480x270", "--content-hint", "detail")
    listening = rtcast.listening()
    viewer = Viewer(browser, listening["url"]).wait_live()
    # It has all that it may have when three reports in a row tell of no more.
    highest = reports = 0
    while reports < 3:
        rate = rtcast.wait_event("stats", where=lambda event: event["bitrate_bps"] > 100_000)["bitrate_bps"]
        highest, reports = (rate, 0) if rate > 1.05 * highest else (highest, reports + 1)

    def measure(seconds):
        before, start = video(viewer), time.monotonic()
        time.sleep(seconds)
        after, length = video(viewer), time.monotonic() - start
        return (after["bytesReceived"] - before["bytesReceived"]) * 8 / length, after["keyFramesDecoded"] - before["keyFramesDecoded"], \
            (after["framesDecoded"] - before["framesDecoded"]) / length
    alone, _, pace = measure(8)
    path = peers(UDPRelay)
    peers(Peer, listening, path).wait_picture()
    for name, value in TROUBLES[trouble].items():
        setattr(path, name, value)
    # So long until what it loses, or what waits for it, has been noticed and has had its effect.
    beside, key_frames, pace_beside = measure(12)
    assert path.dropped > 3 or trouble == "slow", "the path loses what it was meant to lose"
    assert key_frames == 0
    assert beside > 0.9 * alone and pace_beside > 0.8 * pace
