"""Codecs and chroma: what is asked for is what browsers decode, and who cannot decode it sees a picture all the same."""

import time

import numpy as np
import pytest

from harness import firefox as firefox_browser
from harness.browser import Viewer, drawn
from harness.pictures import PAGE_SIZE as SIZE, coloured_page, luma, psnr
from harness.rtcast import run


@pytest.fixture
def firefox():
    browser = firefox_browser.Firefox(size=(1500, 1000))
    yield browser
    browser.quit()


def codec(viewer):
    """What the video comes as, and its parameters."""
    stats = viewer.stats()
    inbound = next(entry for entry in stats if entry["type"] == "inbound-rtp" and entry["kind"] == "video")
    found = next(entry for entry in stats if entry["id"] == inbound["codecId"])
    return found["mimeType"], found.get("sdpFmtpLine", "")


def until_like(wanted, least, look, timeout=30):
    """Looks until the picture is as like as this, in dB; returns the likeness."""
    deadline = time.monotonic() + timeout
    while True:
        found = psnr(look(), wanted)
        if found >= least:
            return found
        assert time.monotonic() < deadline, f"{found:.1f} dB"
        time.sleep(0.2)


def open_in(firefox, url):
    """Opens the page and waits for its picture."""
    firefox.get(url)
    deadline = time.monotonic() + 20
    while not firefox.execute_script("return !!(window.rtcast && rtcast.state === 'live')"):
        assert time.monotonic() < deadline, "Firefox has no picture"
        time.sleep(0.1)


def shown_by(firefox):
    """The luma of what it shows."""
    picture = drawn(firefox.execute_script)
    return luma(picture) if picture.shape[:2] == SIZE[::-1] else np.zeros(SIZE[::-1])


@pytest.mark.feature("S4.13", "S4.18", peer="Chromium")
@pytest.mark.parametrize("named, chroma, profile, least", [
    ("VP9", "420", "profile-id=0", 20), ("VP9", "444", "profile-id=1", 40), ("AV1", "420", "profile=0", 20), ("AV1", "444", "profile=1", 40),
    ("H264", "420", "profile-level-id=42e01f", 20), ("H264", "444", "profile-level-id=f4001f", 40),
])
def test_chromium_decodes_what_was_asked_for(screen, cast, browser, named, chroma, profile, least):
    server, painter, window = screen
    rtcast = cast("screen", "--fps", "10", "--bitrate", "4M", "--no-cursor", "--codec", named, "--chroma", chroma,
                  display=server.name)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    name, parameters = codec(viewer)
    assert name == "video/" + named and profile in parameters, (name, parameters)
    until_like(server.picture(), least, viewer.picture)
    until_like(luma(server.picture()), 40, lambda: luma(viewer.picture()))
    # Another page, as sharp as the first.
    painter.put(window, coloured_page(*SIZE, seed=2))
    until_like(server.picture(), least, viewer.picture)


@pytest.mark.quiet("the rung that each viewer is on")
def test_a_browser_that_cannot_decode_full_chroma_has_a_picture_beside_one_that_can(screen, cast, browser, firefox):
    server, painter, window = screen
    rtcast = cast("screen", "--fps", "10", "--bitrate", "4M", "--no-cursor", "--chroma", "444", display=server.name)
    url = rtcast.url()
    viewer = Viewer(browser, url).wait_live()
    until_like(server.picture(), 40, viewer.picture)
    open_in(firefox, url)
    until_like(luma(server.picture()), 32, lambda: shown_by(firefox))
    # Both go on.
    painter.put(window, coloured_page(*SIZE, seed=3))
    until_like(luma(server.picture()), 32, lambda: shown_by(firefox))
    until_like(server.picture(), 40, viewer.picture)
    name, parameters = codec(viewer)
    assert name == "video/VP9" and "profile-id=1" in parameters
    stats = rtcast.wait_event("stats", where=lambda event: event["viewers"] == 2)
    assert {"main", "side"} == {peer["rung"] for peer in stats["peers"]}, stats["peers"]
    assert "codec" in {peer["rung_reason"] for peer in stats["peers"]}


