"""What may die without the cast: the rows of docs/failures.md that no other file tests. Each is said in a sentence, and the cast goes
on or leaves with the right status."""

import fcntl
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from harness import clips as clip
from harness.browser import FAKE_DEVICES, chromium, family
from harness.hub_page import HubPage
from harness.proxies import free_port
from harness.rtcast import BINARY, run

CAST = ("test", "--pattern", "clock", "--fps", "10", "--size", "320x180")


def watched(cast, rtcast, url):
    """A viewer of our own, and pictures that leave for it."""
    viewer = cast("watch", url, "--no-window")
    viewer.wait_event("peer", where=lambda event: event["state"] == "connected")
    goes_on(rtcast)
    return viewer


def goes_on(rtcast, seconds=2):
    """Pictures leave for the viewer, in reports that are newer than this call."""
    rtcast.drain()
    for _ in range(seconds):
        rtcast.wait_event("stats", where=lambda event: event["viewers"] == 1 and event["fps_sent"] > 3)


def wait_said(rtcast, words, timeout=20):
    deadline = time.monotonic() + timeout
    while not re.search(words, "".join(rtcast.stderr), re.I):
        assert time.monotonic() < deadline, f"not said: {words}; {rtcast.stderr}"
        time.sleep(0.05)


def answers(url, timeout=10):
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        return answer.status == 200


# Standard output

