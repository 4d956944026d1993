"""Cameras: found by path, number and name, in every format, and seen right by a viewer; and cameras that do not do as they say.

The cameras are `harness/camera.c`, which the program takes for Video4Linux devices. Refusals where there is no camera: test_camera.py.
"""

import errno
import json
import subprocess
import time

import numpy as np
import pytest

from harness import barcode, camera
from harness.browser import Viewer, drawn
from harness.camera import LENGTH, Cameras, Mode
from harness.rtcast import run

SIZE = (320, 240)
SMALL = (160, 120)
RATE = 15
AS_ASKED = ("--size", "320x240", "--fps", str(RATE))


@pytest.fixture
def cameras(tmp_path):
    return Cameras(tmp_path)


def shows_the_camera(viewer):
    """The viewer sees the camera's pictures, one after the other, in the right colours."""
    assert viewer.size() == SIZE
    seen = barcode.watch(viewer, 2)
    barcode.assert_in_order(seen, LENGTH)
    assert len({s["number"] for s in seen} - {None}) >= 4, seen
    camera.assert_bars(viewer.picture())


def codec(viewer):
    return viewer.asynchronous("window.rtcast.stats().then(arguments[0])")["codec"]


def is_sent(viewer, wanted, timeout=15):
    """Waits until the viewer is sent this codec: until the camera's next key frame it may have pictures that are encoded here."""
    deadline = time.monotonic() + timeout
    while (seen := codec(viewer)) != wanted:
        assert time.monotonic() < deadline, f"{seen} and not {wanted}"
        time.sleep(0.1)


def stats(rtcast, where):
    return rtcast.wait_event("stats", where=lambda event: event["viewers"] > 0 and where(event))


# MARK: formats

@pytest.mark.feature("S1.25", "S1.26", "S4.19")
@pytest.mark.parametrize("code, name", [("YUYV", "/dev/video5"), ("NV12", "5"), ("MJPG", "left WEB")],
                         ids=["YUYV by path", "NV12 by number", "MJPEG by name"])
def test_a_camera_is_seen_as_it_is(code, name, cameras, cast, browser):
    """The mode nearest to the wish is taken among those of two sizes and of two cameras, one of which is there before."""
    cameras.add("/dev/video0", "Infrared Sensor", [Mode("YUYV", SMALL, 30)])
    cameras.add("/dev/video5", "Left Webcam: Left Webcam", [Mode(code, SMALL, 30), Mode(code, SIZE, RATE)])
    rtcast = cast("camera", name, *AS_ASKED, env=cameras.environment)
    shows_the_camera(Viewer(browser, rtcast.url()).wait_live())
    told = stats(rtcast, lambda event: event["fps_captured"] > 0)
    assert told["fps_captured"] <= RATE + 2 and told["fps_passed"] == 0, told


def test_the_first_camera_is_taken_when_none_is_named(cameras, cast, browser):
    cameras.add("/dev/video3", "Right Webcam", [Mode("NV12", SIZE, 0)])
    cameras.add("/dev/video5", "Left Webcam", [Mode("NV12", SMALL, 30)])
    rtcast = cast("camera", *AS_ASKED, env=cameras.environment)
    shows_the_camera(Viewer(browser, rtcast.url()).wait_live())


@pytest.mark.feature("S1.25", "S1.26")
def test_cameras_and_what_they_can_do_are_listed(cameras):
    """A camera that does not say how fast it is counts for 30 pictures a second."""
    cameras.add("/dev/video2", "Left Webcam", [Mode("YUYV", SIZE, 15), Mode("MJPG", (640, 360), 60)])
    cameras.add("/dev/video4", "Right Webcam", [Mode("NV12", SIZE, 0)])
    code, out, _ = run("list", "cameras", env=cameras.environment)
    assert code == 0
    left, right = (line.split() for line in out.splitlines()[1:])
    assert left == ["/dev/video2", "Left", "Webcam", "640x360@60", "320x240@15"] and right[0] == "/dev/video4"
    found = json.loads(run("list", "cameras", "--json", env=cameras.environment)[1])["cameras"]
    assert [each["name"] for each in found] == ["Left Webcam", "Right Webcam"]
    assert found[1]["formats"] == [{"width": 320, "height": 240, "fps": 30}]
    code, _, err = run("camera", "Middle", env=cameras.environment)
    assert code == 66 and "Left Webcam, Right Webcam" in err, err


