"""Processes as /proc describes them, by their number."""

import os
import time
from pathlib import Path

import psutil


def read(process, name):
    try:
        return Path(f"/proc/{process}/{name}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def status(process):
    return dict(line.split(":\t", 1) for line in read(process, "status").decode().splitlines() if ":\t" in line)


def wait_for(check, what, timeout=20):
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if found := check():
            return found
        time.sleep(0.02)
    raise AssertionError(f"no {what} within {timeout} s")


def has_nothing(process):
    """Checks a process without rights: one socket, no file, and the root as its folder."""
    descriptors = {int(one.name): os.readlink(one) for one in Path(f"/proc/{process}/fd").iterdir()}
    assert {number: descriptors.pop(number) for number in range(3)} == dict.fromkeys(range(3), "/dev/null")
    assert list(descriptors) == [3] and descriptors[3].startswith("socket:")
    assert os.readlink(f"/proc/{process}/cwd") == "/"


def children(process, role):
    """The descendants of a process whose command line names the role."""
    return [child.pid for child in psutil.Process(process).children(recursive=True) if role in read(child.pid, "cmdline")]
