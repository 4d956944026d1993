"""Viewers that are slow, dead, away for a while, or want the whole screen: the page in a real Chromium, and what the others notice."""

import os
import pty
import re
import select
import signal
import socket
import subprocess
import time

import cv2
import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains

from harness.browser import Viewer, chromium, family
from harness.rtcast import BINARY
from harness.terminal import Terminal
from harness.viewer_page import Page

CAST = ("test", "--pattern", "clock", "--fps", "15", "--size", "640x360")


@pytest.fixture
def other_browser():
    """One that nobody shares: it may be stopped or killed."""
    browser = chromium()
    yield browser
    for process in family(browser):
        process.kill()
    browser.service.process.kill()


def received(viewer):
    return viewer.stat("inbound-rtp", kind="video")["framesReceived"]


@pytest.mark.parametrize("fate", ["suspend", "kill"])
def test_a_viewer_that_stands_still_or_dies_delays_nobody(fate, cast, browser, other_browser):
    """Its pictures go nowhere; the others get theirs, all of them, as before."""
    rtcast = cast(*CAST)
    url = rtcast.url()
    viewer = Viewer(browser, url).wait_live()
    Viewer(other_browser, url).wait_live()
    rtcast.wait_event("stats", where=lambda event: event["viewers"] == 2)
    for process in family(other_browser):
        getattr(process, fate)()
    before, start = viewer.stat("inbound-rtp", kind="video"), time.monotonic()
    while time.monotonic() < start + 8:
        time.sleep(1)
        assert viewer.state() == "live"
    after, seconds = viewer.stat("inbound-rtp", kind="video"), time.monotonic() - start
    assert (after["framesReceived"] - before["framesReceived"]) / seconds > 13
    # Not a second in which nothing came: `totalInterFrameDelay` is the sum of the pauses, and its squares tell of long ones.
    pauses = after["totalInterFrameDelay"] - before["totalInterFrameDelay"]
    squares = after["totalSquaredInterFrameDelay"] - before["totalSquaredInterFrameDelay"]
    frames = after["framesDecoded"] - before["framesDecoded"]
    assert squares / frames - (pauses / frames) ** 2 < 0.05 ** 2, "pauses differ by less than 50 ms, as a rule"
    assert after["pliCount"] == before["pliCount"] and after["freezeCount"] == before["freezeCount"]


def test_the_page_comes_back_by_itself_when_the_cast_does(cast, browser):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    again = ("--listen", f"127.0.0.1:{port}", "--token", "the-same-again")
    first = cast(*CAST, *again)
    viewer = Viewer(browser, first.url()).wait_live()
    viewer.script("window.before = rtcast.pc; window.stayed = true")
    # Without a word of goodbye.
    first.process.kill()
    first.wait()
    viewer.until("rtcast.state !== 'live'", timeout=30, what="the end of the cast noticed")
    cast(*CAST, *again).url()
    viewer.until("rtcast.state === 'live' && rtcast.pc !== window.before", timeout=60, what="the new cast")
    assert viewer.script("return window.stayed"), "the page was not loaded anew"
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 10}", what="its pictures")


def test_the_picture_takes_the_whole_screen_and_gives_it_back(cast, browser):
    viewer = Viewer(browser, cast(*CAST).url()).wait_live()
    for wanted in (True, False):
        ActionChains(viewer.driver).send_keys("f").perform()
        viewer.until(f"!!document.fullscreenElement === {str(wanted).lower()}", what=f"full screen: {wanted}")
        if wanted:
            viewer.until("document.querySelector('video').clientWidth >= screen.width * 0.9", what="a picture of the screen's width")


def test_a_terminal_shows_the_link_as_text_and_as_a_qr_code():
    """The code is read from the terminal's half blocks, by a decoder nobody here wrote."""
    master, slave = pty.openpty()
    subprocess.run(["stty", "cols", "120", "rows", "60"], stdin=slave, check=True)
    process = subprocess.Popen([BINARY, *CAST], stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm-256color"})
    os.close(slave)
    shown, deadline = b"", time.monotonic() + 10
    while time.monotonic() < deadline and b"fps" not in shown:
        if select.select([master], [], [], 0.2)[0]:
            shown += os.read(master, 65536)
    process.terminate()
    process.wait(10)
    os.close(master)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode(errors="replace"))
    link = re.search(r"http://\S+", text).group()
    lines = [line for line in text.replace("\r", "").split("\n") if re.search("[█▀▄]", line)]
    width = max(map(len, lines))
    rows = []
    for line in lines:
        line = line.ljust(width)
        rows += [[c in "█▀" for c in line], [c in "█▄" for c in line]]
    # Dark on light.
    code = np.kron(np.where(rows, 0, 255).astype(np.uint8), np.ones((6, 6), np.uint8))
    code = np.pad(code, 24, constant_values=255)
    assert cv2.QRCodeDetector().detectAndDecode(code)[0] == link



