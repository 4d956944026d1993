"""What is sent is also written to a file that plays, even one that nobody closed."""

import os
import stat
import time

import pytest

from harness import clips as clip
from harness.browser import Viewer
from harness.rtcast import run


def streams(path):
    said, error = clip.probe(path)
    return {s["codec_type"]: s["codec_name"] for s in said.get("streams", [])}, error


def pace(path):
    """Frames per second by the numbers on the pictures and the file's own timestamps."""
    numbers, times = clip.numbers(path), sorted(t for t, _ in clip.packets(path))
    assert len(numbers) == len(times), "every packet is a picture"
    known = [(t, n) for t, n in zip(times, numbers) if n is not None]
    return (known[-1][1] - known[0][1]) / (known[-1][0] - known[0][0])


@pytest.mark.parametrize("name", ["cast.mkv", "cast.webm"])
def test_a_synthetic_cast_is_recorded_with_its_sound(name, cast, browser, tmp_path):
    path = tmp_path / name
    rtcast = cast("test", "--pattern", "clock", "--fps", "15", "--size", "640x360", "--tone", "440", "--record", str(path), "--duration", "6")
    Viewer(browser, rtcast.url()).wait_live()
    assert rtcast.wait(20) == 0
    kinds, error = streams(path)
    assert kinds == {"video": "vp8", "audio": "opus"}, (kinds, error)
    assert abs(pace(path) / 15 - 1) < 0.05
    numbers = [n for n in clip.numbers(path) if n is not None]
    assert len(numbers) > 50 and numbers == sorted(numbers)
    sound = clip.packets(path, "a:0")
    assert sound[-1][0] - sound[0][0] > 4


@pytest.mark.parametrize("name, kind", [("copy.mp4", "h264"), ("copy.mkv", "h264"), ("copy.webm", "vp9"), ("copy.mp4", "vp9")])
def test_a_file_that_is_passed_through_is_recorded_frame_by_frame(name, kind, cast, clips, browser, tmp_path):
    source = clips.numbered("numbered.mp4", sound="aac") if kind == "h264" else clips.numbered("numbered.webm", codec="vp9", sound="opus")
    path = tmp_path / name
    rtcast = cast("file", source, "--copy", "--record", str(path))
    Viewer(browser, rtcast.url()).wait_live()
    assert rtcast.wait(30) == 0
    assert streams(path)[0] == {"video": kind, "audio": "opus"}
    numbers = clip.numbers(path)
    assert None not in numbers and numbers == list(range(numbers[0], numbers[0] + len(numbers))) and len(numbers) > 240
    assert abs(pace(path) / 30 - 1) < 0.02


@pytest.mark.parametrize("kind, sound", [("vp9", "opus"), ("h264", "aac")])
def test_a_file_with_a_single_key_frame_is_recorded_from_its_first_picture(kind, sound, cast, clips, tmp_path):
    path = tmp_path / "whole.mkv"
    source = clips.numbered(f"one-key-frame.{'webm' if kind == 'vp9' else 'mp4'}", codec=kind, sound=sound, seconds=3, keyframe_every=1000)
    rtcast = cast("file", source, "--copy", "--record", str(path))   # without viewers
    assert rtcast.wait(20) == 0
    assert streams(path)[0] == {"video": kind, "audio": "opus"}
    assert clip.numbers(path) == list(range(90))


def test_a_cast_of_sound_alone_is_recorded(cast, clips, tmp_path):
    path = tmp_path / "sound.mkv"
    rtcast = cast("file", clips.sound_only("two-seconds.flac", seconds=2), "--record", str(path))
    assert rtcast.wait(20) == 0
    assert streams(path)[0] == {"audio": "opus"}
    sound = clip.packets(path, "a:0")
    assert 1.8 < sound[-1][0] - sound[0][0] < 2.2


@pytest.mark.parametrize("name", ["killed.mkv", "killed.webm", "killed.mp4"])
def test_a_cast_that_is_killed_leaves_a_file_that_plays(name, cast, clips, browser, tmp_path):
    path = tmp_path / name
    source = clips.numbered("numbered.webm", codec="vp9", sound="opus")
    rtcast = cast("file", source, "--loop", "--copy", "--record", str(path))
    Viewer(browser, rtcast.url()).wait_live()
    time.sleep(6)
    rtcast.process.kill()
    rtcast.wait()
    numbers = clip.numbers(path)
    assert len(numbers) > 90 and None not in numbers[:90]
    times = [t for t, _ in clip.packets(path)]
    assert max(times) - min(times) > 3
    assert "audio" in streams(path)[0]


def test_a_full_disk_is_said_and_the_cast_goes_on(cast, browser, tmp_path):
    path = tmp_path / "full.mkv"
    os.mknod(path, 0o600 | stat.S_IFCHR, os.stat("/dev/full").st_rdev)   # links are not followed
    rtcast = cast("test", "--pattern", "noise", "--fps", "15", "--size", "640x360", "--record", str(path))
    viewer = Viewer(browser, rtcast.url()).wait_live()
    deadline = time.monotonic() + 15
    while "full" not in "".join(rtcast.stderr) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert "disk is full" in "".join(rtcast.stderr)
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 15}", what="the cast goes on")


def test_recordings_that_cannot_be(tmp_path):
    cast = ("test", "--pattern", "clock", "--duration", "1", "--record")
    code, _, err = run(*cast, str(tmp_path / "no" / "such" / "folder.mkv"))
    assert code == 73 and "no/such" in err, (code, err)
    code, _, err = run(*cast, str(tmp_path / "cast.xyz"))
    assert code == 64 and "mkv" in err, (code, err)
