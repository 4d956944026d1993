"""The memory in which a desktop passes its pictures on by PipeWire, and the forms of pictures that are agreed on."""

import pytest

from harness.browser import Viewer
from harness.rtcast import run
from harness.viewer_page import EVERYTHING, Page

PORTAL = ("screen", "--wayland-backend", "portal", "--fps", "10", "--no-cursor")


def shows(page, desktop, colours):
    for colour in colours:
        desktop.fill(colour)
        page.is_the_screen(desktop)


@pytest.mark.parametrize("memory, formats, agreed, kind", [
    ("file", ["plain"], "plain", "MemFd"), ("pointer", ["plain"], "plain", "MemPtr"), ("device", ["linear"], "linear", "DmaBuf"),
    ("device", ["choice"], "linear", "DmaBuf"), ("device", ["tiled", "plain"], "plain", "MemFd"), ("device", ["linear", "plain"], "plain", "MemFd")])
def test_pictures_are_read_from_memory_of_each_kind(portal, cast, page_browser, memory, formats, agreed, kind):
    """Rows have a gap behind them. Of the forms that the desktop has, shared memory is taken, then linear DMA-BUFs."""
    desktop = portal(memory, formats)
    page = Page(page_browser, cast(*PORTAL, env=desktop.env).url())
    desktop.until_said(f"format 320x200 {agreed}")
    desktop.until_said(f"buffer {kind}")
    page.live().until(EVERYTHING)
    shows(page, desktop, [0x3366CC, 0x12FE80])


@pytest.mark.parametrize("memory, formats", [("file", ["plain"]), ("pointer", ["plain"]), ("device", ["linear"])])
def test_another_size_needs_other_buffers(portal, cast, page_browser, memory, formats):
    """The memory of the old ones is gone."""
    desktop = portal(memory, formats)
    page = Page(page_browser, cast(*PORTAL, env=desktop.env).url())
    page.live().until(EVERYTHING)
    shows(page, desktop, [0x3366CC])
    for size in ((400, 300), (160, 120)):
        desktop.resize(size)
        desktop.until_said(f"format {size[0]}x{size[1]} .*")
        shows(page, desktop, [0x5511AA, 0x12FE80])


@pytest.mark.parametrize("fault", ["short", "outside"])
@pytest.mark.parametrize("memory, formats", [("file", ["plain"]), ("pointer", ["plain"]), ("device", ["linear"])])
def test_a_picture_with_wrong_numbers_is_left_out(portal, cast, page_browser, memory, formats, fault):
    """Its rows overlap, or it lies outside of its memory."""
    desktop = portal(memory, formats)
    process = cast(*PORTAL, env=desktop.env)
    page = Page(page_browser, process.url())
    page.live().until(EVERYTHING)
    shows(page, desktop, [0x3366CC])
    desktop.fill(0xFF0000, fault)
    desktop.until_said("shown ff0000")
    process.drain()
    for _ in range(2):
        process.wait_event("stats")  # by the second one, the page would show it
    desktop.colour = 0x3366CC
    page.is_the_screen(desktop)
    shows(page, desktop, [0x12FE80])


def test_a_device_says_nothing_of_the_size(portal, cast, page_browser):
    """Desktops may leave it out; a picture in other memory has no pixels then."""
    desktop = portal("device", ["linear"])
    page = Page(page_browser, cast(*PORTAL, env=desktop.env).url())
    page.live().until(EVERYTHING)
    for colour in (0x3366CC, 0x12FE80):
        desktop.fill(colour, "empty")
        page.is_the_screen(desktop)


def test_an_order_of_pixels_that_drivers_alone_know_is_not_taken(portal):
    desktop = portal("device", ["tiled"])
    code, out, err = run(*PORTAL, "--duration", "20", timeout=60, env=desktop.env)
    assert (code, out) == (69, "") and "graphics drivers alone" in err, (code, out, err)
    assert not any(line.startswith(("format", "buffer")) for line in desktop.said())


def test_a_file_that_could_shrink_is_no_device(portal):
    code, out, err = run(*PORTAL, "--duration", "20", timeout=60, env=portal("unsealed-device", ["linear"]).env)
    assert (code, out) == (69, "") and "could shrink" in err, (code, out, err)


def test_a_virtual_monitor_has_the_size_that_was_asked_for(portal, cast, browser):
    desktop = portal(size=(0, 0))
    viewer = Viewer(browser, cast(*PORTAL, "--virtual", "480x270", env=desktop.env).url()).wait_live()
    assert viewer.size() == (480, 270)
    assert {"types 4", "persist 0"} <= set(desktop.said())
    assert not (desktop.path / "state/rtcast/portal-token").exists()


def test_a_virtual_monitor_of_another_size_is_told(portal, cast, browser):
    desktop = portal()
    process = cast(*PORTAL, "--virtual", "480x270", env=desktop.env)
    assert Viewer(browser, process.url()).wait_live().size() == (320, 200)
    process.interrupt()
    process.wait()
    assert "virtual monitor of 320x200, not of 480x270" in "".join(process.stderr), process.stderr


def test_a_portal_without_virtual_monitors_is_refused(portal):
    code, out, err = run(*PORTAL, "--virtual", "480x270", "--duration", "3", env=portal(sources=3).env)
    assert (code, out) == (69, "") and "makes no virtual monitors" in err, (code, out, err)