@pytest.mark.parametrize("columns, rows", [(80, 20), (30, 60)])
def test_a_terminal_that_is_too_small_for_the_qr_code_is_told_so(columns, rows):
    """With the lines below, which take more than one row where the terminal is narrow."""
    terminal = Terminal(*CAST, columns=columns, rows=rows)
    try:
        needed = terminal.wait(r"too small for the link's QR code: (\d+) columns and\s+(\d+) rows").groups()
        assert int(needed[0]) > columns or int(needed[1]) > rows
        assert not re.search("[█▀▄]", terminal.text)
    finally:
        terminal.stop()


WATCH_PATCHES = """
    window.patches = [];
    const plain = window.fetch;
    window.fetch = async (url, options) => {
      const response = await plain(url, options);
      if (options?.method && options.method !== "GET") patches.push([options.method, response.status]);
      return response;
    };"""


def test_the_page_restarts_ice_in_its_session_and_the_picture_goes_on(cast, browser):
    url = cast("test", "--pattern", "clock", "--fps", "10", "--size", "640x360").url()
    viewer = Viewer(browser, url).wait_live()
    viewer.script(WATCH_PATCHES)
    first = viewer.script("return [session.resource, session.etag]")
    for count in (1, 2):
        viewer.script("session.restart()")
        viewer.until(f"session.restarts == {count} && session.phase == 'connected'", what="restarted")
        viewer.until("session.pc.connectionState == 'connected' && session.pc.signalingState == 'stable'")
        before = viewer.frames()
        viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 5}")
    assert viewer.script("return session.resource") == first[0] and viewer.script("return session.etag") != first[1]
    answers = viewer.script("return patches")
    assert answers.count(["PATCH", 200]) == 2 and {status for _, status in answers} <= {200, 204}, answers
    assert viewer.state() == "live"


# RFC 7675, section 5.1: 30 s without an answer, and nothing more may be sent.
BEYOND_CONSENT = 40


def stay(viewer):
    """Marks the page and its connection, to be known again by `begun_anew`."""
    viewer.script("window.stayed = true; window.before = rtcast.pc")


def begun_anew(viewer):
    """The same page, not loaded again, with a new connection whose pictures move."""
    viewer.until("rtcast.state === 'live' && rtcast.pc !== window.before && rtcast.pc.connectionState === 'connected'", timeout=60,
                 what="another session")
    assert viewer.script("return window.stayed"), "the page was not loaded anew"
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 10}", what="its pictures")


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_browser_that_was_suspended_beyond_consent_opens_another_session(cast, other_browser):
    """The cast lets go of its session by itself; the page is not loaded anew when the machine wakes."""
    rtcast = cast(*CAST)
    viewer = Viewer(other_browser, rtcast.url()).wait_live()
    stay(viewer)
    old = rtcast.wait_event("peer", where=lambda event: event["state"] == "joined")["id"]
    asleep, begin = family(other_browser), time.monotonic()
    for process in asleep:
        process.suspend()
    gone = rtcast.wait_event("peer", timeout=60, where=lambda event: event["state"] == "left")
    assert (gone["id"], gone["reason"]) == (old, "unreachable")
    assert time.monotonic() - begin >= 29, "consent has not ended sooner"
    rtcast.wait_event("stats", where=lambda event: event["sessions"] == 0)
    for process in asleep:
        process.resume()
    begun_anew(viewer)
    assert rtcast.wait_event("peer", where=lambda event: event["state"] == "joined")["id"] != old
    rtcast.wait_event("stats", where=lambda event: event["viewers"] == event["sessions"] == 1 and event["fps_sent"] > 3)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_cast_that_was_suspended_beyond_consent_has_its_viewer_in_another_session(cast, browser):
    """The page gives its connection up by itself, keeps the last picture, and asks until the cast answers."""
    rtcast = cast(*CAST)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    stay(viewer)
    old = rtcast.wait_event("peer", where=lambda event: event["state"] == "joined")["id"]
    rtcast.process.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    viewer.until("rtcast.pc.connectionState === 'failed'", timeout=60, what="the end of the page's consent")
    assert viewer.state() == "lost" and viewer.script("return document.getElementById('still').classList.contains('kept')")
    time.sleep(max(0, begin + BEYOND_CONSENT - time.monotonic()))   # the cast's is to end too, and nothing can be asked of it
    rtcast.process.send_signal(signal.SIGCONT)
    begun_anew(viewer)
    assert rtcast.wait_event("peer", where=lambda event: event["state"] == "left")["id"] == old
    assert rtcast.wait_event("peer", where=lambda event: event["state"] == "joined")["id"] != old
    rtcast.wait_event("stats", where=lambda event: event["viewers"] == event["sessions"] == 1 and event["fps_sent"] > 3)


