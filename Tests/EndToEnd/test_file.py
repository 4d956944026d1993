"""Local files in a real Chromium: the right frames, in order, at their pace, with their sound, encoded anew or passed through."""

import os
import re
import time

import numpy as np
import pytest

from harness import barcode, sound
from harness.browser import Viewer
from harness.pictures import luma
from harness.rtcast import run

# name of the clip, how it is made, and the codec the viewer sees when the file's frames are passed through
CLIPS = {
    "mp4": ("numbered.mp4", dict(codec="h264", sound="aac"), "H264"),
    "webm": ("numbered.webm", dict(codec="vp9", sound="opus"), "VP9"),
    "vp8": ("numbered-vp8.webm", dict(codec="vp8", sound="opus"), "VP8"),
    "av1": ("numbered-av1.mkv", dict(codec="av1", sound="opus"), "AV1"),
}


def make(clips, kind, **changes):
    name, options, codec = CLIPS[kind]
    if changes:
        name = "-".join(f"{k}{v}" for k, v in sorted(changes.items())) + "-" + name
    return clips.numbered(name, **{**options, **changes}), codec


def stats(viewer):
    return viewer.asynchronous("window.rtcast.stats().then(arguments[0])")


@pytest.mark.quiet("the pace of frames")
@pytest.mark.parametrize("kind, way", [
    ("mp4", "--copy"), ("webm", "--copy"), ("vp8", "--copy"), ("av1", "--copy"), ("mp4", "--no-copy"), ("av1", "--no-copy"),
])
def test_frames_come_in_order_at_their_pace_with_their_sound(kind, way, cast, clips, browser):
    path, codec = make(clips, kind)
    rtcast = cast("file", path, "--loop", way)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    sound.wait_tone(viewer, 440)
    seen = barcode.watch(viewer, 7)
    rtcast.drain()
    barcode.assert_in_order(seen, 300)
    assert abs(barcode.slope(barcode.unwrapped(seen, 300)) / 30 - 1) < 0.02
    inbound = viewer.stat("inbound-rtp", kind="video")
    assert inbound["framesPerSecond"] > 25
    if way == "--copy":
        assert stats(viewer)["codec"] == codec
        # Nothing that arrived whole was missing what it needs.
        assert inbound["pliCount"] == 0 and inbound["framesDropped"] <= 2, inbound
    else:
        assert stats(viewer)["codec"] == "VP8"
        told = rtcast.wait_event("stats", where=lambda event: event["viewers"] == 1)
        assert told["fps_encoded"] > 20 and told["fps_passed"] == 0, told
    assert viewer.size() == (640, 360)


# Notes when the page is connected, and the number of the first picture that it shows. Runs before the page's own scripts.
FIRST_PICTURE = "{" + barcode.READER + """
    window.first = {};
    const look = setInterval(() => {
      const video = document.querySelector("video");
      if (window.rtcast?.pc?.connectionState === "connected") window.first.connected ??= performance.now();
      if (!video || !window.first.connected) return;
      clearInterval(look);
      const note = async (now) => {
        const code = window.barcode.read(video);
        if (!code) return video.requestVideoFrameCallback(note);
        // A busy browser does not show the first pictures that it decodes, so the first one is reckoned from their count.
        const streams = [...(await window.rtcast.pc.getStats()).values()];
        const { framesDecoded } = streams.find((each) => each.type === "inbound-rtp" && each.kind === "video");
        const number = (window.barcode.read(video) ?? code).frame - framesDecoded + 1;
        Object.assign(window.first, { number, shown: now });
      };
      video.requestVideoFrameCallback(note);
    }, 5);
  }"""


# Each container and each way once: what they have in common is the clock.
@pytest.mark.alone("the time between picture and sound")
@pytest.mark.parametrize("kind, way", [("mp4", "--copy"), ("webm", "--no-copy")])
def test_picture_and_sound_are_within_40_ms(kind, way, cast, clips, ear):
    path, _ = make(clips, kind, flash=True, seconds=12)
    viewer = Viewer(ear, cast("file", path, "--loop", way).url()).wait_live()
    found, browsers_own = sound.settled_offset(viewer, within=40)
    assert abs(found) <= 40, (found, browsers_own)


