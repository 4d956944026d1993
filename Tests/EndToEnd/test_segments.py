"""Recordings in segments: files that play alone, of which the newest are kept."""

import os
import subprocess

import pytest

from harness import clips as clip
from harness.processes import wait_for
from harness.rtcast import run


def decodes(path):
    """The pictures of a segment, decoded without a complaint; the first is a key frame."""
    done = subprocess.run(["ffmpeg", "-v", "error", "-i", str(path), "-fps_mode", "passthrough", "-enc_time_base:v", "1:1000", "-f", "null", "-"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    packets = clip.packets(path)
    assert packets and packets[0][0] < 0.1
    return len(packets)


def recorded(rtcast):
    rtcast.drain()
    return [event["path"] for event in rtcast.seen if event["event"] == "recorded"]


def test_segments_play_alone_and_the_newest_are_kept(cast, tmp_path):
    rtcast = cast("test", "--pattern", "clock", "--fps", "10", "--size", "640x360", "--tone", "440", "--record", str(tmp_path / "talk.webm"),
                  "--segment", "1s", "--keep", "3", "--duration", "8")
    assert rtcast.wait(30) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    told = recorded(rtcast)
    assert told == [str(tmp_path / f"talk-{number:04}.webm") for number in range(1, len(told) + 1)] and len(told) >= 5
    assert names == [os.path.basename(path) for path in told[-3:]]
    # The last one ends with the cast, perhaps after its first picture.
    counts = [decodes(tmp_path / name) for name in names]
    assert min(counts[:-1]) > 3 and counts[-1] > 0, counts
    # Each picture is in one file, and none is missing where two meet. A busy machine may leave out single pictures anywhere.
    files = [clip.numbers(tmp_path / name) for name in names]
    numbers = [number for file in files for number in file]
    assert None not in numbers and numbers == sorted(numbers)
    assert all(after[0] - before[-1] <= 3 for before, after in zip(files, files[1:])), files


def test_a_later_recording_continues_the_numbers(tmp_path):
    arguments = ("test", "--pattern", "clock", "--size", "320x240", "--record", str(tmp_path / "talk.mkv"), "--segment", "1s", "--keep", "2",
                 "--duration", "3")
    assert run(*arguments)[0] == 0
    first = sorted(os.listdir(tmp_path))
    assert run(*arguments)[0] == 0
    second = sorted(os.listdir(tmp_path))
    assert len(first) == len(second) == 2 and second[0] > first[-1]


def test_a_screen_at_rest_has_a_picture_in_each_segment(cast, xserver, tmp_path):
    rtcast = cast("screen", "--record", str(tmp_path / "rest.webm"), "--segment", "2s", display=xserver.name)
    wait_for(lambda: len(os.listdir(tmp_path)) >= 4, "four segments", timeout=30)
    rtcast.interrupt()
    assert rtcast.wait() == 0
    for path in recorded(rtcast):
        assert decodes(path) > 0


def test_what_is_watched_is_recorded_in_segments(cast, tmp_path):
    source = cast("test", "--pattern", "clock", "--fps", "10", "--size", "320x240", "--tone", "440")
    watch = cast("watch", source.url(), "--no-window", "--record", str(tmp_path / "seen.webm"), "--segment", "2s")
    wait_for(lambda: len(os.listdir(tmp_path)) >= 3, "three segments", timeout=40)
    watch.interrupt()
    assert watch.wait() == 0
    told = recorded(watch)
    assert len(told) >= 3 and told == sorted(str(path) for path in tmp_path.iterdir())
    for path in told[:-1]:
        assert decodes(path) > 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts disks")
def test_a_full_disk_ends_the_recording_and_not_the_cast(cast, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "none", str(disk)], check=True)
    try:
        rtcast = cast("test", "--pattern", "noise", "--fps", "10", "--size", "320x240", "--record", str(disk / "full.webm"), "--segment", "1s")
        error = rtcast.wait_event("error", timeout=60)
        assert error["recording"] is True and "disk is full" in error["message"]
        rtcast.wait_event("stats", timeout=10)
        kept = sorted(disk.iterdir())
        assert kept and decodes(kept[0]) > 3
        rtcast.interrupt()
        assert rtcast.wait() == 0
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_few_segments_fit_on_a_small_disk(cast, tmp_path):
    """Old files are removed before the next one begins."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts disks")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(disk)], check=True)
    try:
        rtcast = cast("test", "--pattern", "noise", "--fps", "10", "--size", "320x240", "--bitrate", "2M", "--record", str(disk / "ring.webm"),
                      "--segment", "1s", "--keep", "2")
        for _ in range(12):
            rtcast.wait_event("recorded", timeout=30)
        assert len(list(disk.iterdir())) <= 3
        rtcast.interrupt()
        assert rtcast.wait() == 0
        assert not any(event.get("recording") for event in rtcast.seen)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("options, word", [
    (("--segment", "10m"), "--record"), (("--record", "a.webm", "--keep", "2"), "--segment"),
    (("--record", "a.webm", "--segment", "0s"), "1s to 30d"), (("--record", "a.webm", "--segment", "ten"), "1s to 30d"),
    (("--record", "a.webm", "--segment", "99999999999999999999d"), "1s to 30d"),
    (("--record", "a.webm", "--segment", "1m", "--keep", "0"), "--keep")])
def test_wrong_usage(options, word):
    code, _, err = run("test", *options)
    assert code == 64 and word in err, (code, err)


def test_files_of_other_names_stay(tmp_path):
    for name in ("talk.webm", "talk-old.webm", "talk-0001.mkv", "talks-0001.webm"):
        (tmp_path / name).write_bytes(b"x")
    code, _, err = run("test", "--pattern", "clock", "--size", "320x240", "--record", str(tmp_path / "talk.webm"), "--segment", "1s", "--keep", "1",
                       "--duration", "3")
    assert code == 0, err
    names = set(os.listdir(tmp_path))
    assert {"talk.webm", "talk-old.webm", "talk-0001.mkv", "talks-0001.webm"} <= names and len(names) == 5