# MARK: H.264

def test_h264_of_a_camera_reaches_viewers_as_it_is(cameras, cast, browser):
    cameras.add("/dev/video0", "Webcam", [Mode("MJPG", SIZE, RATE), Mode("H264", SIZE, RATE)])
    rtcast = cast("camera", *AS_ASKED, env=cameras.environment)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    shows_the_camera(viewer)
    is_sent(viewer, "H264")
    told = stats(rtcast, lambda event: event["fps_passed"] > 0 and event["fps_encoded"] == 0)
    assert told["fps_passed"] <= RATE + 2, told
    assert viewer.stat("inbound-rtp", kind="video")["pliCount"] == 0


def test_a_viewer_who_comes_between_key_frames_that_are_far_apart_is_not_kept_waiting(cameras, cast, browser):
    """There is one key frame in twelve seconds: until then a viewer sees what is encoded here, of a decoder that begins with the last."""
    cameras.add("/dev/video0", "Webcam", [Mode("H264", SIZE, 5, keyframe_every=LENGTH)])
    rtcast = cast("camera", *AS_ASKED, env=cameras.environment)
    url = rtcast.url()
    rtcast.wait_event("stats")
    viewer = Viewer(browser, url).wait_live(8)
    shows_the_camera(viewer)


@pytest.mark.parametrize("options", [("--no-copy",), ("--codec", "vp8", "--no-copy")])
def test_h264_of_a_camera_is_encoded_anew_on_request(options, cameras, cast, browser):
    cameras.add("/dev/video0", "Webcam", [Mode("H264", SIZE, RATE)])
    rtcast = cast("camera", *AS_ASKED, *options, env=cameras.environment)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    shows_the_camera(viewer)
    assert stats(rtcast, lambda event: event["fps_encoded"] > 0)["fps_passed"] == 0


def test_h264_is_preferred_on_request(cameras, cast, browser):
    cameras.add("/dev/video0", "Webcam", [Mode("NV12", SIZE, RATE), Mode("H264", SIZE, RATE)])
    viewer = Viewer(browser, cast("camera", *AS_ASKED, env=cameras.environment).url()).wait_live()
    assert codec(viewer) != "H264"
    viewer = Viewer(browser, cast("camera", "--copy", *AS_ASKED, env=cameras.environment).url()).wait_live()
    is_sent(viewer, "H264")


def test_h264_that_no_browser_takes_is_encoded_anew(cameras, cast, browser):
    """Colours of their own for each pixel."""
    mode = Mode("H264", SIZE, RATE, extra=["-pix_fmt", "yuv444p", "-profile:v", "high444"])
    cameras.add("/dev/video0", "Webcam", [mode])
    viewer = Viewer(browser, cast("camera", *AS_ASKED, env=cameras.environment).url()).wait_live()
    shows_the_camera(viewer)


def test_h264_larger_than_the_largest_size_is_encoded_anew(cameras, cast, browser):
    cameras.add("/dev/video0", "Webcam", [Mode("H264", SIZE, RATE)])
    rtcast = cast("camera", "--size", "160x120", "--fps", str(RATE), env=cameras.environment)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    assert viewer.size() == (160, 120) and stats(rtcast, lambda event: event["fps_encoded"] > 0)["fps_passed"] == 0


# MARK: calls and control

