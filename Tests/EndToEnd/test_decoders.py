"""The process in which `rtcast watch` decodes what it is sent: what it has, and what happens when it ends."""

import ctypes
import os
import signal
import struct
import subprocess

import pytest

from harness.processes import children, has_nothing, read, status, wait_for
from harness.rtcast import BINARY, surroundings


def decoders(viewer):
    """The processes that decode for a viewer."""
    return children(viewer.process.pid, b"decoder-host")


def confined(viewer):
    return [one for one in decoders(viewer) if status(one).get("Seccomp") == "2"]


@pytest.fixture
def viewer(cast, xserver):
    sender = cast("test", "--fps", "10", "--size", "320x240")
    viewer = cast("watch", sender.url(), display=xserver.name, env={"RTCAST_TOKEN": "sesame-sesame"})
    viewer.wait_event("track", where=lambda event: event["kind"] == "video")
    return viewer


@pytest.mark.quick
def test_the_process_that_decodes_has_nothing(viewer):
    """B9: one socket, no file, no variable, the root as its folder, and a filter of system calls."""
    [process] = wait_for(lambda: confined(viewer), "confined process")
    assert status(process)["NoNewPrivs"] == "1"
    # A thread that waited for events would be refused that, and ask without end.
    assert status(process)["Threads"] == "1"
    has_nothing(process)
    assert b"sesame" not in read(process, "environ") + read(process, "cmdline")
    for name in (b"HOME=", b"DISPLAY=", b"RTCAST"):
        assert name not in read(process, "environ")
    assert not viewer.stderr


def test_a_decoder_that_is_killed_costs_one_sentence(viewer):
    """B9: the next one decodes from a key frame on; with the viewer they all end."""
    [first] = wait_for(lambda: confined(viewer), "confined process")
    os.kill(first, signal.SIGKILL)
    [second] = wait_for(lambda: [one for one in confined(viewer) if one != first], "second process")
    told = wait_for(lambda: [line for line in viewer.stderr if "process that decodes" in line], "sentence")
    assert len(told) == 1 and "signal 9" in told[0] and "key frame" in told[0]
    # It decodes: its processor time grows.
    used = lambda: int(read(second, "stat").split()[13])
    before = used()
    wait_for(lambda: used() > before + 1, "picture that is decoded")
    viewer.stop()
    assert not status(second)


def refuse_seccomp():
    """In a child before it becomes rtcast: a filter as a container has it, under which there are no further ones."""
    libc = ctypes.CDLL(None, use_errno=True)
    load, equal, answer = 0x20, 0x15, 0x06
    number = {"x86_64": 317, "aarch64": 277, "riscv64": 277}[os.uname().machine]
    steps = [(load, 0, 0, 0), (equal, 0, 1, number), (answer, 0, 0, 0x00050001), (answer, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    if libc.prctl(22, 2, program) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        os._exit(99)


@pytest.mark.quick
def test_doctor_tells_of_a_system_that_refuses_filters(xserver):
    """B9: a container with a filter of its own."""
    def doctor(**options):
        done = subprocess.run([BINARY, "doctor"], capture_output=True, text=True, timeout=60,
                              env=surroundings(xserver.name, None), **options)
        lines = done.stdout.splitlines()
        at = next(number for number, line in enumerate(lines) if " Decoders" in line)
        return lines[at:at + 2]

    assert doctor()[0].startswith("✓") and "without files, sockets and programs" in doctor()[0]
    finding, advice = doctor(preexec_fn=refuse_seccomp)
    assert finding.startswith("!") and "Operation not permitted" in finding and "open files" in finding
    assert "seccomp" in advice


def test_without_filters_decoding_goes_on_and_one_line_says_so(cast, xserver, monkeypatch):
    sender = cast("test", "--fps", "15", "--size", "1280x720")
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: start(*a, preexec_fn=refuse_seccomp, **k))
    viewer = cast("watch", sender.url(), display=xserver.name)
    monkeypatch.undo()
    viewer.wait_event("track", where=lambda event: event["kind"] == "video")
    [process] = wait_for(lambda: decoders(viewer), "process")
    wait_for(lambda: any("does not confine" in line for line in viewer.stderr), "sentence")
    used = lambda: int(read(process, "stat").split()[13])
    before = used()
    wait_for(lambda: used() > before + 1, "picture that is decoded")
    assert len(viewer.stderr) == 2 and any("filter of system calls is refused" in line for line in viewer.stderr), viewer.stderr
