"""Pictures from another program's output, by standard input."""

import re
import subprocess
import threading
import time

import numpy as np
import pytest

from harness import barcode, clips as clip
from harness.browser import Viewer
from harness.rtcast import run


def feed(rtcast, pieces, rate=None):
    """Writes in a thread; with a rate, that many pieces a second. The result's `done` tells whether all of it went in."""
    def work():
        start = time.monotonic()
        for index, piece in enumerate(pieces):
            if rate and (wait := start + index / rate - time.monotonic()) > 0:
                time.sleep(wait)
            if not rtcast.write(piece):
                return
        thread.done = True
        rtcast.end_of_input()
    thread = threading.Thread(target=work, daemon=True)
    thread.done = False
    thread.start()
    return thread


def bgra(count, width=640, height=360):
    for number in range(count):
        plane = clip.luma(number, width, height, 30, False)
        yield np.stack([plane, plane, plane, np.full_like(plane, 255)], axis=2).tobytes()


def test_ffmpegs_output_plays_and_its_end_ends_the_cast(cast, clips, browser):
    source = subprocess.Popen(
        ["ffmpeg", "-loglevel", "error", "-i", clips.numbered("numbered.mp4", sound="aac"), "-f", "yuv4mpegpipe", "-pix_fmt", "yuv420p", "-"],
        stdout=subprocess.PIPE)
    rtcast = cast("pipe", stdin=source.stdout)
    source.stdout.close()
    viewer = Viewer(browser, rtcast.url()).wait_live()
    seen = barcode.watch(viewer, 7)
    barcode.assert_in_order(seen)
    assert abs(barcode.slope(seen) / 30 - 1) < 0.02
    assert viewer.size() == (640, 360)
    assert rtcast.wait(30) == 0
    rtcast.drain()
    assert rtcast.seen[-1]["event"] == "ended"


@pytest.mark.parametrize("form, ffmpegs", [("bgra", "bgra"), ("i420", "yuv420p"), ("nv12", "nv12")])
def test_raw_frames_play(form, ffmpegs, cast, clips, browser):
    source = subprocess.Popen(["ffmpeg", "-loglevel", "error", "-re", "-i", clips.numbered("numbered.mp4", sound="aac"),
                               "-f", "rawvideo", "-pix_fmt", ffmpegs, "-"], stdout=subprocess.PIPE)
    rtcast = cast("pipe", "--raw-format", form, "--raw-size", "640x360", "--raw-fps", "30", stdin=source.stdout)
    source.stdout.close()
    viewer = Viewer(browser, rtcast.url()).wait_live()
    seen = barcode.watch(viewer, 7)
    barcode.assert_in_order(seen)
    assert abs(barcode.slope(seen) / 30 - 1) < 0.05   # as they come: the writer's pace is not ours
    assert rtcast.wait(30) == 0


@pytest.mark.parametrize("size", [(321, 241), (2, 2), (17, 1000)])
def test_sizes_of_all_kinds(size, cast, browser):
    rtcast = cast("pipe", stdin=subprocess.PIPE)
    feed(rtcast, clip.y4m(200, *size), rate=30)
    assert Viewer(browser, rtcast.url()).wait_live().size() == size


def test_a_writer_is_never_held_up_for_ever(cast):
    """Ten seconds of pictures at once, and nobody watches."""
    rtcast = cast("pipe", stdin=subprocess.PIPE)
    writer = feed(rtcast, clip.y4m(300))
    writer.join(25)
    assert writer.done
    assert rtcast.wait(20) == 0


def test_a_pipe_that_says_nothing_can_be_left(cast):
    rtcast = cast("pipe", stdin=subprocess.PIPE)
    time.sleep(1)
    rtcast.interrupt()
    assert rtcast.wait(5) == 0


def test_a_writer_that_rests_is_waited_for(cast, browser):
    rtcast = cast("pipe", stdin=subprocess.PIPE)
    pieces = list(clip.y4m(60))
    for piece in pieces[:31]:
        rtcast.write(piece)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    time.sleep(3)
    before = viewer.frames()
    feed(rtcast, pieces[31:], rate=30)
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 5}", what="frames after the rest")


def test_a_last_frame_that_is_cut_is_left_out_and_said():
    whole = b"".join(clip.y4m(20))
    code, _, err = run("pipe", stdin=whole[:-1000])
    assert code == 0 and re.search("incomplete|truncated|partial|cut|short", err, re.I), (code, err)
    raw = b"".join(bgra(10))
    code, _, err = run("pipe", "--raw-format", "bgra", "--raw-size", "640x360", "--raw-fps", "30", stdin=raw[:-5])
    assert code == 0 and re.search("incomplete|truncated|partial|cut|short|multiple", err, re.I), (code, err)


HEADERS = {
    "no picture": b"YUV4MPEG2 W0 H360 F30:1 C420jpeg\n",
    "beyond all size": b"YUV4MPEG2 W99999999 H99999999 F30:1 C420jpeg\n",
    "more digits than a number has": b"YUV4MPEG2 W" + b"9" * 400 + b" H360 F30:1\n",
    "negative": b"YUV4MPEG2 W-640 H360 F30:1\n",
    "no width": b"YUV4MPEG2 H360 F30:1\n",
    "a rate over nothing": b"YUV4MPEG2 W640 H360 F30:0\n",
    "a chroma unheard of": b"YUV4MPEG2 W640 H360 F30:1 C987\n",
    "a header without end": b"YUV4MPEG2 " + b"X" * 1_000_000,
    "another format": b"RIFF\x00\x00\x00\x00AVI LIST",
    "nothing": b"",
}


@pytest.mark.parametrize("name", list(HEADERS))
def test_input_that_is_no_video_is_refused(name):
    code, _, err = run("pipe", stdin=HEADERS[name] + b"FRAME\n" + bytes(1000) if HEADERS[name] else b"", timeout=20)
    assert code == 66, (code, err)
    assert "fatal error" not in err.lower() and len(err) > 20


def test_a_frame_header_that_is_none_ends_the_cast_with_a_sentence():
    code, _, err = run("pipe", stdin=b"".join(clip.y4m(5)) + b"GARBAGE\n" + bytes(5000), timeout=20)
    assert code == 0 and "damaged" in err and "5 whole pictures" in err, (code, err)


def test_raw_frames_need_a_size():
    code, _, err = run("pipe", "--raw-format", "bgra", stdin=b"x" * 100)
    assert code == 64 and "--raw-size" in err, (code, err)


def test_raw_frames_are_scaled_down_like_all_others(cast, browser):
    """`--size` is the largest picture to send, here as everywhere; `--raw-size` is what comes in."""
    rtcast = cast("pipe", "--raw-format", "bgra", "--raw-size", "640x360", "--raw-fps", "30", "--size", "320x180",
                  stdin=subprocess.PIPE)
    feed(rtcast, bgra(200), rate=30)
    assert Viewer(browser, rtcast.url()).wait_live().size() == (320, 180)