@pytest.mark.feature("S3.37")
@pytest.mark.parametrize("code", ["MJPG", "H264"])
def test_a_call_shows_the_camera(code, cameras, cast, visit):
    cameras.add("/dev/video1", "Infrared Sensor", [Mode("YUYV", SMALL, 30)])
    cameras.add("/dev/video5", "Left Webcam", [Mode(code, SIZE, RATE)])
    hub = cast("serve", "--listen", "127.0.0.1:0").url()
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--audio", "none", "--camera", "left",
               *AS_ASKED, env=cameras.environment)
    bob.wait_event("registered")
    [page] = visit(hub, "alice")
    page.call("bob")
    page.wait(state="call").wait_tiles(1).wait_moving()
    camera.assert_bars(drawn(page.script, "#grid .tile video"))
    page.script(barcode.READER)
    read = "(window.barcode.read(document.querySelector('#grid .tile video')) || {}).frame"
    first = page.until(f"{read} >= 0 ? [{read}] : null", what="a picture's number")
    page.until(f"{read} >= 0 && {read} !== {first[0]}", what="another picture's number")


def preview(server):
    """The part of the camera's picture that changes, as the call's window shows it: above the two last bars. None while it is not there."""
    screen = server.picture().astype(int)
    red = np.nonzero((screen[:, :, 0] > 200) & (screen[:, :, 1:].max(axis=2) < 60))
    blue = np.nonzero((screen[:, :, 2] > 200) & (screen[:, :, :2].max(axis=2) < 60))
    if min(len(red[0]), len(blue[0])) < 100:
        return None
    top, left, height, width = red[0].min(), red[1].min(), np.ptp(red[0]) + 1, np.ptp(red[1]) + 1
    is_mirrored = blue[1].mean() < red[1].mean()
    start = left - 2 * width if is_mirrored else left + width
    return screen[max(0, top - height):top, max(0, start):start + 2 * width]


def test_the_window_of_a_call_shows_the_camera_while_its_h264_is_passed_on(cameras, cast, visit, xserver):
    cameras.add("/dev/video5", "Left Webcam", [Mode("H264", SIZE, RATE)])
    hub = cast("serve", "--listen", "127.0.0.1:0").url()
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--audio", "none", "--camera", *AS_ASKED,
               env=cameras.environment, display=xserver.name)
    bob.wait_event("registered")
    [page] = visit(hub, "alice")
    page.call("bob")
    page.wait(state="call").wait_tiles(1).wait_moving()
    seen, deadline = [], time.monotonic() + 30
    while len(seen) < 5:
        assert time.monotonic() < deadline, f"{len(seen)} pictures"
        shown = preview(xserver)
        if shown is not None and not any(shown.shape == other.shape and np.abs(shown - other).mean() < 1 for other in seen):
            seen.append(shown)


@pytest.mark.feature("S3.37")
def test_a_cast_goes_over_to_a_camera_and_back(cameras, cast, browser):
    cameras.add("/dev/video5", "Left Webcam", [Mode("H264", SIZE, RATE)])
    rtcast = cast("test", "--size", "640x360", "--fps", "10", "--control", stdin=subprocess.PIPE, env=cameras.environment)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    viewer.script("window.before = rtcast.pc")
    rtcast.command("source", "camera", "left", *AS_ASKED)
    assert rtcast.wait_event("control")["ok"]
    viewer.until("document.querySelector('video').videoWidth == 320", what="the camera's picture")
    shows_the_camera(viewer)
    rtcast.command("source", "test", "--size", "640x360", "--fps", "10")
    viewer.until("document.querySelector('video').videoWidth == 640", what="the pattern again")
    assert viewer.script("return window.before === rtcast.pc && rtcast.state == 'live'")


# MARK: cameras that do not do as they say

def sentence(err):
    """The one sentence that the cast ended with."""
    lines = [line for line in err.strip().splitlines() if line]
    assert len(lines) == 1 and lines[0].startswith("rtcast: "), err
    return lines[0]


@pytest.mark.parametrize("step", ["open", "format", "buffers", "stream"])
def test_a_camera_that_is_in_use_is_said(step, cameras):
    cameras.add("/dev/video0", "Webcam", [Mode("YUYV", SIZE, RATE)], refuse=(step, errno.EBUSY))
    code, _, err = run("camera", "0", env=cameras.environment)
    assert code == 69 and "in use by another program" in sentence(err), (code, err)


