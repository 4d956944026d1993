"""One whole call with a browser: its camera in rtcast's window, its microphone in rtcast's loudspeaker, its screen in place of both."""

import io
import os
import subprocess
import time

import numpy as np
import pytest
from PIL import Image
from Xlib.error import BadDrawable, BadWindow

from harness.browser import chromium, drawn
from harness.hub_page import HubPage
from harness.pictures import luma, psnr

SHARE_THIS_TAB = "LocalMedia.displayWishes = { preferCurrentTab: true, selfBrowserSurface: 'include' }"

# Of the picture that Chromium's fake camera draws.
DISC, CLOCK, PREVIEW = (0.4, 0.3, 0.6, 0.7), (0, 0, 0.4, 0.15), (0.7, 0.6, 1, 1)

# In the place of the microphone: a steady tone, which no noise suppression takes for noise.
TONE = """
const context = window.tone = new AudioContext(), oscillator = context.createOscillator(), out = context.createMediaStreamDestination();
oscillator.frequency.value = %d;
oscillator.connect(out);
oscillator.start();
context.resume();
local.set("microphone", out.stream.getAudioTracks()[0]);
local.onchange();
"""

# In the place of a camera, for a browser whose screens are real ones: two colours, and a spot that moves.
FACE = """
const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
[canvas.width, canvas.height] = [640, 360];
let step = 0;
setInterval(() => {
  pen.fillStyle = "#e0c030"; pen.fillRect(0, 0, 640, 180);
  pen.fillStyle = "#3040a0"; pen.fillRect(0, 180, 640, 180);
  pen.fillStyle = "#fff"; pen.fillRect(step++ * 8 % 640, 176, 8, 8);
}, 100);
local.set("camera", canvas.captureStream(10).getVideoTracks()[0]);
local.onchange();
"""


# Likewise: six fields of colours that are far apart, each of them somewhere else when the picture is mirrored.
CARD = FACE[:FACE.index("setInterval")] + """
setInterval(() => {
  ["#e02020", "#20c040", "#2040e0", "#f0f0f0", "#e0d020", "#101010"].forEach((color, field) => {
    pen.fillStyle = color; pen.fillRect(field % 3 * 214, field < 3 ? 0 : 180, 214, 180);
  });
  pen.fillStyle = "#fff"; pen.fillRect(step++ * 8 % 640, 176, 8, 8);
}, 100);
local.set("camera", canvas.captureStream(10).getVideoTracks()[0]);
local.onchange();
"""


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


@pytest.fixture
def call(cast, hub, pulse, xserver):
    """An rtcast with a window and a loudspeaker calls whoever is on the page."""
    def start(page):
        rtcast = cast("call", page.name, "--server", hub, "--name", "alice", "--test", "--fps", "15", "--audio", "none",
                      display=xserver.name, env=pulse.env)
        page.accept()
        page.wait(state="call").wait_tiles(1).wait_moving()
        told(rtcast, event="peer", state="connected")
        return rtcast

    return start


@pytest.fixture
def sharer(hub):
    """A browser without fake devices: with them, its screen would be a fake one too."""
    browser = chromium(size=(1000, 700), flags=("--auto-accept-this-tab-capture",))
    page = HubPage(browser, hub, "bob")
    page.join()
    page.run(FACE)
    page.wait(camera="on")
    yield page
    browser.quit()


def told(rtcast, **members):
    """An event with these members, whether it has come already or not."""
    def fits(event):
        return all(event.get(key) == value for key, value in members.items())
    return next(filter(fits, rtcast.seen), None) or rtcast.wait_event(members["event"], where=fits)


def until(attempt, what, timeout=30):
    """Tries until it returns something true."""
    deadline = time.monotonic() + timeout
    seen = None
    while time.monotonic() < deadline:
        found, seen = attempt()
        if found:
            return seen
        time.sleep(0.1)
    raise AssertionError(f"not within {timeout} s: {what}; {seen}")


def window(xserver):
    """What the call's window shows; None before there is one."""
    painter = xserver.client()
    try:
        frames = [child.get_geometry() for child in painter.root.query_tree().children if child.get_attributes().map_state]
        frame = max(frames, key=lambda each: each.width * each.height, default=None)
        return frame and xserver.picture()[frame.y:frame.y + frame.height, frame.x:frame.x + frame.width]
    except (subprocess.CalledProcessError, BadWindow, BadDrawable):
        return None  # it came or changed while it was looked at
    finally:
        painter.close()


def scaled(picture, size):
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BOX))


def own_picture(page):
    """What the page's camera shows now."""
    return drawn(page.script, "#corner video")


def fitted(size, cell):
    """Where a picture of that size is in a cell (x, y, width, height): whole, in its shape, in the middle."""
    x, y, width, height = cell
    scale = min(width / size[0], height / size[1])
    shown = (round(size[0] * scale), round(size[1] * scale))
    return x + (width - shown[0]) // 2, y + (height - shown[1]) // 2, *shown


