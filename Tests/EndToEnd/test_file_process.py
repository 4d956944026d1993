"""The process in which `rtcast file` reads and decodes: what it has, what happens when it ends, and what hostile files come to."""

import os
import signal
import subprocess
import threading

import pytest

from harness import barcode, sound
from harness.browser import Viewer
from harness.processes import children, has_nothing, read, status, wait_for
from harness.rtcast import run


def hosts(rtcast):
    """The processes that read files for a cast."""
    return children(rtcast.process.pid, b"file-host")


@pytest.fixture
def path(clips):
    return clips.numbered("numbered.mp4", codec="h264", sound="aac")


@pytest.mark.quick
def test_the_process_that_reads_a_file_has_nothing(path, cast):
    """B9: one socket, no file, no variable, the root as its folder, and a filter of system calls; the cast itself loads no demuxer."""
    rtcast = cast("file", path, "--loop", env={"RTCAST_TOKEN": "sesame-sesame"})
    rtcast.url()
    [process] = hosts(rtcast)
    assert (status(process)["Seccomp"], status(process)["NoNewPrivs"]) == ("2", "1")
    has_nothing(process)
    assert b"sesame" not in read(process, "environ") + read(process, "cmdline")
    for name in (b"HOME=", b"DISPLAY=", b"RTCAST", path.encode()):
        assert name not in read(process, "environ") + read(process, "cmdline")
    assert b"libavformat" in read(process, "maps") and b"libavformat" not in read(rtcast.process.pid, "maps")
    rtcast.stop()
    rtcast.wait()
    assert not status(process)


@pytest.mark.quiet("the gap between two pictures")
@pytest.mark.parametrize("way", ["--copy", "--no-copy"])
def test_a_process_that_is_killed_costs_a_moment_and_one_sentence(way, path, cast, browser):
    """B9: the next one goes on at the place where the file was."""
    rtcast = cast("file", path, "--loop", way)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    sound.wait_tone(viewer, 440)
    [first] = hosts(rtcast)
    killer = threading.Timer(1.5, os.kill, (first, signal.SIGKILL))
    killer.start()
    seen = barcode.watch(viewer, 4)
    killer.join()
    barcode.assert_in_order(seen, 300, unreadable=0.02)
    gap = max(b["at"] - a["at"] for a, b in zip(seen, seen[1:]))
    print(f"{way}: longest gap {gap * 1000:.0f} ms")
    # 300 ms where nothing else runs.
    assert gap < 1
    [second] = hosts(rtcast)
    assert second != first
    told = [line for line in rtcast.stderr if "process that reads" in line]
    assert len(told) == 1 and "signal 9" in told[0] and "goes on" in told[0], rtcast.stderr
    sound.wait_tone(viewer, 440)


@pytest.mark.quick
def test_a_file_that_is_named_by_control_is_read_in_a_process_too(path, cast):
    rtcast = cast("test", "--control", stdin=subprocess.PIPE)
    rtcast.url()
    assert not hosts(rtcast)
    rtcast.command("source", "file", path, "--loop")
    wait_for(lambda: hosts(rtcast), "process that reads the file")


@pytest.mark.quick
def test_without_a_sandbox_the_cast_reads_the_file_itself_and_one_line_says_so(path, cast):
    rtcast = cast("file", path, "--loop", "--no-sandbox", "-v")
    rtcast.url()
    assert not hosts(rtcast)
    assert len([line for line in rtcast.stderr if "own process" in line]) == 1, rtcast.stderr


def refused(path):
    code, out, err = run("file", path, timeout=30)
    assert code in (66, 69), (code, out, err)
    assert "fatal error" not in err.lower() and os.path.basename(path) in err
    return err


def test_a_list_of_other_files_is_refused(clips, path):
    """B17: by the process, whose sentence is made here."""
    text = f"ffconcat version 1.0\nfile {os.path.basename(path)}\n"
    assert "list of other files" in refused(clips.bytes("list.mkv", text.encode()))


def test_a_file_that_claims_impossible_times_ends_nothing(clips, cast):
    """B2: each picture lasts for years by the container's word."""
    rtcast = cast("file", clips.remade("ages.mkv", clips.numbered("ages.webm", codec="vp8", seconds=2), "-c", "copy", "-bsf:v",
                                       "setts=duration=9000000000000000"))
    rtcast.wait(30)
    assert "fatal error" not in "".join(rtcast.stderr).lower()
    assert rtcast.process.returncode in (0, 66), rtcast.stderr
