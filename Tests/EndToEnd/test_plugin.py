"""Plugins: the example in C, built with the compiler at hand; one in a process of its own; and files that are none."""

import re
from pathlib import Path

import psutil
import pytest

from harness import sound
from harness.browser import Viewer
from harness.plugins import compiled
from harness.rtcast import ROOT, run


def hosts(rtcast):
    """The processes that run a plugin, which the launcher has started."""
    children = psutil.Process(rtcast.process.pid).children(recursive=True) if rtcast.process.poll() is None else []
    found = []
    for child in children:
        try:
            found += [child] if "plugin-host" in child.cmdline() else []
        except psutil.NoSuchProcess:
            continue
    return found


@pytest.mark.feature("S4.21", "S4.26", peer="Chromium")
@pytest.mark.parametrize("isolation", [(), ("--isolate",)])
def test_the_example_plays_with_sound(isolation, waves, cast, browser):
    rtcast = cast("plugin", waves, *isolation)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 20}", what="moving pictures")
    heard = sound.wait_tone(viewer, 440)
    assert heard["db"] > -40, heard
    stats = rtcast.wait_event("stats", where=lambda e: e.get("viewers", 0) > 0 and e.get("fps_sent", 0) > 0)
    assert stats["raw_copies"] == 0


def test_the_example_is_short():
    assert len(next(ROOT.glob("Snippets/**/waves.c")).read_text().splitlines()) < 200


def test_a_child_that_dies_is_started_again_and_viewers_stay(waves, cast, browser):
    rtcast = cast("plugin", waves, "--isolate")
    viewer = Viewer(browser, rtcast.url()).wait_live()
    viewer.script("window.before = rtcast.pc")
    hosts(rtcast)[0].kill()
    before = viewer.frames()
    viewer.until(f"document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > {before + 20}", what="pictures again")
    assert viewer.script("return window.before === rtcast.pc && rtcast.state == 'live'")
    rtcast.drain()
    said = "".join(rtcast.stderr) + str(rtcast.seen)
    assert re.search("plugin.*(died|ended|killed|restart|again)|signal 9", said, re.I | re.S)


def test_a_child_that_keeps_dying_ends_the_cast_in_the_end(waves, cast, browser):
    rtcast = cast("plugin", waves, "--isolate")
    rtcast.url()
    killed = 0
    while rtcast.process.poll() is None and killed < 12:
        try:
            rtcast.wait_event("stats", timeout=10)
        except AssertionError:
            break
        for child in hosts(rtcast):
            child.kill()
            killed += 1
    assert 5 <= killed <= 7, "at most five restarts a minute"
    assert rtcast.wait(15) == 69
    assert re.search("plugin.*(died|ended|killed)", "".join(rtcast.stderr), re.I | re.S), rtcast.stderr


def test_no_child_is_left_behind(waves, cast):
    rtcast = cast("plugin", waves, "--isolate")
    rtcast.url()
    rtcast.wait_event("stats")
    children = psutil.Process(rtcast.process.pid).children(recursive=True)
    assert children
    rtcast.process.kill()
    rtcast.wait()
    _, alive = psutil.wait_procs(children, timeout=5)
    assert not alive


def test_plugins_are_listed(waves):
    code, out, err = run("list", "plugins", env={"RTCAST_PLUGIN_PATH": str(Path(waves).parent)})
    assert code == 0 and "waves" in out, (code, out, err)


def test_plugins_that_are_none(tmp_path):
    text = tmp_path / "text.so"
    text.write_text("not a library\n")
    empty_source = tmp_path / "empty.c"
    empty_source.write_text("int nothing;\n")
    for bad in (str(tmp_path / "missing.so"), str(text), compiled(empty_source, tmp_path / "empty.so")):
        code, out, err = run("plugin", bad)
        assert code == 66 and Path(bad).name in err, (bad, code, err)


def test_an_option_that_is_none(waves):
    code, _, err = run("plugin", waves, "--option", "novalue")
    assert code == 64 and "novalue" in err, (code, err)


@pytest.mark.quiet("the loudness of sound")
def test_a_plugin_by_name_with_its_options(waves, cast, browser):
    """`plugin NAME` finds the library by RTCAST_PLUGIN_PATH, and `--option` reaches it: the tone is the one asked for."""
    rtcast = cast("plugin", "waves", "--option", "tone=880", "--option", "volume=0.1", "--size", "320x180",
                  env={"RTCAST_PLUGIN_PATH": f"/nowhere:{Path(waves).parent}"})
    viewer = Viewer(browser, rtcast.url()).wait_live()
    # A sine of a tenth of full scale has 23 dB below that of a square wave. Playback begins softly.
    sound.wait_tone(viewer, 880, decibels=(-26, -20))
    assert viewer.size() == (320, 180)


def test_the_options_of_a_plugin_are_described(waves):
    env = {"RTCAST_PLUGIN_PATH": str(Path(waves).parent)}
    code, out, err = run("plugin", "waves", "--help-options", env=env)
    lines = out.splitlines()
    assert code == 0 and lines[0].startswith("waves: "), (out, err)
    assert all(any(f"--option {name}=" in line for line in lines[1:]) for name in ("tone", "volume")), out
    code, _, err = run("plugin", "ripples", "--help-options", env=env)
    assert code == 66 and "ripples" in err, err
