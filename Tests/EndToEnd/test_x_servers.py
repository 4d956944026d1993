"""X servers and window managers as desktops have them: in containers, hanging, hiding windows."""

import contextlib
import ctypes
import io
import os
import signal
import socket
import subprocess
import time
import urllib.request

import numpy as np
import pytest
from PIL import Image
from Xlib import X

from harness.browser import Viewer
from harness.netns import ByteProxy
from harness.rtcast import bearer, run
from harness.xserver import Painter, XServer

CLONE_NEWIPC = 0x08000000
_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def own_ipc_namespace():
    """What is started within has System V memory of its own, as in a container."""
    before = os.open("/proc/thread-self/ns/ipc", os.O_RDONLY)
    try:
        if _libc.unshare(CLONE_NEWIPC) != 0:
            pytest.skip("an IPC namespace needs root")
        yield
    finally:
        assert _libc.setns(before, CLONE_NEWIPC) == 0
        os.close(before)


class ContainedServer:
    """Xvfb in an IPC namespace whose memory has the numbers that a cast's memory gets in another."""

    def __init__(self):
        read, write = os.pipe()
        with own_ipc_namespace():
            for _ in range(3):
                subprocess.run(["ipcmk", "-M", "8294400"], check=True, stdout=subprocess.DEVNULL)
            self.process = subprocess.Popen(
                ["Xvfb", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset", "-displayfd", str(write)], pass_fds=[write],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            self.number = pipe.readline().strip()
        assert self.number, "Xvfb did not start"

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


@pytest.fixture
def contained_server():
    server = ContainedServer()
    yield server
    server.stop()


def snapshot(listening, fits, timeout=15):
    """The whole picture as the cast has it, once it fits."""
    deadline = time.monotonic() + timeout
    while True:
        request = urllib.request.Request(listening["url"].split("#")[0] + "snapshot.webp", headers=bearer(listening))
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                picture = np.asarray(Image.open(io.BytesIO(answer.read())).convert("RGB"))
            if fits(picture):
                return picture
        except urllib.error.HTTPError:
            picture = None
        assert time.monotonic() < deadline, f"the picture is another: {None if picture is None else picture.mean(axis=(0, 1))}"
        time.sleep(0.1)


class DisplayProxy(ByteProxy):
    """A display of its own that passes on the bytes of another, and no descriptors."""

    def __init__(self, number):
        self.target = f"/tmp/.X11-unix/X{number}"
        self.number = 700 + int(number)
        self.path = f"/tmp/.X11-unix/X{self.number}"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen()
        super().__init__(listener, self._connect)

    def _connect(self):
        far = socket.socket(socket.AF_UNIX)
        far.connect(self.target)
        return far

    def close(self):
        super().close()
        os.unlink(self.path)


@pytest.mark.parametrize("passes_descriptors", [True, False], ids=["descriptors", "numbers"])
def test_memory_with_the_same_number_in_another_namespace_is_not_ours(contained_server, cast, passes_descriptors):
    """Memory is passed as a descriptor. Where descriptors are lost there are only numbers, which lead astray: pictures are copied."""
    painter = Painter(f":{contained_server.number}")
    painter.window(color=0x3366CC)
    proxy = None if passes_descriptors else DisplayProxy(contained_server.number)
    with own_ipc_namespace():
        rtcast = cast("screen", "--fps", "5", "--no-cursor", display=f":{proxy.number if proxy else contained_server.number}")
    snapshot(rtcast.listening(), lambda picture: (abs(picture.astype(int) - [0x33, 0x66, 0xCC]) <= 2).all())
    painter.close()
    rtcast.interrupt()
    assert rtcast.wait() == 0
    assert any("shares no memory" in line for line in rtcast.stderr) != passes_descriptors, rtcast.stderr
    if proxy:
        proxy.close()


@contextlib.contextmanager
def hanging(server):
    os.kill(server.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.process.pid, signal.SIGCONT)


@pytest.mark.parametrize("pointer", [[], ["--no-cursor"]], ids=["pointer", "no-pointer"])
def test_a_server_that_hangs_is_reported_and_followed_when_it_goes_on(xserver, cast, browser, pointer):
    painter = xserver.client()
    window = painter.window(color=0x204060)
    rtcast = cast("screen", "--fps", "10", *pointer, display=xserver.name)
    viewer = Viewer(browser, rtcast.url()).wait_live()
    for color in (0xC00000, 0x00C000):
        with hanging(xserver):
            event = rtcast.wait_event("source", where=lambda event: event["state"] == "stalled")
            assert event["message"].startswith(f"The X server {xserver.name} does not answer"), event
            viewer.until("document.querySelector('#status').textContent === 'Waiting'", what="the page says that it waits")
            assert "does not answer" in viewer.script("return document.querySelector('#facts').textContent")
        rtcast.wait_event("source", where=lambda event: event["state"] == "live")
        viewer.until("document.querySelector('#status').textContent === 'Live'", what="the page is live again")
        painter.fill(window, 0, 0, 1280, 720, color)
        wanted = np.array([color >> 16, color >> 8 & 255, color & 255])
        wait_colour(viewer, wanted)
    painter.close()
    rtcast.interrupt()
    assert rtcast.wait() == 0
    assert sum("does not answer" in line for line in rtcast.stderr) == 2, rtcast.stderr


def wait_colour(viewer, wanted, timeout=15):
    deadline = time.monotonic() + timeout
    while abs(np.median(viewer.picture().reshape(-1, 3), axis=0) - wanted).max() > 12:
        assert time.monotonic() < deadline, f"not {wanted}, but {np.median(viewer.picture().reshape(-1, 3), axis=0)}"
        time.sleep(0.1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["before", "during", "told"])
def test_a_cast_ends_at_once_while_its_server_hangs(xserver, cast, number, moment):
    """`before`: the server hung before the cast came. It takes less than a second; the old one waited for the server."""
    with contextlib.ExitStack() as stack:
        if moment == "before":
            stack.enter_context(hanging(xserver))
        rtcast = cast("screen", "--fps", "5", display=xserver.name)
        if moment == "during":
            rtcast.wait_event("capture")
            stack.enter_context(hanging(xserver))
            time.sleep(0.4)  # it asks for the pointer five times a second, and waits for the answer now
        elif moment == "told":
            rtcast.wait_event("capture")
            stack.enter_context(hanging(xserver))
            rtcast.wait_event("source")
        else:
            rtcast.wait_event("source", where=lambda event: event["state"] == "stalled")
        rtcast.process.send_signal(number)
        assert rtcast.wait(timeout=8) == 0


def test_a_cast_begins_when_a_server_that_hung_answers(xserver, cast):
    with hanging(xserver):
        rtcast = cast("screen", "--fps", "5", display=xserver.name)
        rtcast.wait_event("source", where=lambda event: event["state"] == "stalled")
    rtcast.wait_event("capture")
    rtcast.interrupt()
    assert rtcast.wait() == 0


@pytest.mark.parametrize("command", [["list"], ["list", "windows"], ["doctor"]], ids=" ".join)
def test_commands_that_ask_a_server_that_hangs_say_so(xserver, command):
    with hanging(xserver):
        status, out, err = run(*command, "--display", xserver.name, timeout=60)
    assert f"The X server {xserver.name} does not answer" in out + err, (out, err)
    assert status != 0


# MARK: window managers

I3 = """
workspace_layout default
default_border normal 2
focus_follows_mouse no
"""


class Manager:
    """A window manager on a server: what hides its windows and shows them again."""

    def __init__(self, server, kind, folder):
        self.server, self.kind = server, kind
        command = [kind]
        if kind == "i3":
            (folder / "config").write_text(I3)
            command += ["-c", str(folder / "config")]
        environment = {**os.environ, "DISPLAY": server.name, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.environment = environment

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def run(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True)

    def go_to(self, desktop):
        if self.kind == "i3":
            assert self.run("i3-msg", f"workspace number {desktop}").returncode == 0
        elif self.kind == "xmonad":
            assert self.run("xdotool", "key", f"alt+{desktop}").returncode == 0
        else:
            assert self.run("xdotool", "set_desktop", str(desktop - 1)).returncode == 0


class Application:
    """A window with a title that its window manager may frame, place and hide."""

    def __init__(self, server, title, size=(400, 300)):
        self.painter = server.client()
        self.window = self.painter.root.create_window(
            0, 0, *size, 0, self.painter.screen.root_depth, X.InputOutput, X.CopyFromParent, background_pixel=0x202020)
        self.window.set_wm_name(title)
        self.window.map()
        self.painter.display.sync()

    @property
    def is_viewable(self):
        return self.window.get_attributes().map_state == X.IsViewable

    def wait_viewable(self, wanted, timeout=20):
        deadline = time.monotonic() + timeout
        while self.is_viewable != wanted:
            assert time.monotonic() < deadline, f"viewable is not {wanted} within {timeout} s"
            time.sleep(0.02)

    def size(self):
        place = self.window.get_geometry()
        return place.width, place.height

    def fill(self, color):
        self.painter.fill(self.window, 0, 0, 2000, 2000, color)


@pytest.mark.parametrize("kind", ["i3", "openbox", "xmonad"])
def test_a_window_on_another_workspace_is_live_again_at_its_return(tmp_path, cast, browser, kind):
    server = XServer((800, 600))
    manager = Manager(server, kind, tmp_path)
    try:
        time.sleep(1)  # a window manager does not say when it manages
        shown = Application(server, "Watched")
        shown.wait_viewable(True)
        rtcast = cast("screen", "--window", "Watched", "--fps", "10", "--no-cursor", display=server.name)
        viewer = Viewer(browser, rtcast.url()).wait_live()
        for turn in range(10):
            manager.go_to(2)
            shown.wait_viewable(False)
            event = rtcast.wait_event("source", where=lambda event: event["state"] == "stalled")
            assert event["message"] == "The window “Watched” is hidden; its last picture stays until it is shown again."
            if kind == "i3" and turn == 4:
                # The window shares its workspace from now on, and has another size when it comes back.
                other = Application(server, "Other")
                other.wait_viewable(True)
                assert manager.run("i3-msg", '[title="Other"] move container to workspace number 1').returncode == 0
            manager.go_to(1)
            shown.wait_viewable(True)
            rtcast.wait_event("source", where=lambda event: event["state"] == "live")
            color = (0xC00000, 0x00C000, 0x0000C0)[turn % 3]
            shown.fill(color)
            wait_colour(viewer, np.array([color >> 16, color >> 8 & 255, color & 255]))
            width, height = shown.size()
            viewer.until(f"document.querySelector('video').videoWidth === {width}", what=f"the size {width}x{height}")
    finally:
        manager.stop()
        server.stop()
