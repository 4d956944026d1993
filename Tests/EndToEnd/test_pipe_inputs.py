"""What `rtcast pipe` is told of its input: a socket, the pace, the colour matrix; and samples of other sizes than eight bits and 4:2:0."""

import os
import socket
import stat
import subprocess
import threading
import time

import numpy as np
import pytest

from harness import barcode, camera, clips as clip
from harness.browser import Viewer
from harness.rtcast import run

SIZE = (320, 240)


def feed(write, pieces, rate):
    """Writes in a thread, so many pieces a second; `write` fails or answers False when nobody takes them any more."""
    def work():
        begin = time.monotonic()
        for index, piece in enumerate(pieces):
            time.sleep(max(0, begin + index / rate - time.monotonic()))
            try:
                if write(piece) is False:
                    return
            except OSError:
                return
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def seen_in_order(viewer):
    seen = barcode.watch(viewer, 2)
    barcode.assert_in_order(seen)
    assert len({s["number"] for s in seen} - {None}) >= 5, seen


# MARK: --socket

def test_pictures_come_from_a_program_that_listens_on_a_socket(cast, browser, tmp_path):
    path = tmp_path / "frames"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        rtcast = cast("pipe", "--socket", str(path))
        listener.settimeout(20)
        connection, _ = listener.accept()
        with connection:
            feed(connection.sendall, clip.y4m(600, *SIZE), 30)
            viewer = Viewer(browser, rtcast.url()).wait_live()
            seen_in_order(viewer)
    assert rtcast.wait(20) == 0


def test_where_nobody_listens_on_the_socket_the_cast_does_for_its_user_alone(cast, browser, tmp_path):
    path = tmp_path / "frames"
    rtcast = cast("pipe", "--socket", str(path))
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, rtcast.stderr
        time.sleep(0.02)
    with socket.socket(socket.AF_UNIX) as writer:
        writer.connect(str(path))
        about = os.stat(path) if path.exists() else None
        assert about is None or stat.S_IMODE(about.st_mode) & 0o077 == 0, oct(about.st_mode)
        feed(writer.sendall, clip.y4m(600, *SIZE), 30)
        seen_in_order(Viewer(browser, rtcast.url()).wait_live())
    assert rtcast.wait(20) == 0


# MARK: --pace

def test_pictures_are_shown_as_they_come_where_the_pace_is_that_of_arrival():
    """A minute of pictures by the stream's own rate, written at once."""
    begin = time.monotonic()
    code, _, err = run("pipe", "--pace", "arrival", stdin=b"".join(clip.y4m(60, *SIZE, fps=1)), timeout=50)
    assert code == 0, err
    assert time.monotonic() - begin < 50


def test_pictures_are_shown_at_the_rate_of_the_stream_otherwise():
    begin = time.monotonic()
    code, _, err = run("pipe", stdin=b"".join(clip.y4m(5, *SIZE, fps=1)), timeout=50)
    assert code == 0, err
    assert time.monotonic() - begin >= 3.5


# MARK: samples

# Green in BT.601, and what the same samples are in BT.709.
SAMPLES, AS_601, AS_709 = (145, 54, 34), (0, 255, 0), (0, 216, 0)


@pytest.mark.parametrize("size, options, colour", [
    ((640, 360), (), AS_601), ((640, 360), ("--matrix", "bt709"), AS_709),
    ((1280, 720), (), AS_709), ((1280, 720), ("--matrix", "bt601"), AS_601),
], ids=["small", "small in BT.709", "high definition", "high definition in BT.601"])
def test_the_matrix_is_that_of_the_size_or_the_one_that_is_named(size, options, colour, cast, browser):
    width, height = size
    luma, u, v = (np.full(count, value, np.uint8).tobytes() for count, value in
                  zip((width * height, width * height // 4, width * height // 4), SAMPLES))
    header = f"YUV4MPEG2 W{width} H{height} F10:1 Ip A1:1 C420jpeg\n".encode()
    rtcast = cast("pipe", *options, stdin=subprocess.PIPE)
    feed(rtcast.write, [header] + [b"FRAME\n" + luma + u + v] * 300, 10)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    shown = viewer.picture()[height // 2, width // 2].astype(int)
    assert np.abs(shown - colour).max() <= 10, shown


@pytest.mark.parametrize("form", ["yuv420p10le", "yuv422p", "yuv422p10le", "yuv444p12le", "gray10le"])
def test_other_samples_than_eight_bits_of_420_are_shown_right(form, cast, browser):
    pictures = b"".join(camera.picture(number, *SIZE).tobytes() for number in range(300))
    stream = subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "320x240", "-r", "30", "-i", "pipe:0",
         "-pix_fmt", form, "-strict", "-1", "-f", "yuv4mpegpipe", "pipe:1"], input=pictures, capture_output=True, check=True).stdout
    header, frames = stream.split(b"\n", 1)
    length = len(frames) // 300
    assert len(frames) == 300 * length and frames.startswith(b"FRAME\n")
    rtcast = cast("pipe", stdin=subprocess.PIPE)
    pieces = [header + b"\n"] + [frames[index * length:(index + 1) * length] for index in range(300)]
    feed(rtcast.write, pieces, 30)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    seen_in_order(viewer)
    if form.startswith("gray"):
        assert np.ptp(viewer.picture()[180], axis=1).max() <= 12, "without colours"
    else:
        camera.assert_bars(viewer.picture())