@pytest.mark.quiet("gaps in the sound")
@pytest.mark.parametrize("kind, way", [("mp4", "--no-copy"), ("webm", "--copy")])
def test_the_loop_has_no_seam(kind, way, cast, clips, ear):
    path, _ = make(clips, kind, seconds=4)
    viewer = Viewer(ear, cast("file", path, "--loop", way).url()).wait_live()
    sound.wait_tone(viewer, 440)
    seen = barcode.watch(viewer, 10)
    barcode.assert_in_order(seen, 120)
    all_frames = all_ticks = turns = 0
    for frames, ticks, seconds in barcode.steps(seen, 120):
        # A callback that comes late may find the next picture in place of its own, never one further.
        assert abs(ticks - frames * 3000) <= 3000 + 300, (frames, ticks)
        all_frames, all_ticks = all_frames + frames, all_ticks + ticks
    numbers = [s["number"] for s in barcode.distinct(seen)]
    turns = sum(b < a for a, b in zip(numbers, numbers[1:]))
    assert turns >= 2
    # Per seam at most what the last packet of sound is longer than the picture.
    assert abs(all_ticks - all_frames * 3000) <= 3000 + turns * 1500, (all_frames, all_ticks)
    gaps = sound.gaps(viewer, 9)
    # At a seam at most the encoder's delay of 7 ms at both ends. A packet more would be heard at both turns; once alone it is the machine
    # that hesitated.
    assert sum(gap > 25 for gap in gaps) <= 1 and len(gaps) <= 6, gaps


def test_bidirectional_frames_are_encoded_anew(cast, clips, browser):
    path, _ = make(clips, "mp4", b_frames=3)
    viewer = Viewer(browser, cast("file", path, "--loop").url()).wait_live()
    seen = barcode.watch(viewer, 5)
    barcode.assert_in_order(seen, 300)
    assert stats(viewer)["codec"] == "VP8", "no receiver could put them in order"
    assert abs(barcode.slope(barcode.unwrapped(seen, 300)) / 30 - 1) < 0.02


@pytest.mark.quick
def test_frames_are_passed_through_where_that_is_possible(cast, clips, browser):
    """`auto`, the default."""
    path, codec = make(clips, "mp4")
    viewer = Viewer(browser, cast("file", path, "--loop").url()).wait_live()
    assert stats(viewer)["codec"] == codec


@pytest.mark.quiet("how soon a viewer sees a picture")
@pytest.mark.parametrize("every", [30, 300])
def test_who_comes_late_sees_a_picture_soon(every, cast, clips, browser):
    """At the next key frame of the file; or sooner by encoding anew, when that is more than a second away."""
    path, _ = make(clips, "mp4", keyframe_every=every)
    url = cast("file", path, "--loop", "--copy" if every == 30 else "--loop").url()
    first = Viewer(browser, url).wait_live()
    # A key frame has just gone by: the next one of the file is as far away as it can be.
    first.script(barcode.READER)
    shown = "window.barcode.read(document.querySelector('video'))?.frame"
    first.until(f"{shown} >= 62 && {shown} < 90", timeout=40, what="a picture soon after a key frame")
    browser.switch_to.new_window("tab")
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": FIRST_PICTURE})
    second = Viewer(browser, url)
    second.until("window.first?.connected && window.first.number !== undefined", what="the second viewer's first picture")
    number, waited = second.script("return [first.number, (first.shown - first.connected) / 1000]")
    # Whatever the machine made of the way to the connection: from there at most a second of the file, and the rest to decode and show it.
    assert waited < 3, (number, waited)
    if every == 30:
        # The newest decoded picture may not be shown yet, and the counts are not of the same moment.
        assert (number + 5) % 30 <= 13, f"the file's own key frame, not {number}"
    else:
        assert 62 < number < 295, "it has not waited for the file's next one, which is its first"
    before = first.frames()
    first.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 10}", what="the first goes on")
    second.select()
    seen = barcode.watch(second, 2)
    barcode.assert_in_order(seen, 300)
    second.close()


def test_a_file_ends_and_so_does_the_cast(cast, clips, browser):
    path, _ = make(clips, "mp4", seconds=4)
    rtcast = cast("file", path)
    viewer = Viewer(browser, rtcast.url())
    assert rtcast.wait(30) == 0
    rtcast.drain()
    assert rtcast.seen[-1]["event"] == "ended"