@pytest.mark.parametrize("answer, says", [
    (("MJPG", SIZE, 0), "another format"), (("NV12", SIZE, SIZE[0]), "another format"),
    (("YUYV", SIZE, 10), "rows of 10 bytes"), (("YUYV", SIZE, 2**31), "rows of 2147483648 bytes"),
    (("YUYV", (SIZE[0], 2**16), 640), "65536"), (("YUYV", (0, 0), 0), "0x0"), (("YUYV", (2**32 - 1, 2**32 - 1), 2**32 - 1), "4294967295"),
    (("YUYV", (321, 240), 642), "321"), (("YUYV", (SIZE[0], 4 * SIZE[1]), 640), "rows of 640 bytes"),
])
def test_a_camera_that_promises_something_else_is_refused(answer, says, cameras):
    cameras.add("/dev/video0", "Webcam", [Mode("YUYV", SIZE, RATE)], answer=answer)
    code, _, err = run("camera", "0", env=cameras.environment)
    assert code == 69 and says in sentence(err), (code, err)


@pytest.mark.parametrize("code", ["YUYV", "MJPG", "H264"])
def test_a_camera_that_is_unplugged_ends_the_cast_with_a_sentence(code, cameras):
    cameras.add("/dev/video0", "Webcam", [Mode(code, SIZE, 30)], unplug=20)
    status, _, err = run("camera", "--size", "320x240", env=cameras.environment)
    assert status == 69 and "Webcam went away" in sentence(err), (status, err)


def every_other(change):
    return lambda number, data: change(data) if number % 2 else data


@pytest.mark.parametrize("code, change", [
    ("MJPG", every_other(lambda data: data[:len(data) // 3])), ("MJPG", every_other(lambda data: b"\xff\xd8" + b"\x17" * 3000)),
    ("MJPG", every_other(lambda data: b"")), ("MJPG", every_other(lambda data: None)),
    ("YUYV", every_other(lambda data: data[:-1])), ("NV12", every_other(lambda data: data[:len(data) // 2])),
], ids=["MJPEG cut short", "MJPEG of noise", "MJPEG of nothing", "MJPEG marked as damaged", "YUYV cut short", "NV12 cut short"])
def test_damaged_pictures_are_left_out(code, change, cameras, cast, browser):
    cameras.add("/dev/video0", "Webcam", [Mode(code, SIZE, 30, change=change)])
    viewer = Viewer(browser, cast("camera", "--size", "320x240", "--fps", "30", env=cameras.environment).url()).wait_live()
    seen = barcode.watch(viewer, 2)
    assert {s["number"] % 2 for s in seen if s["number"] is not None} == {0}
    barcode.assert_in_order(seen, LENGTH)
    camera.assert_bars(viewer.picture())


def test_a_damaged_h264_picture_is_followed_by_the_next_key_frame(cameras, cast, browser):
    """A picture is lost in each second; from there to the next key frame nothing is sent that needs it."""
    change = (lambda number, data: None if number % 15 == 5 else data)
    cameras.add("/dev/video0", "Webcam", [Mode("H264", SIZE, RATE, change=change)])
    rtcast = cast("camera", *AS_ASKED, env=cameras.environment)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    seen = barcode.watch(viewer, 4)
    barcode.assert_in_order(seen, LENGTH)
    assert {s["number"] % 15 for s in seen if s["number"] is not None} <= set(range(5))
    is_sent(viewer, "H264")


@pytest.mark.parametrize("code, change, options", [
    ("MJPG", lambda number, data: data[:40], ()), ("H264", lambda number, data: b"\x17" * 500, ()),
    ("H264", lambda number, data: data[:-60] if number % 15 == 0 else data, ("--no-copy",)), ("YUYV", lambda number, data: data[:-1], ()),
], ids=["MJPEG", "H.264 of noise", "H.264 whose key frames are cut", "YUYV"])
def test_a_camera_with_nothing_but_damaged_pictures_ends_the_cast_with_a_sentence(code, change, options, cameras):
    cameras.add("/dev/video0", "Webcam", [Mode(code, SIZE, 120, change=change)])
    status, _, err = run("camera", "--size", "320x240", "--fps", "120", *options, env=cameras.environment)
    assert status == 69 and "damaged pictures only" in sentence(err), (status, err)