@pytest.mark.parametrize("pattern", ["clock", "bars"])
def test_a_page_does_not_call_live_what_nothing_arrives_of(pattern, cast, any_browser):
    """A sender that is gone is told from a picture that rests before ICE gives the connection up, and comes back by itself."""
    rtcast = cast("test", "--pattern", pattern, "--fps", "5", "--size", "320x180")
    page = Page(any_browser, rtcast.url()).until("window.rtcast && rtcast.state === 'live'")
    page.until("document.getElementById('facts').textContent.includes('·')")   # it has looked at the figures twice
    rtcast.process.send_signal(signal.SIGSTOP)
    try:
        page.until("rtcast.state !== 'live'", timeout=30)
        assert page.script("return rtcast.pc.connectionState") == "connected"
        assert page.script("return document.getElementById('headline').textContent") == "Nothing arrives from the sender"
        assert page.script("return document.getElementById('still').classList.contains('kept')")
    finally:
        rtcast.process.send_signal(signal.SIGCONT)
    page.until("rtcast.state === 'live'")


def test_a_page_whose_session_is_gone_opens_another_when_it_looks(cast, browser):
    """As after a sleep: nothing tells it, and it asks."""
    rtcast = cast("test", "--pattern", "clock", "--fps", "10", "--size", "640x360")
    viewer = Viewer(browser, rtcast.url()).wait_live()
    viewer.script(WATCH_PATCHES)
    gone = viewer.script("return session.resource")
    # As if the server had let go of it without a word that reached the page.
    viewer.asynchronous("""
        const done = arguments[0];
        session.pc.getReceivers().forEach((receiver) => { receiver.transport.onstatechange = null; });
        session.pc.onconnectionstatechange = null;
        fetch(session.resource, {method: 'DELETE', headers: Session.headers()}).then((response) => done(response.status));""")
    viewer.script("dispatchEvent(new Event('online'))")
    viewer.until("session.resource && session.resource != " + repr(gone) + " && session.phase == 'connected'", what="another session")
    viewer.wait_live()
    viewer.until("rtcast.state == 'live'")


def test_the_page_uses_the_servers_that_the_cast_names(cast, browser):
    """They come before the page gathers, and again with the answer."""
    url = cast("test", "--fps", "5", "--size", "320x180", "--ice-server", "stun:127.0.0.1:9",
               "--ice-server", "turn:127.0.0.1:9?transport=tcp,user,pass").url()
    viewer = Viewer(browser, url).wait_live()
    assert viewer.script("return session.pc.getConfiguration().iceServers"
                         ".map(s => [[s.urls].flat()[0], s.username || null, s.credential || null])") == [
        ["stun:127.0.0.1:9", None, None], ["turn:127.0.0.1:9?transport=tcp", "user", "pass"]]
    kinds = viewer.script("""return Session.parseLinks('<turn:h%3Ftransport=tcp>; rel="ice-server"; username="a, b"; credential="q\\\\"x;", '
        + '<stun:s>;rel=ice-server, <https://x>; rel="next", rubbish, <turn:broken; rel="ice-server"')""")
    assert kinds == [{"urls": "turn:h?transport=tcp", "username": "a, b", "credential": 'q"x;'}, {"urls": "stun:s"}]