def likeness(shown, cell, wanted, leave=(), look=luma):
    """Decibels between a picture and its place in the window, both brought to a size in which a moving clock matters little.

    `leave` names parts of the picture (left, top, right, bottom, as shares) that are not compared, `look` what is of the rest.
    """
    x, y, width, height = fitted((wanted.shape[1], wanted.shape[0]), cell)
    there = look(scaled(shown[y:y + height, x:x + width], (160, 90)))
    wanted = look(scaled(np.ascontiguousarray(wanted), (160, 90)))
    for left, top, right, bottom in leave:
        there[int(top * 90):int(bottom * 90), int(left * 160):int(right * 160)] = 0
        wanted[int(top * 90):int(bottom * 90), int(left * 160):int(right * 160)] = 0
    return psnr(there, wanted)


def heard(pulse, seconds=1.0):
    """The loudest pitch of what the null sink was given, and its level."""
    recorder = subprocess.run(
        ["timeout", str(seconds + 1), "parec", "--raw", "--format=s16le", "--rate=48000", "--channels=1", "--latency-msec=20",
         "--device=desktop.monitor"], env={**os.environ, **pulse.env}, capture_output=True)
    wave = np.frombuffer(recorder.stdout[:len(recorder.stdout) // 2 * 2], np.int16)[-int(48000 * seconds):].astype(float)
    if len(wave) < 16384:
        return 0, 0
    spectrum = np.abs(np.fft.rfft(wave * np.hanning(len(wave))))
    return float(np.argmax(spectrum) * 48000 / len(wave)), float(np.abs(wave).max())


@pytest.mark.feature("S0.61", "S0.63", "S0.69", "S4.1", peer="Chromium, PulseAudio, X server")
def test_the_window_shows_the_browsers_camera_and_the_loudspeaker_plays_its_microphone(call, hub, visit, pulse, xserver):
    """One call, seen on the screen and heard at the sink's monitor at the same time."""
    [page] = visit(hub, "bob")
    rtcast = call(page)
    for kind in ("video", "audio"):
        told(rtcast, event="track", kind=kind, state="added")

    def seen():
        shown, drawn = window(xserver), own_picture(page)
        if shown is None:
            return False, None
        height, width = shown.shape[:2]
        # The disc turns, the clock runs, and our own picture is in the corner.
        found = likeness(shown, (0, 0, width, height), drawn, [DISC, CLOCK, PREVIEW])
        disc = shown[height // 3:height * 2 // 3, width // 3:width * 2 // 3]
        return found > 28 and np.ptp(luma(disc)) > 50, (width, height, found)

    def carded():
        """The card is where it belongs, upright and in its colours: any other way round is less like it by far."""
        shown, drawn = window(xserver), own_picture(page)
        if shown is None:
            return False, None
        height, width = shown.shape[:2]
        ways = [drawn, drawn[::-1], drawn[:, ::-1], drawn[::-1, ::-1], drawn[..., ::-1]]
        found = [likeness(shown, (0, 0, width, height), way, [PREVIEW], np.copy) for way in ways]
        return found[0] > 28 and max(found[1:]) < 14, (width, height, found)

    until(seen, "the camera's picture in the window")
    # Chromium's fake microphone beeps now and then; a tone of our own has a pitch.
    until(lambda: ((level := heard(pulse))[1] > 300, level), "the fake microphone's beeps")
    page.run(TONE % 880)

    def sounding():
        pitch, level = heard(pulse)
        return abs(pitch / 880 - 1) < 0.005 and level > 1000, (pitch, level)

    until(sounding, "a tone of 880 Hz")
    page.bar("microphone")
    until(lambda: ((level := heard(pulse))[1] < 50, level), "silence")
    page.bar("microphone")
    until(sounding, "the tone again")
    page.run(CARD)
    page.until("document.querySelector('#corner video').videoWidth === 640", what="the card in the corner of the page")
    until(carded, "the card in place of the camera's picture")


def test_the_browser_shares_its_screen_back_and_it_has_the_room(call, sharer, xserver):
    """What the window shows is what the tab looks like, and the face stands beside it."""
    page, rtcast = sharer, call(sharer)
    told(rtcast, event="track", kind="video", state="added", content="camera")
    page.script(SHARE_THIS_TAB)
    page.bar("screen")
    page.wait(screen="on")
    told(rtcast, event="track", kind="video", state="added", content="screen")

    def seen():
        shown = window(xserver)
        page_now = np.asarray(Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB"))
        if shown is None:
            return False, None
        height, width = shown.shape[:2]
        # The screen has four fifths of the window, the face the rest.
        there = likeness(shown, (0, 0, width * 4 // 5, height), page_now, [(0.85, 0.6, 1, 1)])  # our own picture reaches into it
        face = likeness(shown, (width * 4 // 5, 0, width - width * 4 // 5, height), own_picture(page))
        # What is plain is like anything of its colour: so neither is like itself upside down.
        other = likeness(shown, (0, 0, width * 4 // 5, height), page_now[::-1], [(0.85, 0.6, 1, 1)])
        turned = likeness(shown, (width * 4 // 5, 0, width - width * 4 // 5, height), own_picture(page)[::-1])
        return there > max(22, other + 5) and face > max(18, turned + 8), (width, height, there, other, face, turned)

    until(seen, "the page in the large part of the window, and the face beside it")
    page.bar("screen")
    told(rtcast, event="track", kind="video", state="removed")
    page.bar("hangup")
    assert told(rtcast, event="peer", state="ended")["reason"] == "hung up remotely"
    assert rtcast.wait(10) == 0
