"""A running cast is told what to do, one JSON command a line."""

import subprocess
import time

import pytest

from harness import barcode, sound
from harness.browser import Viewer

CAST = ("test", "--pattern", "clock", "--fps", "10", "--size", "640x360", "--control")


@pytest.fixture
def controlled(cast, browser):
    def start(*arguments):
        rtcast = cast(*(arguments or CAST), stdin=subprocess.PIPE)
        viewer = Viewer(browser, rtcast.url()).wait_live()
        viewer.script("window.before = rtcast.pc")
        return rtcast, viewer
    return start


def same_session(viewer):
    return viewer.script("return window.before === rtcast.pc && rtcast.state == 'live'")


def frames_in(viewer, seconds):
    before = viewer.frames()
    time.sleep(seconds)
    return viewer.frames() - before


def test_the_source_changes_and_the_session_stays(controlled):
    rtcast, viewer = controlled()
    rtcast.command("source", "test", "--pattern", "bars", "--size", "800x450")
    viewer.until("document.querySelector('video').videoWidth == 800", what="the new picture")
    assert same_session(viewer) and viewer.size() == (800, 450)
    rtcast.command("source", "test", "--pattern", "clock", "--size", "320x180")
    viewer.until("document.querySelector('video').videoWidth == 320")
    assert same_session(viewer)
    inbound = [s for s in viewer.stats() if s["type"] == "inbound-rtp" and s["kind"] == "video"]
    assert len(inbound) == 1, "the same track"


def test_from_a_pattern_to_a_file_and_back(controlled, clips):
    rtcast, viewer = controlled(*CAST, "--tone", "440")
    sound.wait_tone(viewer, 440)
    path = clips.numbered("numbered-660.mp4", sound="aac", tone=660)
    rtcast.command("source", "file", path, "--loop")
    sound.wait_tone(viewer, 660)
    barcode.assert_in_order(barcode.watch(viewer, 3), 300)
    rtcast.command("source", "test", "--pattern", "clock", "--size", "640x360", "--tone", "440")
    sound.wait_tone(viewer, 440)
    assert same_session(viewer)


def test_a_source_that_cannot_be_had_leaves_the_old_one(controlled):
    rtcast, viewer = controlled()
    rtcast.command("source", "file", "/no/such/file.mp4")
    assert "file.mp4" in str(rtcast.wait_event("error"))
    rtcast.command("source", "test", "--pattern", "nothing")
    assert "nothing" in str(rtcast.wait_event("error"))
    assert frames_in(viewer, 2) > 10 and same_session(viewer)


def test_pause_and_resume(controlled):
    rtcast, viewer = controlled()
    rtcast.command("pause")
    rtcast.wait_event("stats", where=lambda event: event["viewers"] == 1 and event["fps_sent"] == 0)
    assert frames_in(viewer, 2) <= 1
    rtcast.command("resume")
    rtcast.wait_event("stats", where=lambda event: event["fps_sent"] > 5)
    assert frames_in(viewer, 2) > 10 and same_session(viewer)


def test_mute_is_silence_for_viewers(controlled):
    rtcast, viewer = controlled(*CAST, "--tone", "440")
    sound.wait_tone(viewer, 440)
    rtcast.command("mute")
    rtcast.wait_event("control", where=lambda event: event["ok"] and event["command"] == "mute")
    sound.wait_silence(viewer)
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 5}", what="pictures go on")
    rtcast.command("unmute")
    sound.wait_tone(viewer, 440)
    assert same_session(viewer)


def test_fps(controlled):
    rtcast, viewer = controlled()
    rtcast.command("fps", "25")
    rtcast.wait_event("stats", where=lambda e: 24 <= e["fps_captured"] <= 26)
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 30}", what="frames go on")


def test_bitrate_and_hint_show_in_the_statistics(controlled):
    rtcast, viewer = controlled()
    rtcast.command("bitrate", "300k")
    rtcast.wait_event("stats", where=lambda e: e["target_bps"] <= 300_000)
    rtcast.command("hint", "motion")
    rtcast.wait_event("stats", where=lambda e: e["content_hint"] == "motion")
    assert same_session(viewer)


def test_a_key_frame_on_request(controlled):
    rtcast, viewer = controlled()
    viewer.until("document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > 10", what="frames after the first")
    before = viewer.stat("inbound-rtp", kind="video")["keyFramesDecoded"]
    rtcast.command("keyframe")
    deadline = time.monotonic() + 20
    while viewer.stat("inbound-rtp", kind="video")["keyFramesDecoded"] == before:
        assert time.monotonic() < deadline, "no key frame"
        time.sleep(0.05)


NONSENSE = [
    b"not json\n", b"[]\n", b"{}\n", b'{"command":"fly"}\n', b'{"command":"fps","arguments":["many"]}\n', b'{"command":"fps"}\n',
    b'{"command":7}\n', b"\xff\xfe\x00\n", b'{"command":"bitrate","arguments":["-1"]}\n', b"{" * 100_000 + b"\n",
]


def test_a_line_that_means_nothing_is_answered_and_changes_nothing(controlled):
    """Each by one sentence, in their order."""
    rtcast, viewer = controlled()
    before = viewer.frames()
    for line in NONSENSE:
        assert rtcast.write(line)
        assert rtcast.wait_event("error")["message"], line[:40]
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 10}", what="frames go on")
    assert same_session(viewer)
    rtcast.command("fps", "5")
    rtcast.wait_event("control", where=lambda event: event["command"] == "fps")
    assert sum(event["event"] == "error" for event in rtcast.seen) == len(NONSENSE)
    rtcast.wait_event("stats", where=lambda event: event["fps_captured"] < 7)


def test_the_end_of_commands_is_not_the_end_of_the_cast(controlled):
    rtcast, viewer = controlled()
    rtcast.end_of_input()
    assert frames_in(viewer, 2) > 10