class Quiet:
    """A cast whose standard output is the test's."""

    def __init__(self, stdout, *arguments, closed=False):
        self.port = free_port()
        self.process = subprocess.Popen(
            [BINARY, *CAST, "--listen", f"127.0.0.1:{self.port}", *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
            stderr=subprocess.PIPE, text=True, preexec_fn=(lambda: os.close(1)) if closed else None)

    def wait_answer(self):
        deadline = time.monotonic() + 20
        while True:
            try:
                return answers(f"http://127.0.0.1:{self.port}/healthz", 5)
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, "it does not answer"
                time.sleep(0.1)

    def end(self):
        """Ctrl-C; the status, and what was said."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=15)[1]
        return self.process.returncode, said

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def quiet():
    started = []

    def start(*arguments, **options):
        started.append(Quiet(*arguments, **options))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def test_a_full_standard_output_is_said_and_the_cast_goes_on(quiet):
    with open("/dev/full", "w") as full:
        casting = quiet(full, "--json")
    assert casting.wait_answer()
    status, said = casting.end()
    assert status == 0 and said.count("No space left on device") == 1, said


def test_a_closed_standard_output_is_no_socket(quiet):
    """The next file or socket would get its number, and what is printed."""
    casting = quiet(None, "--json", closed=True)
    assert casting.wait_answer()
    assert os.readlink(f"/proc/{casting.process.pid}/fd/1") == "/dev/null"
    assert casting.end()[0] == 0


def test_a_reader_of_standard_output_that_leaves_is_said_and_the_cast_goes_on(quiet):
    casting = quiet(subprocess.PIPE, "--json")
    casting.process.stdout.readline()
    casting.process.stdout.close()
    assert casting.wait_answer()
    time.sleep(1.5)   # a report is printed every second
    assert casting.wait_answer()
    casting.process.send_signal(signal.SIGINT)
    assert casting.process.wait(15) == 0
    assert "has closed it" in casting.process.stderr.read()


@pytest.mark.parametrize("program", [CAST, ("serve",)], ids=["cast", "hub"])
def test_a_reader_of_standard_output_that_stands_still_holds_nobody_up(program):
    """A pipe holds 4 KiB here, a report every second fills it in a few."""
    port = free_port()
    process = subprocess.Popen([BINARY, *program, "--listen", f"127.0.0.1:{port}", "--json", "-vvv"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        fcntl.fcntl(process.stdout, 1031, 4096)   # F_SETPIPE_SZ
        # It listens when it has said so, after at most one other line; the rest stays unread.
        first = b""
        while b'"listening"' not in first or not first.endswith(b"\n"):
            first += os.read(process.stdout.fileno(), 1)
        deadline = time.monotonic() + 8
        while time.monotonic() < deadline:
            assert answers(f"http://127.0.0.1:{port}/healthz", 5)
            time.sleep(0.2)
        # What was kept comes in whole lines, none of them twice.
        os.set_blocking(process.stdout.fileno(), False)
        rest, until = b"", time.monotonic() + 3
        while time.monotonic() < until:
            try:
                rest += os.read(process.stdout.fileno(), 1 << 16)
            except BlockingIOError:
                time.sleep(0.05)
        events = re.findall(rb'"t_ms":(\d+)', first + rest)
        assert len(events) == len(set(events))
        assert program[0] == "serve" or len(events) > 6
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("arguments", [("list", "plugins"), ("list", "--json"), ("doctor",)], ids=" ".join)
def test_what_only_prints_leaves_with_74_when_it_cannot(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=30)
    assert done.returncode == 74 and "No space left on device" in done.stderr


# What the system refuses

def test_without_descriptors_nobody_new_is_let_in_and_the_others_stay(cast):
    """`ulimit -n 64`, and as many connections as there are descriptors."""
    rtcast = cast(*CAST)
    url = rtcast.url()
    watched(cast, rtcast, url)
    resource.prlimit(rtcast.process.pid, resource.RLIMIT_NOFILE, (64, 64))
    address = re.search(r"//([^:/]+):(\d+)", url).groups()
    waiting = [socket.create_connection(address, timeout=10) for _ in range(80)]
    try:
        used = psutil.Process(rtcast.process.pid)
        before = sum(used.cpu_times()[:2])
        goes_on(rtcast, 3)
        assert sum(used.cpu_times()[:2]) - before < 2.5, "it does not spin while it cannot accept"
    finally:
        for each in waiting:
            each.close()
    assert answers(url)
    goes_on(rtcast)


def test_too_few_descriptors_to_begin_with_end_with_69_and_a_sentence():
    done = subprocess.run(["prlimit", "--nofile=10", BINARY, *CAST], capture_output=True, text=True, timeout=30)
    assert done.returncode == 69 and "ulimit -n" in done.stderr, done


def test_a_home_that_cannot_be_written_needs_another_place_for_the_certificate(cast, tmp_path):
    status, _, said = run("serve", "--tls", "--listen", "127.0.0.1:0", env={"HOME": "/proc", "XDG_STATE_HOME": ""})
    assert status == 73 and "XDG_STATE_HOME" in said
    # What keeps nothing needs no home.
    assert cast(*CAST, env={"HOME": "/proc", "XDG_STATE_HOME": ""}).url()


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root mounts a small disk.")
def test_a_full_disk_leaves_a_file_that_plays_and_the_cast_goes_on(cast, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
    try:
        path = disk / "cast.mkv"
        rtcast = cast("test", "--pattern", "noise", "--fps", "15", "--size", "640x360", "--record", str(path))
        url = rtcast.url()
        watched(cast, rtcast, url)
        wait_said(rtcast, "disk is full")
        goes_on(rtcast, 3)
        numbers = clip.packets(path)
        assert len(numbers) > 5, "the file so far plays"
        rtcast.interrupt()
        assert rtcast.wait() == 0
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


# Time

@pytest.fixture
def clock(tmp_path):
    """The environment of a program whose wall clock can be set, and what sets it: by so many seconds."""
    library, file = tmp_path / "clock.so", tmp_path / "clock"
    source = Path(__file__).parent / "harness/clock.c"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    file.write_bytes(struct.pack("q", 0))

    def set_clock(seconds):
        with open(file, "r+b") as page:
            page.write(struct.pack("q", seconds))
    return {"LD_PRELOAD": str(library), "RTCAST_TEST_CLOCK": str(file)}, set_clock


@pytest.mark.parametrize("leap", [-86_400, 86_400], ids=["a day back", "a day ahead"])
def test_a_wall_clock_that_is_set_changes_nothing(cast, clock, tmp_path, leap):
    environment, set_clock = clock
    copy = tmp_path / "copy.mkv"
    rtcast = cast(*CAST, "--record", str(copy), "-v", env=environment)
    viewer = watched(cast, rtcast, rtcast.url())
    set_clock(leap)
    goes_on(rtcast, 4)
    rtcast.interrupt()
    assert rtcast.wait() == 0
    viewer.drain()
    states = [event["state"] for event in viewer.seen if event["event"] == "peer"]
    assert states.count("connected") == 1, "the viewer's session is the same"
    times = sorted(at for at, _ in clip.packets(copy))
    assert 3 < times[-1] - times[0] < 60, "the recording has no hole of a day"


def test_a_cast_that_was_suspended_goes_on(cast):
    rtcast = cast(*CAST)
    watched(cast, rtcast, rtcast.url())
    rtcast.process.send_signal(signal.SIGSTOP)
    time.sleep(5)
    rtcast.process.send_signal(signal.SIGCONT)
    goes_on(rtcast, 3)


@pytest.fixture
def person():
    """A browser with a camera and a microphone, which may be stopped."""
    browser = chromium(size=(1000, 700), flags=FAKE_DEVICES)
    yield browser
    browser.quit()


def suspended(*processes):
    """They stand still for longer than consent lasts (30 s), and for less than a call waits for another way after that (30 s more)."""
    for process in processes:
        process.suspend()
    try:
        time.sleep(40)   # nobody can be asked whether it is over for those who stand still
    finally:
        for process in processes:
            process.resume()


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("who", ["rtcast", "browser"])
def test_a_call_goes_on_when_either_side_was_suspended_beyond_consent(who, cast, person):
    """Who is awake says that nothing comes, and who wakes is in the same call again, by a restart of ICE."""
    hub = cast("serve", "--listen", "127.0.0.1:0").url()
    page = HubPage(person, hub, "bob")
    page.join()
    alice = cast("test", "--pattern", "clock", "--fps", "10", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "320x180")
    page.accept()
    page.wait(state="call").wait_tiles(1).wait_moving()
    # Chromium shows a picture no more that stands still within its first two seconds, though it decodes what comes later.
    page.until("document.querySelector('#grid .tile video').getVideoPlaybackQuality().totalVideoFrames > 40")
    begun = alice.wait_event("peer", where=lambda event: event["state"] == "connected")
    page.script("window.before = [...board.calls.values()][0].pc")
    credentials = "return [before.localDescription, before.remoteDescription].map(each => each.sdp.match(/a=ice-ufrag:(.*)/)[1])"
    old = page.script(credentials)
    if who == "rtcast":
        page.script("window.states = []; before.addEventListener('connectionstatechange', () => states.push(before.connectionState))")
        suspended(psutil.Process(alice.process.pid))
        page.until("states.at(-1) === 'connected'", timeout=40, what="a connection")
        assert page.script("return states").count("failed") == 1
    else:
        suspended(*family(person))
        # All the time until the browser is awake.
        states = [alice.wait_event("peer")["state"] for _ in range(2)]
        assert states == ["reconnecting", "connected"]
    page.wait(state="call").wait_tiles(1).wait_moving()
    goes_on_receiving(alice)
    assert all(one != other for one, other in zip(old, page.script(credentials))), "ICE has restarted"
    alice.drain()
    assert {event["call"] for event in alice.seen if event["event"] == "peer"} == {begun["call"]}, "the same call"
    assert page.script("return before === [...board.calls.values()][0].pc")


def goes_on_receiving(rtcast):
    """Pictures of the remote peer come, in reports that are newer than this call."""
    rtcast.drain()

    def frames():
        event = rtcast.wait_event("stats")
        return sum(stream.get("frames_received", 0) for stream in event["streams"] if stream["kind"] == "video")
    before, deadline = frames(), time.monotonic() + 20
    while frames() < before + 10:
        assert time.monotonic() < deadline, "no pictures come"


# The hub

def test_a_call_outlives_its_hub_and_both_are_back_when_the_hub_is(cast):
    listen = ("serve", "--listen", f"127.0.0.1:{free_port()}")
    hub = cast(*listen)
    url = hub.url()
    quiet = ("--no-window", "--audio", "none")
    bob = cast("call", "--server", url, "--name", "bob", "--answer", "auto", *quiet)
    bob.wait_event("registered")
    alice = cast(*CAST, "--to", "bob", "--server", url, "--name", "alice", "--no-window", "--duration", "25")
    alice.wait_event("peer", where=lambda event: event["state"] == "connected")
    hub.process.kill()
    hub.process.wait()
    time.sleep(3)
    assert alice.process.poll() is None and bob.process.poll() is None
    bob.drain()
    assert not any(event["event"] == "peer" and event["state"] == "ended" for event in bob.seen)
    again = cast(*listen)
    again.url()
    deadline = time.monotonic() + 20
    while "bob" not in run("list", "peers", "--server", url)[1]:
        assert time.monotonic() < deadline, "they come back by themselves"
        time.sleep(0.5)
    assert alice.process.wait(40) == 0
    assert bob.wait_event("peer", where=lambda event: event["state"] == "ended")["reason"] == "hung up remotely"
