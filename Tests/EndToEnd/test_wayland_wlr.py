"""The screen of a Wayland desktop by wlr-screencopy: sway without a screen, and what its own screenshot shows."""

import json
import tempfile

import pytest

from harness.browser import Viewer
from harness.rtcast import run
from harness.sway import Cage, Sway
from harness.viewer_page import EVERYTHING, Page


@pytest.fixture
def sway():
    desktop = Sway()
    yield desktop
    desktop.stop()


@pytest.fixture
def two_monitors():
    desktop = Sway(outputs=2)
    yield desktop
    desktop.stop()


@pytest.fixture
def session_folder():
    """A folder that another user than the test's can reach: sway does not run as root."""
    with tempfile.TemporaryDirectory(prefix="session-") as folder:
        yield folder


TEXT = "".join(f"\x1b[3{row % 8};4{(row + 3) % 8}m{row:3} The quick brown fox jumps over the lazy dog.\x1b[0m\r\n" for row in range(30))


def exact(browser, cast, sway, *options, grim=()):
    """A page at rest; it is the compositor's own screenshot, bit for bit."""
    process = cast("screen", "--fps", "10", "--no-cursor", *options, env=sway.env)
    page = Page(browser, process.url())
    page.live().until(EVERYTHING)
    page.is_the_screen(Screenshot(sway, grim))
    return process, page


class Screenshot:
    def __init__(self, sway, options=()):
        self.sway, self.options = sway, options

    def picture(self):
        return self.sway.picture(*self.options)


def test_a_screen_that_rests_is_the_screen(sway, cast, page_browser):
    terminal = sway.terminal()
    terminal.write(TEXT)
    process, page = exact(page_browser, cast, sway)
    # A change, and the rest after it.
    for word in ("typed ", "letters\r\n"):
        terminal.write(word)
        page.is_the_screen(Screenshot(sway))
    process.drain()
    # Nothing is captured, and nothing but the samples of statistics costs anything.
    rest = process.wait_event("stats", where=lambda event: event["fps_captured"] == 0)
    assert rest["cpu_pct"] < 10, rest


def test_the_screen_of_a_kiosk_is_cast(cast, page_browser):
    cage = Cage()
    try:
        cage.terminal().write(TEXT)
        page = Page(page_browser, cast("screen", "--fps", "10", "--no-cursor", env=cage.env).url())
        page.live().until(EVERYTHING)
        page.is_the_screen(cage)
    finally:
        cage.stop()


def test_typed_letters_come_one_by_one(sway, cast, browser):
    terminal = sway.terminal()
    process = cast("screen", "--fps", "5", env=sway.env)
    viewer = Viewer(browser, process.url()).wait_live()
    assert viewer.size() == (800, 600)
    process.wait_event("stats", where=lambda event: event["fps_captured"] == 0)
    terminal.write("x")
    process.wait_event("stats", where=lambda event: event["fps_captured"] > 0)


@pytest.mark.parametrize("transform", ["90", "180", "270", "flipped", "flipped-90", "flipped-180", "flipped-270"])
def test_a_turned_monitor_is_upright(sway, cast, page_browser, transform):
    terminal = sway.terminal()
    terminal.write(TEXT)
    sway.message("output", "HEADLESS-1", "transform", transform)
    _, page = exact(page_browser, cast, sway)
    for word in ("typed ", "letters\r\n", "again"):
        terminal.write(word)
        page.is_the_screen(Screenshot(sway))


def test_the_picture_follows_the_monitor(sway, cast, page_browser):
    sway.terminal().write(TEXT)
    process, page = exact(page_browser, cast, sway)
    for change in (("resolution", "640x480"), ("transform", "90"), ("transform", "normal"), ("scale", "2")):
        sway.message("output", "HEADLESS-1", *change)
        page.is_the_screen(Screenshot(sway), timeout=20)


def test_several_monitors_are_one_screen(two_monitors, cast, page_browser):
    two_monitors.terminal().write(TEXT)
    two_monitors.message("output", "HEADLESS-2", "resolution", "300x500")
    two_monitors.message("output", "HEADLESS-2", "bg", "#802010", "solid_color")
    exact(page_browser, cast, two_monitors)


@pytest.mark.parametrize("options, grim", [
    (("--monitor", "HEADLESS-2"), ("-o", "HEADLESS-2")), (("--monitor", "0"), ("-o", "HEADLESS-1")),
    (("--region", "301x203+37+51"), ("-g", "37,51 301x203")), (("--region", "200x100+700+40"), ("-g", "700,40 200x100"))])