def test_auto_gives_the_best_that_is_decoded_and_changes_when_who_decodes_it_has_left(screen, cast, browser, firefox, tmp_path):
    server, painter, window = screen
    rtcast = cast("screen", "--fps", "5", "--bitrate", "4M", "--no-cursor", "--codec", "auto", display=server.name,
                  env={"XDG_STATE_HOME": str(tmp_path)})
    url = rtcast.url()
    kept = (tmp_path / "rtcast" / "codec-costs").read_text().splitlines()
    assert len(kept) >= 6 and any(line.startswith("AV1 444 ") for line in kept), kept
    viewer = Viewer(browser, url).wait_live()
    name, parameters = codec(viewer)
    assert any(profile in parameters for profile in ("profile=1", "profile-id=1", "f4001f")), (name, parameters)
    until_like(server.picture(), 40, viewer.picture)
    # One of two cannot decode it: nothing changes for the first.
    open_in(firefox, url)
    until_like(luma(server.picture()), 32, lambda: shown_by(firefox))
    assert codec(viewer)[0] == name
    rtcast.wait_event("stats", where=lambda event: event["viewers"] == 2 and "codec" in {peer["rung_reason"] for peer in event["peers"]})
    # Who could has left: one encoder serves the other, with what that decodes.
    browser.get("about:blank")
    stats = rtcast.wait_event("stats", timeout=40, where=lambda event: event["viewers"] == 1 and event["peers"][0]["rung_reason"] != "codec")
    painter.put(window, coloured_page(*SIZE, seed=3))
    until_like(luma(server.picture()), 32, lambda: shown_by(firefox))


def scroll(painter, window, seconds):
    """Shows a page that moves on by six lines some thirty times a second; returns it as it is in the end."""
    page = coloured_page(*SIZE, seed=4)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        page = np.roll(page, -6, axis=0)
        painter.put(window, page)
        time.sleep(1 / 30)
    return page


@pytest.mark.quiet("frames that a busy browser drops")
def test_browsers_show_layered_movements_whole(screen, cast, browser, firefox):
    server, painter, window = screen
    rtcast = cast("screen", "--fps", "30", "--bitrate", "4M", "--no-cursor", "--codec", "VP9", "--scalability-mode", "L1T2",
                  display=server.name)
    url = rtcast.url()
    viewer = Viewer(browser, url).wait_live()
    open_in(firefox, url)
    until_like(luma(server.picture()), 40, lambda: luma(viewer.picture()))

    def inbound():
        return next(entry for entry in viewer.stats() if entry["type"] == "inbound-rtp" and entry["kind"] == "video")

    measured = []

    def decoded_whole():
        """Whether frames of both layers are decoded during a movement, and none is missed."""
        before = inbound()
        scroll(painter, window, 4)
        after = inbound()
        received, decoded, asked = (after[name] - before[name] for name in ("framesReceived", "framesDecoded", "pliCount"))
        measured.append((received, decoded, asked))
        # The screen, the encoder and two browsers fill two cores: 13 to 17 frames were counted, 10 with other tests beside.
        return received >= 8 and decoded >= received - 2 and asked == 0

    # On a machine that is full for seconds, the browser's socket overflows, and it asks for a key frame.
    assert any(decoded_whole() for _ in range(3)), measured
    assert codec(viewer)[0] == "video/VP9"
    until_like(luma(server.picture()), 40, lambda: luma(viewer.picture()))
    until_like(luma(server.picture()), 40, lambda: shown_by(firefox))


def test_layers_are_for_vp9_alone():
    code, _, err = run("test", "--scalability-mode", "L1T2", "--duration", "1")
    assert code == 64 and "--codec VP9" in err, (code, err)


def test_a_codec_that_has_not_the_chroma_is_refused():
    code, _, err = run("test", "--codec", "VP8", "--chroma", "444", "--duration", "1")
    assert code == 64 and "--codec VP9" in err, (code, err)