def test_a_start_in_the_middle(cast, clips, browser):
    path, _ = make(clips, "mp4")
    viewer = Viewer(browser, cast("file", path, "--start", "5", "--loop", "--no-copy").url()).wait_live()
    first = next(s["number"] for s in barcode.watch(viewer, 1) if s["number"] is not None)
    assert 150 <= first < 250, first


@pytest.mark.quiet("the pace of frames")
@pytest.mark.parametrize("speed", [0.5, 2])
def test_speed(speed, cast, clips, browser):
    path, _ = make(clips, "mp4")
    viewer = Viewer(browser, cast("file", path, "--speed", str(speed), "--loop").url()).wait_live()
    seen = barcode.watch(viewer, 8)
    assert abs(barcode.slope(barcode.unwrapped(seen, 300)) / (30 * speed) - 1) < 0.03


@pytest.mark.quiet("the pace of frames")
def test_fps_and_size_are_limits(cast, clips, browser):
    path, _ = make(clips, "mp4")
    viewer = Viewer(browser, cast("file", path, "--loop", "--fps", "10", "--size", "320x180").url()).wait_live()
    assert viewer.size() == (320, 180)
    seen = barcode.watch(viewer, 4)
    assert 30 <= len(barcode.distinct(seen)) <= 44
    assert abs(barcode.slope(barcode.unwrapped(seen, 300)) / 30 - 1) < 0.03, "fewer frames, the same pace"


@pytest.mark.quiet("the pace of frames")
def test_a_variable_rate_follows_the_timestamps(cast, clips, browser):
    """Two seconds of the clip have no frames at all, two have every third."""
    path, _ = make(clips, "mp4")
    varied = clips.remade("varied.mp4", path, "-vf", r"select='not(between(n,90,149))*(not(between(n,180,239))+not(mod(n,3)))'",
                          "-fps_mode", "vfr", "-c:v", "libx264", "-bf", "0", "-c:a", "copy")
    viewer = Viewer(browser, cast("file", varied, "--loop").url()).wait_live()
    seen = barcode.watch(viewer, 10)
    barcode.assert_in_order(seen, 300)
    assert abs(barcode.slope(barcode.unwrapped(seen, 300)) / 30 - 1) < 0.02


def test_a_file_of_sound_alone(cast, clips, browser):
    viewer = Viewer(browser, cast("file", clips.sound_only(), "--loop").url())
    viewer.until("window.rtcast && rtcast.state == 'live'", what="live without a picture")
    sound.wait_tone(viewer, 440)
    assert viewer.script("return document.documentElement.dataset.sound") == "only"


def test_no_sound_on_request(cast, clips, browser):
    path, _ = make(clips, "mp4")
    viewer = Viewer(browser, cast("file", path, "--loop", "--audio", "none").url()).wait_live()
    time.sleep(1)
    assert viewer.script("return document.documentElement.dataset.sound") is None


@pytest.mark.feature("S0.72", peer="Chromium, FFmpeg")
def test_a_rotated_recording_stands_upright(cast, clips, browser):
    path, _ = make(clips, "mp4")
    turned = clips.remade("turned.mp4", path, "-c", "copy", "-metadata:s:v", "rotate=90")
    viewer = Viewer(browser, cast("file", turned, "--loop").url()).wait_live()
    assert viewer.size() == (360, 640)
    told = stats(viewer)
    assert (told["width"], told["height"]) == (360, 640), "the page names the size that is seen"
    # The bar code, which is in the top left corner of the recording, stands on end at the left or right edge, and can be read when the
    # picture is turned back.
    upright = luma(viewer.picture())
    assert barcode.read(np.rot90(upright, 3)) is not None


