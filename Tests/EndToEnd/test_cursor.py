"""The pointer that the viewer page draws: where the X pointer is, to the pixel, and without a frame of video."""

import asyncio
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import aiortc
import numpy as np
from Xlib import Xcursorfont
from Xlib.display import Display
from Xlib.ext import xfixes

from harness.browser import drawn
from harness.pictures import luma, psnr
from harness.rtcast import bearer
from harness.viewer_page import EVERYTHING, Page

CURSOR = Path(__file__).resolve().parents[2] / "Sources/RTCSignalingNIO/Resources/viewer/cursor.js"
SHOWN = "rtcast.cursor && rtcast.cursor.isShown"
FRAMES = """
    const done = arguments[0];
    rtcast.pc.getStats().then(all => done([...all.values()].find(s => s.type === 'inbound-rtp' && s.kind === 'video').framesReceived));"""


def move(server, x, y):
    subprocess.run(["xdotool", "mousemove", str(x), str(y)], env={"DISPLAY": server.name, "PATH": "/usr/bin:/bin"}, check=True)


def shape(painter, window, glyph):
    """Gives the window one of the pointers that every server has. Nobody can read the pointer of a client that is gone."""
    font = painter.display.open_font("cursor")
    window.change_attributes(cursor=font.create_glyph_cursor(font, glyph, glyph + 1, (0, 0, 0), (65535, 65535, 65535)))
    painter.display.sync()


def with_pointer(server):
    """The X screen as people see it: xwd leaves the pointer out."""
    display = Display(server.name)
    xfixes.query_version(display)
    image = xfixes.get_cursor_image(display, display.screen().root)
    display.close()
    picture = server.picture().astype(int)
    pixels = np.array(image.cursor_image, np.uint32).reshape(image.height, image.width)
    left, top = image.x - image.xhot, image.y - image.yhot
    alpha = (pixels >> 24).astype(int)[:, :, None]
    colour = np.stack([pixels >> 16 & 255, pixels >> 8 & 255, pixels & 255], 2).astype(int)
    part = picture[top:top + image.height, left:left + image.width]
    part[:] = colour + (part * (255 - alpha) + 127) // 255
    return picture


def is_at(page, x, y):
    page.until(f"rtcast.cursor.store.position && rtcast.cursor.store.position.x === {x} && rtcast.cursor.store.position.y === {y}")


def assert_seen(page, server):
    end = time.monotonic() + 8
    while np.abs(page.screenshot().astype(int) - with_pointer(server)).max() > 1:
        assert time.monotonic() < end, "the page does not show the screen with its pointer"


def is_near(seen, truth, x, y):
    """Video shows the pointer there."""
    seen, truth = (luma(picture)[y - 8:y + 9, x - 8:x + 9] for picture in (seen, truth))
    return psnr(seen, truth) > 25


def frames_at_rest(page):
    """The frames that the page was sent, once no more come."""
    before, quiet = None, 0
    while quiet < 5:
        now = page.driver.execute_async_script(FRAMES)
        quiet = quiet + 1 if now == before else 0
        before = now
        time.sleep(0.1)
    return before


class OtherViewer:
    """A viewer by WHEP that opens no channel, in a thread of its own."""

    def __init__(self, listening):
        self.over = threading.Event()
        self.connected = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.watch(listening)), daemon=True)
        self.thread.start()
        assert self.connected.wait(15)

    async def watch(self, listening):
        peer = aiortc.RTCPeerConnection()
        peer.addTransceiver("video", direction="recvonly")
        await peer.setLocalDescription(await peer.createOffer())
        request = urllib.request.Request(
            listening["whep"], peer.localDescription.sdp.encode(), {"Content-Type": "application/sdp", **bearer(listening)})
        answer = await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=10).read().decode())
        await peer.setRemoteDescription(aiortc.RTCSessionDescription(answer, "answer"))
        while peer.connectionState != "connected":
            await asyncio.sleep(0.05)
        self.connected.set()
        while not self.over.is_set():
            await asyncio.sleep(0.05)
        await peer.close()

    def leave(self):
        self.over.set()
        self.thread.join(10)


