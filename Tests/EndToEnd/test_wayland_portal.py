"""The screen of a Wayland desktop by xdg-desktop-portal and PipeWire: sway with its portal, which chooses without a dialog."""

import stat
import subprocess
import time

import pytest

from harness.browser import Viewer
from harness.pipewire_session import WlrPortal
from harness.rtcast import BINARY, run
from harness.viewer_page import EVERYTHING, Page
from harness.xwayland import XWayland

PORTAL = ("screen", "--wayland-backend", "portal")


@pytest.fixture
def portal():
    started = []

    def start(*choice):
        started.append(WlrPortal(*choice))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def test_the_shared_screen_is_the_screen_and_the_choice_is_kept(portal, cast, page_browser, tmp_path):
    desktop = portal()
    terminal = desktop.sway.terminal()
    terminal.write("The quick brown fox\r\n")
    environment = {**desktop.env, "XDG_STATE_HOME": str(tmp_path)}
    page = Page(page_browser, cast(*PORTAL, "--fps", "10", "--no-cursor", env=environment).url())
    page.live().until(EVERYTHING).is_the_screen(desktop.sway)
    for word in ("jumps ", "over ", "the lazy dog.\r\n"):
        terminal.write(word)
        page.is_the_screen(desktop.sway)
    token = tmp_path / "rtcast/portal-token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600 and token.read_text().strip()


def test_the_second_cast_asks_no_more(portal, cast, page_browser, tmp_path):
    """It restores the choice. This portal shows a screen at rest to its first cast only; the second one begins with the next change."""
    dialogs = tmp_path / "dialogs"
    desktop = portal(f"chooser_type=simple\nchooser_cmd=echo x >> {dialogs}; echo HEADLESS-1\n")
    terminal = desktop.sway.terminal()
    for count in range(2):
        process = cast(*PORTAL, "--fps", "10", "--no-cursor", env={**desktop.env, "XDG_STATE_HOME": str(tmp_path)})
        page = Page(page_browser, process.url())
        process.wait_event("source", where=lambda event: event["state"] == "stalled")
        until = time.monotonic() + 20
        while not page.script("return window.rtcast?.state === 'live'"):
            assert time.monotonic() < until, f"cast {count + 1} has no picture"
            terminal.write("more\r\n")
            time.sleep(0.1)
        page.live().until(EVERYTHING).is_the_screen(desktop.sway)
        process.interrupt()
        assert process.wait() == 0
    assert dialogs.read_text().split() == ["x"]


def test_a_region_is_a_part_of_what_is_shared(portal, cast, browser):
    viewer = Viewer(browser, cast(*PORTAL, "--region", "300x200+20+10", env=portal().env).url()).wait_live()
    assert viewer.size() == (300, 200)


def test_a_cast_ends_while_the_dialog_is_open(portal, cast):
    """And waits for it before."""
    desktop = portal("chooser_type=simple\nchooser_cmd=sleep 100\n")
    process = cast(*PORTAL, env=desktop.env)
    told = process.wait_event("source", where=lambda event: event["state"] == "stalled")
    assert "dialog" in told["message"], told
    process.interrupt()
    assert process.wait() == 0


@pytest.mark.parametrize("end", ["signal", "command"])
def test_a_cast_goes_on_and_ends_while_its_next_source_asks(portal, cast, browser, tmp_path, end):
    asked, socket = tmp_path / "asked", tmp_path / "cast.sock"
    desktop = portal(f"chooser_type=simple\nchooser_cmd=touch {asked}; sleep 100\n")
    process = cast("test", "--fps", "5", "--size", "320x180", "--control", f"unix:{socket}", env=desktop.env)
    viewer = Viewer(browser, process.url()).wait_live()
    source = subprocess.Popen([BINARY, "ctl", "--socket", socket, "source", "screen", "--wayland-backend", "portal"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    desktop.session.until(asked.exists, "nobody asks")
    # Others are answered, and the picture goes on.
    code, out, err = run("ctl", "--socket", str(socket), "status")
    assert code == 0 and "test" in out, (code, out, err)
    process.drain()
    frames = viewer.frames()
    for _ in range(3):
        process.wait_event("stats")
    assert viewer.frames() > frames and source.poll() is None
    if end == "signal":
        process.interrupt()
    else:
        assert run("ctl", "--socket", str(socket), "stop")[0] == 0
    assert process.wait() == 0
    _, said = source.communicate(timeout=20)
    assert source.returncode == 64 and "The cast has ended" in said, (source.returncode, said)


@pytest.mark.parametrize("chooser", ["false", "sleep 3 && false"], ids=["at once", "later"])
def test_a_refused_dialog_ends_the_cast_with_its_reason(chooser, portal):
    desktop = portal(f"chooser_type=simple\nchooser_cmd={chooser}\n")
    code, out, err = run(*PORTAL, "--duration", "20", env=desktop.env)
    assert code == 77 and "refused in the desktop’s dialog" in err, (code, out, err)


def test_a_monitor_is_not_chosen_by_name(portal):
    code, out, err = run(*PORTAL, "--monitor", "HEADLESS-1", "--duration", "3", env=portal().env)
    assert (code, out) == (66, "") and "dialog" in err, (code, out, err)


def test_weston_is_refused_with_its_name(cast):
    """It has neither protocol nor portal."""
    weston = XWayland()
    try:
        environment = {"WAYLAND_DISPLAY": "test", "XDG_RUNTIME_DIR": weston.folder.name,
                       "DBUS_SESSION_BUS_ADDRESS": f"unix:path={weston.folder.name}/bus"}
        for display in (None, weston.name):
            code, out, err = run("screen", "--duration", "3", display=display, env=environment)
            assert (code, out) == (69, ""), (code, out, err)
            assert all(word in err for word in ("weston", "wlr-screencopy", "--window", "rtcast pipe")) and len(err.strip().splitlines()) == 1, err
        code, out, _ = run("doctor", env=environment)
        assert code == 69 and "weston" in out, out
    finally:
        weston.stop()
