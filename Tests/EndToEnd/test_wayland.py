"""A Wayland desktop's X display: its screen is refused with a sentence, the windows of X programs are cast."""

import json
import subprocess
import threading
import time

import pytest

from harness.browser import Viewer
from harness.rtcast import ROOT, run
from harness.xwayland import XWayland
from test_plugin import compiled


@pytest.fixture
def wayland():
    server = XWayland()
    yield server
    server.stop()


def one_sentence_on(err):
    """What works instead is said."""
    said = err.strip().splitlines()
    assert len(said) == 1, err
    for words in ("XWayland", "X11", "--window", "rtcast pipe"):
        assert words in said[0], (words, err)


@pytest.mark.parametrize("what", [(), ("--monitor", "0"), ("--region", "100x100+0+0")])
def test_the_screen_is_refused_with_what_works_instead(what, wayland):
    code, out, err = run("screen", *what, "--duration", "3", display=wayland.name)
    assert (code, out) == (69, ""), (code, out, err)
    one_sentence_on(err)
    code, out, err = run("screen", *what, "--duration", "3", "--json", display=wayland.name)
    event = json.loads(out)
    assert code == 69 and event["event"] == "error" and event["status"] == 69 and "XWayland" in event["message"], out


def test_the_screen_is_no_source_of_a_running_cast_either(wayland, cast):
    rtcast = cast("test", "--size", "320x180", "--control", display=wayland.name, stdin=subprocess.PIPE)
    rtcast.url()
    rtcast.command("source", "screen")
    assert "XWayland" in rtcast.wait_event("error")["message"]


def test_a_window_of_an_x_program_is_cast(wayland, cast, browser):
    painter = wayland.client()
    window = painter.window(40, 30, 320, 240, title="An X program", color=0x2060A0)
    try:
        viewer = Viewer(browser, cast("screen", "--window", "An X program", "--no-cursor", "--fps", "30",
                                      display=wayland.name).url()).wait_live()
        assert viewer.size() == (320, 240)
        painter.fill(window, 0, 0, 160, 240, 0xF0F0F0)
        viewer.until(LIT, what="what the program draws")
    finally:
        painter.close()


# The left half of the picture is light and the right half is not.
LIT = """(() => {
  const canvas = document.createElement('canvas'), video = document.querySelector('video');
  [canvas.width, canvas.height] = [320, 240];
  const context = canvas.getContext('2d');
  context.drawImage(video, 0, 0);
  const light = x => context.getImageData(x, 120, 1, 1).data[0];
  return light(80) > 200 && light(240) < 100;
})()"""


def test_list_and_doctor_say_so(wayland):
    painter = wayland.client()
    painter.window(0, 0, 200, 100, title="An X program")
    try:
        for part in ("screen", "monitors"):
            code, out, err = run("list", part, display=wayland.name)
            assert (code, out) == (69, ""), (part, code, out, err)
            one_sentence_on(err)
        code, out, err = run("list", "windows", display=wayland.name)
        assert code == 0 and "An X program" in out, (code, out, err)
        code, out, err = run("list", display=wayland.name)
        assert code == 0 and "XWayland" in out and "An X program" in out, (code, out, err)
        code, out, err = run("list", "--json", display=wayland.name)
        found = json.loads(out)
        assert code == 0 and "XWayland" in found["screen"]["error"] and found["monitors"] == [], out
        assert any(window["title"] == "An X program" for window in found["windows"])
        code, out, err = run("doctor", display=wayland.name)
        [line] = [line for line in out.splitlines() if line.startswith("✗")]
        assert code == 69 and "XWayland" in line, out
    finally:
        painter.close()


def test_what_needs_no_screen_works_there_too(wayland, cast, browser, clips, tmp_path):
    """`file`, `pipe` and `plugin`; of `camera` the refusal is that of a machine without one, and not Wayland's."""
    session = {"WAYLAND_DISPLAY": "test", "XDG_RUNTIME_DIR": wayland.folder.name, "XDG_SESSION_TYPE": "wayland"}
    clip = clips.numbered("numbered-small.mp4", seconds=5, width=320, height=180)
    pipe = cast("pipe", display=wayland.name, env=session, stdin=subprocess.PIPE)

    def feed():
        while pipe.write(PICTURE):
            time.sleep(0.1)

    assert pipe.write(b"YUV4MPEG2 W320 H180 F10:1 C420jpeg\n")
    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    waves = compiled(next(ROOT.glob("Snippets/**/waves.c")), tmp_path / "libwaves.so")
    for casting in (cast("file", clip, "--loop", display=wayland.name, env=session), pipe,
                    cast("plugin", waves, "--size", "320x180", display=wayland.name, env=session)):
        assert Viewer(browser, casting.url()).wait_live().size() == (320, 180)
    pipe.stop()
    feeder.join(5)
    code, _, err = run("camera", "/nowhere/video0", display=wayland.name, env=session)
    assert code == 66 and "/nowhere/video0" in err, err


PICTURE = b"FRAME\n" + bytes([128]) * (320 * 180 * 3 // 2)


def test_x11_makes_no_monitor(xserver):
    code, out, err = run("screen", "--virtual", "640x360", "--duration", "1", display=xserver.name)
    assert (code, out) == (69, "") and "rtcast run" in err, (code, out, err)
    for options in (("--monitor", "0"), ("--display", xserver.name), ("--region", "100x100+0+0"), ("--window", "x"), ("--pick",)):
        code, out, err = run("screen", "--virtual", "640x360", *options, display=xserver.name)
        assert code == 64 and "--virtual" in err, (options, code, out, err)


def test_a_wayland_variable_alone_refuses_nothing(xserver):
    """A nested X server has a screen, whatever desktop it runs on."""
    code, out, err = run("screen", "--duration", "1", display=xserver.name, env={"WAYLAND_DISPLAY": "wayland-0"})
    assert code == 0, err
    code, out, _ = run("doctor", display=xserver.name, env={"WAYLAND_DISPLAY": "wayland-0"})
    assert code == 0 and "XWayland" not in out, out
