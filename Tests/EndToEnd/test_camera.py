"""Cameras, where there is none: what is refused, and with what sentence. Cameras that this machine has are hidden by a preloaded library."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from harness.rtcast import BINARY, run

NONE = "There is no camera"


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The environment of a program that finds no camera."""
    library = tmp_path_factory.mktemp("bare") / "no_camera.so"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, Path(__file__).parent / "harness/no_camera.c"], check=True)
    return {"LD_PRELOAD": str(library)}


@pytest.mark.parametrize("arguments, status, says", [
    ((), 66, NONE), (("Webcam",), 66, NONE), (("7",), 66, "/dev/video7"), (("/dev/null",), 66, "not a camera"),
    (("/",), 66, "not a camera"), (("/nowhere/video0",), 66, "/nowhere/video0"), (("",), 64, "path"),
    (("--size", "2x2"), 64, "--size"), (("--fps", "1000"), 64, "--fps")])
def test_what_is_no_camera_is_refused_by_name(arguments, status, says, bare):
    code, _, stderr = run("camera", *arguments, env=bare)
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


def test_a_call_says_at_once_that_it_has_no_camera(cast, bare):
    hub = cast("serve", "--listen", "127.0.0.1:0").url()
    code, _, stderr = run("call", "--server", hub, "--no-window", "--audio", "none", "--camera", env=bare)
    assert code == 69 and NONE in stderr, stderr
    code, _, stderr = run("call", "--server", hub, "--no-window", "--audio", "none", "--camera", "/dev/null", env=bare)
    assert code == 69 and "not a camera" in stderr, stderr
    code, _, stderr = run("call", "--server", hub, "--camera", "--screen")
    assert code == 64 and "--camera" in stderr


def test_a_cast_that_goes_on_is_refused_a_camera(cast, bare):
    process = cast("test", "--size", "320x180", "--control", stdin=subprocess.PIPE, env=bare)
    process.url()
    process.command("source", "camera")
    assert NONE in process.wait_event("error", where=lambda e: e.get("control"))["message"]
    process.command("source", "camera", "/dev/null", "--size", "640x360")
    assert "not a camera" in process.wait_event("error", where=lambda e: e.get("control"))["message"]
    process.command("source", "test", "--pattern", "bars")
    assert process.wait_event("control")["ok"]


def test_the_list_of_cameras_is_empty(bare):
    assert run("list", "cameras", env=bare) == (0, "Cameras\n  none\n", "")
    assert json.loads(run("list", "cameras", "--json", env=bare)[1]) == {"cameras": []}