def test_the_page_draws_the_pointer_where_it_is_and_no_frame_is_sent_for_it(screen, cast, any_browser):
    server, painter, window = screen
    shape(painter, window, Xcursorfont.X_cursor)
    move(server, 200, 200)
    listening = cast("screen", "--fps", "10", "--bitrate", "2500k", display=server.name).listening()
    page = Page(any_browser, listening["url"]).live().until(SHOWN).until(EVERYTHING)
    assert_seen(page, server)
    frames = frames_at_rest(page)
    for x, y in ((300, 200), (301, 200), (777, 555), (40, 30)):
        move(server, x, y)
        is_at(page, x, y)
        assert_seen(page, server)
    page.script("window.before = rtcast.cursor.store.image")
    shape(painter, window, Xcursorfont.crosshair)
    page.until("rtcast.cursor.store.image !== window.before")
    assert_seen(page, server)
    assert frames_at_rest(page) == frames, "the pointer made frames"

    other = OtherViewer(listening)
    page.until("!rtcast.cursor.isShown")
    end = time.monotonic() + 8
    while not is_near(page.screenshot(), with_pointer(server), 40, 30):
        assert time.monotonic() < end, "the pointer is not in the picture"
    other.leave()
    page.until(SHOWN, timeout=15).until(EVERYTHING)
    assert_seen(page, server)


def test_a_saved_picture_has_the_pointer_as_it_is_seen(screen, cast, browser):
    server, painter, window = screen
    shape(painter, window, Xcursorfont.X_cursor)
    move(server, 200, 200)
    page = Page(browser, cast("screen", "--fps", "10", "--bitrate", "2500k", display=server.name).url()).live().until(SHOWN)
    page.until(EVERYTHING)
    saved = page.script("""
        const canvas = document.createElement("canvas");
        paintPicture(canvas);
        return [...canvas.getContext("2d").getImageData(190, 190, 20, 20).data];""")
    saved = np.array(saved).reshape(20, 20, 4)[:, :, :3]
    assert np.abs(saved - with_pointer(server)[190:210, 190:210]).max() <= 1


def by_a_person(browser, expression):
    """What a browser does only for those who have just touched the page."""
    done = browser.execute_cdp_cmd("Runtime.evaluate", {"expression": expression, "userGesture": True, "awaitPromise": True})
    assert "exceptionDetails" not in done, done


def test_picture_in_picture_has_the_pointer_in_the_picture(screen, cast, browser):
    server, painter, window = screen
    shape(painter, window, Xcursorfont.X_cursor)
    move(server, 200, 200)
    page = Page(browser, cast("screen", "--fps", "10", "--bitrate", "2500k", display=server.name).url()).live().until(SHOWN)
    by_a_person(browser, "document.getElementById('video').requestPictureInPicture()")
    assert page.script("return document.pictureInPictureElement === document.getElementById('video')")
    page.until("!rtcast.cursor.isShown")   # not beside the picture in picture
    end = time.monotonic() + 10
    while not is_near(drawn(page.script), with_pointer(server), 200, 200):
        assert time.monotonic() < end, "the pointer is not in the picture"
    by_a_person(browser, "document.exitPictureInPicture()")
    page.until("document.pictureInPictureElement === null").until(SHOWN).until(EVERYTHING)
    assert_seen(page, server)


def test_pages_that_show_the_picture_smaller_show_the_pointer_there(screen, cast, browser):
    server, painter, window = screen
    shape(painter, window, Xcursorfont.X_cursor)
    move(server, 200, 300)
    page = Page(browser, cast("screen", "--fps", "10", "--size", "640x400", display=server.name).url())
    page.until("window.rtcast && rtcast.state === 'live'").until(SHOWN)
    place = page.script("""
        const video = document.getElementById("video"), room = video.getBoundingClientRect();
        const scale = Math.min(room.width / video.videoWidth, room.height / video.videoHeight);
        const sheet = document.querySelector("#cursor canvas").getBoundingClientRect(), { image, width } = rtcast.cursor.store;
        const size = video.videoWidth * scale / width;
        return [(sheet.x - room.x - (room.width - video.videoWidth * scale) / 2) / size + image.hotX,
          (sheet.y - room.y - (room.height - video.videoHeight * scale) / 2) / size + image.hotY, video.videoWidth];""")
    assert place[2] == 640
    assert abs(place[0] - 200) < 1 and abs(place[1] - 300) < 1