@pytest.mark.parametrize("name, options", [
    ("ten-bit.mp4", dict(codec="h264", extra=("-pix_fmt", "yuv420p10le", "-profile:v", "high10"))),
    ("four-four-four.mp4", dict(codec="h264", extra=("-pix_fmt", "yuv444p", "-profile:v", "high444"))),
    ("odd.mkv", dict(codec="ffv1", width=321, height=241)),
    ("stream.ts", dict(codec="h264", sound="aac")),
    ("clip.avi", dict(codec="h264", sound="mp3", extra=("-bsf:v", "h264_mp4toannexb"))),
    ("clip.mov", dict(codec="h264", sound="aac")),
    ("clip.mkv", dict(codec="h264", sound="flac")),
    ("clip.ivf", dict(codec="vp8")),
])
def test_what_else_plays(name, options, cast, clips, browser):
    path = clips.numbered(name, seconds=6, **options)
    viewer = Viewer(browser, cast("file", path, "--loop").url()).wait_live()
    barcode.assert_in_order(barcode.watch(viewer, 3), 180)
    if options.get("sound"):
        sound.wait_tone(viewer, 440)


def test_pictures_that_move_and_that_do_not(cast, clips, browser):
    path, _ = make(clips, "mp4")
    gif = clips.remade("moving.gif", path, "-t", "2", "-vf", "fps=10")
    still = clips.remade("still.png", path, "-frames:v", "1")
    viewer = Viewer(browser, cast("file", gif, "--loop").url()).wait_live()
    seen = barcode.watch(viewer, 3)
    assert len({s["number"] for s in seen}) > 10
    viewer = Viewer(browser, cast("file", still, "--loop").url()).wait_live()
    assert viewer.size() == (640, 360)
    assert barcode.read(luma(viewer.picture())) == 0


def test_a_size_that_changes_on_the_way(cast, clips, browser):
    small = clips.numbered("small.ts", codec="h264", seconds=3, width=320, height=180)
    large = clips.numbered("large.ts", codec="h264", seconds=3, width=640, height=360)
    both = clips.bytes("both.ts", open(small, "rb").read() + open(large, "rb").read())
    viewer = Viewer(browser, cast("file", both, "--loop").url()).wait_live()
    sizes = {(s["width"], s["height"]) for s in barcode.watch(viewer, 7)}
    assert {(320, 180), (640, 360)} <= sizes, sizes


# MARK: files that are none

def refused(path, *arguments, status=(66,)):
    code, out, err = run("file", path, *arguments, timeout=30)
    assert code in status, (code, out, err)
    assert "fatal error" not in err.lower() and len(err.strip().splitlines()) <= 6
    return err


def test_files_that_cannot_be_played_are_named(clips, tmp_path):
    path, _ = make(clips, "mp4")
    for bad in (str(tmp_path / "missing.mp4"), clips.bytes("empty.mp4", b""), clips.garbage(), clips.bytes("note.txt", b"hello\n" * 50),
                str(tmp_path), clips.truncated("cut.mp4", path, 0.5)):
        assert os.path.basename(bad) in refused(bad), bad


def test_a_protected_file_is_refused_as_one(clips):
    path, _ = make(clips, "mp4")
    locked = clips.remade("locked.mp4", path, "-c", "copy", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "00" * 15 + "01",
                          "-encryption_kid", "00" * 15 + "02")
    assert re.search("encrypt|protect|DRM", refused(locked), re.I)


def test_a_file_that_may_not_be_read(clips, tmp_path):
    path = tmp_path / "closed.mp4"
    path.write_bytes(b"x")
    path.chmod(0)
    if os.access(path, os.R_OK):
        path.unlink()          # root may read anything: then it is a missing one
    assert "closed.mp4" in refused(str(path), status=(66, 77))


def test_a_truncated_file_plays_as_far_as_it_goes(cast, clips, browser):
    path, _ = make(clips, "webm")
    rtcast = cast("file", clips.truncated("cut.webm", path, 0.6))
    viewer = Viewer(browser, rtcast.url()).wait_live()
    barcode.assert_in_order(barcode.watch(viewer, 2), 300)
    assert rtcast.wait(30) == 0


def test_damage_in_the_middle_ends_nothing(cast, clips, browser):
    path, _ = make(clips, "mp4")
    data = bytearray(open(clips.remade("whole.ts", path, "-c", "copy"), "rb").read())
    data[len(data) // 3:len(data) // 3 + 4000] = os.urandom(4000)
    viewer = Viewer(browser, cast("file", clips.bytes("damaged.ts", bytes(data)), "--loop", "--no-copy").url()).wait_live()
    seen = barcode.watch(viewer, 12)
    assert {s["number"] for s in seen} & set(range(0, 60)) and {s["number"] for s in seen} & set(range(240, 300))