def test_a_part_of_the_screen(two_monitors, cast, page_browser, options, grim):
    two_monitors.terminal().write(TEXT)
    two_monitors.message("output", "HEADLESS-2", "bg", "#802010", "solid_color")
    exact(page_browser, cast, two_monitors, *options, grim=grim)


def test_a_compositor_that_goes_ends_the_cast_with_a_sentence(sway, cast, browser):
    process = cast("screen", env=sway.env)
    Viewer(browser, process.url()).wait_live()
    sway.kill()
    ended = process.wait_event("error")
    assert "sway" in ended["message"] and "went away" in ended["message"], ended
    assert process.wait() == 69


def test_a_compositor_that_hangs_is_reported_and_comes_back(sway, cast, browser):
    process = cast("screen", env=sway.env)
    Viewer(browser, process.url()).wait_live()
    sway.pause()
    stalled = process.wait_event("source", where=lambda event: event["state"] == "stalled")
    assert "does not answer" in stalled["message"], stalled
    sway.proceed()
    process.wait_event("source", where=lambda event: event["state"] != "stalled")


@pytest.mark.parametrize("options, words", [
    (("--monitor", "DP-9"), ("no monitor DP-9", "HEADLESS-1")), (("--region", "100x100+9000+0"), ("not inside the screen",))])
def test_what_is_not_there_is_refused_with_what_is(sway, options, words):
    code, out, err = run("screen", *options, "--duration", "3", env=sway.env)
    assert (code, out) == (66, ""), (code, out, err)
    assert all(word in err for word in words), err


def test_a_virtual_monitor_is_refused_with_the_way_of_the_compositor(sway):
    for options in ((), ("--wayland-backend", "wlr")):
        code, out, err = run("screen", "--virtual", "640x360", *options, "--duration", "3", env=sway.env)
        assert (code, out) == (69, "") and "create_output" in err, (code, out, err)


def test_a_socket_that_is_not_there_is_named(tmp_path):
    code, out, err = run("screen", "--duration", "3", env={"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path)})
    assert (code, out) == (69, ""), (code, out, err)
    assert "wayland-9" in err and "WAYLAND_DISPLAY" in err and len(err.strip().splitlines()) == 1, err


def test_list_and_doctor_show_the_desktop(two_monitors):
    code, out, err = run("list", "monitors", env=two_monitors.env)
    assert code == 0 and "HEADLESS-1" in out and "800x600+800+0" in out, (code, out, err)
    code, out, err = run("list", "--json", env=two_monitors.env)
    found = json.loads(out)
    assert code == 0 and found["screen"] == {"display": "wayland-1", "width": 1600, "height": 600}, out
    assert [monitor["name"] for monitor in found["monitors"]] == ["HEADLESS-1", "HEADLESS-2"]
    code, out, err = run("doctor", env=two_monitors.env)
    assert code == 0 and "sway" in out and "wlr-screencopy 3" in out, (code, out, err)


def test_an_x_display_is_chosen_by_name(sway, xserver):
    """In a Wayland desktop, and with the Wayland desktop of an old session."""
    code, out, err = run("screen", "--display", xserver.name, "--duration", "1", env=sway.env)
    assert code == 0, err
    code, out, err = run("screen", "--display", xserver.name, "--wayland-backend", "wlr", env=sway.env)
    assert code == 64 and "--display" in err, err
    code, out, err = run("screen", "--duration", "1", display=xserver.name,
                         env={"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": sway.path})
    assert code == 0, err


def test_a_desktop_is_waited_for_and_comes_again(cast, page_browser, session_folder):
    """Before the login, over a crash of the compositor, with another size after it: one page, one connection."""
    environment = {"XDG_RUNTIME_DIR": session_folder, "XDG_STATE_HOME": f"{session_folder}/state", "WAYLAND_DISPLAY": "wayland-1"}
    process = cast("screen", "--wait", "--fps", "10", "--no-cursor", env=environment)
    page = Page(page_browser, process.url())
    told = process.wait_event("source", where=lambda event: event["state"] == "stalled")
    assert "No Wayland desktop runs" in told["message"], told
    for size in ((640, 480), (800, 600)):
        desktop = Sway(size, folder=session_folder)
        try:
            desktop.terminal().write("The quick brown fox\r\n")
            page.until(f"document.querySelector('video')?.videoWidth === {size[0]}").live().until(EVERYTHING)
            page.is_the_screen(desktop)
            page.script("window.connections = (window.connections ?? new Set()).add(rtcast.pc)")
        finally:
            desktop.kill()
            desktop.stop()
    assert page.script("return connections.size") == 1