MACHINE = """
const { CursorStore, parseCursor } = pagePointer, wrong = [], expect = (what, is) => { if (!is) wrong.push(what); };
const message = (...bytes) => parseCursor(new Uint8Array(bytes).buffer);
const image = (digest, width = 1, height = 1, more = 0) =>
  message(2, 0, 0, 0, 0, 0, 0, 0, digest, 0, width, 0, height, 0, 0, 0, 0, ...Array(width * height * 4 + more).fill(digest));
const show = (digest) => message(3, 0, 0, 0, 0, 0, 0, 0, digest);
const drawing = (timestamp, isOurs, isSettled = false) =>
  message(1, ...[24, 16, 8, 0].map((shift) => timestamp >>> shift & 255), (isOurs ? 1 : 0) | (isSettled ? 2 : 0), 2, 128, 1, 224);
const position = (number, x, y) => message(4, 0, 0, number >> 8, number & 255, 1, x >> 8, x & 255, y >> 8, y & 255);

// Frames have it until the one that was announced is shown, and have it again from the next announced one on.
let store = new CursorStore();
store.show(1000);
for (const told of [drawing(2000, true), image(1), position(1, 10, 20)]) store.take(told);
expect("two pointers", !store.isShown);
expect("no change", !store.show(1999) && store.show(2000) && store.isShown);
store.take(drawing(3000, false));
expect("none", store.isShown && !store.show(2999));
expect("two pointers again", store.show(3001) && !store.isShown);
store.take(drawing(2500, true));
expect("a frame that was shown before its message", store.isShown);
store.take(drawing(9000, false, true));
expect("settled", !store.isShown);
store.take(drawing(9000, true));
store.settle();
expect("after a while", store.isShown);

// Timestamps turn over.
store = new CursorStore();
store.show(0xFFFFFF00);
store.take(drawing(5, true));
store.take(image(1));
store.take(position(1, 1, 1));
expect("too soon at the turn", !store.isShown && !store.show(0xFFFFFFFF) && !store.isShown);
expect("after the turn", store.show(6) && store.isShown);

// Positions come in any order, or not at all.
expect("an older one", !store.take(position(1, 9, 9)) && store.position.x === 1);
expect("a newer one", store.take(position(3, 300, 7)) && store.position.x === 300 && !store.take(position(2, 5, 5)) && store.position.x === 300);
store.number = 0xFFFFFFFF;
expect("numbers turn over", store.take(position(0, 4, 4)) && store.position.x === 4);

// Images: those that are not known change nothing, and no more are kept than the caster counts on.
expect("unknown", !store.take(show(77)) && store.image.pixels[0] === 1);
for (let digest = 2; digest <= 32; digest++) store.take(image(digest));
for (const told of [show(5), show(1), image(33)]) store.take(told);
expect("limit", store.images.size === CursorStore.images && [1n, 3n, 5n].every((digest) => store.images.has(digest)) && !store.images.has(2n));

// What no caster of ours says.
for (const bytes of [[], [9, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 4, 0, 1, 0, 1], [1, 0, 0, 0, 0, 1, 0, 1, 0], [3, 0, 0, 0, 0, 0, 0, 0, 1, 1],
  [4, 0, 0, 0, 1, 2, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1]])
  expect("taken: " + bytes, parseCursor(new Uint8Array(bytes).buffer) === null);
expect("too large", image(1, 129) === null && image(1, 1, 129) === null && image(1, 128, 128) !== null);
expect("too long or short", image(1, 2, 2, 1) === null && image(1, 2, 2, -1) === null);
let seed = 1;
const random = (below) => (seed = Math.imul(seed, 1103515245) + 12345 >>> 0) % below;
for (let i = 0; i < 20000; i++) {
  store.take(message(...Array.from({ length: random(30) }, () => random(6))));
  if (random(4) === 0) store.show(random(2 ** 32));
}
expect("kept too much", store.images.size <= CursorStore.images);
return wrong;
"""


def test_no_order_of_messages_and_frames_shows_two_pointers(browser):
    assert browser.execute_script(CURSOR.read_text() + "{" + MACHINE + "}") == []
