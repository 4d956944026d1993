"""Cameras, where there is none: what is refused, and with what sentence. What a camera's modes come to is a unit test's business."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from harness.rtcast import BINARY, run

pytestmark = pytest.mark.skipif(any(Path("/dev").glob("video*")), reason="this machine has a camera")
NONE = "There is no camera"


@pytest.mark.parametrize("arguments, status, says", [
    ((), 66, NONE), (("Webcam",), 66, NONE), (("7",), 66, "/dev/video7"), (("/dev/null",), 66, "not a camera"),
    (("/",), 66, "not a camera"), (("/nowhere/video0",), 66, "/nowhere/video0"), (("",), 64, "path"),
    (("--size", "2x2"), 64, "--size"), (("--fps", "1000"), 64, "--fps")])
def test_what_is_no_camera_is_refused_by_name(arguments, status, says):
    code, _, stderr = run("camera", *arguments)
    assert code == status and says in stderr, stderr


def test_a_camera_of_somebody_else_is_not_permitted(tmp_path):
    device = tmp_path / "video0"
    device.write_bytes(b"")
    device.chmod(0)
    if os.geteuid():
        code, stderr = run("camera", str(device))[::2]
    else:
        # Nobody may look into the test's own folder, so the device is where everybody may look.
        shared = Path("/tmp") / f"rtcast-camera-{os.getpid()}"
        try:
            shared.write_bytes(b"")
            shared.chmod(0)
            readable = subprocess.run([BINARY, "--version"], user=65534, capture_output=True)
            done = subprocess.run([BINARY, "camera", str(shared)], user=65534, capture_output=True, text=True)
        except PermissionError:
            pytest.skip("nobody else may run this build")
        finally:
            shared.unlink()
        assert readable.returncode == 0
        code, stderr = done.returncode, done.stderr
    assert code == 77 and "video" in stderr, stderr


def test_a_call_says_at_once_that_it_has_no_camera(cast):
    hub = cast("serve", "--listen", "127.0.0.1:0").url()
    code, _, stderr = run("call", "--server", hub, "--no-window", "--audio", "none", "--camera")
    assert code == 69 and NONE in stderr, stderr
    code, _, stderr = run("call", "--server", hub, "--no-window", "--audio", "none", "--camera", "/dev/null")
    assert code == 69 and "not a camera" in stderr, stderr
    code, _, stderr = run("call", "--server", hub, "--camera", "--screen")
    assert code == 64 and "--camera" in stderr


def test_a_cast_that_goes_on_is_refused_a_camera(cast):
    process = cast("test", "--size", "320x180", "--control", stdin=subprocess.PIPE)
    process.url()
    process.command("source", "camera")
    assert NONE in process.wait_event("error", where=lambda e: e.get("control"))["message"]
    process.command("source", "camera", "/dev/null", "--size", "640x360")
    assert "not a camera" in process.wait_event("error", where=lambda e: e.get("control"))["message"]
    process.command("source", "test", "--pattern", "bars")
    assert process.wait_event("control")["ok"]


def test_the_list_of_cameras_is_empty():
    assert run("list", "cameras") == (0, "Cameras\n  none\n", "")
    assert json.loads(run("list", "cameras", "--json")[1]) == {"cameras": []}
