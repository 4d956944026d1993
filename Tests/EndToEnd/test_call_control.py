"""`--control` in a call: a caller is accepted or rejected, and sound and picture are stopped and started, as the other end receives them."""

import os
import subprocess
import time

import numpy as np
import pytest


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


def obeyed(rtcast, command):
    rtcast.command(command)
    rtcast.wait_event("control", where=lambda event: event["ok"] and event["command"] == command)


def test_a_caller_is_rejected_and_accepted(cast, hub):
    bob = cast("call", "--server", hub, "--name", "bob", "--no-window", "--audio", "none", "--control", stdin=subprocess.PIPE)
    bob.wait_event("registered")
    calling = ("test", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "320x180")

    alice = cast(*calling)
    bob.wait_event("peer", where=lambda event: event["state"] == "ringing")
    obeyed(bob, "reject")
    assert alice.wait_event("peer", where=lambda event: event["state"] == "ended")["reason"] == "rejected"
    assert alice.wait() == 77

    alice = cast(*calling)
    bob.wait_event("peer", where=lambda event: event["state"] == "ringing")
    obeyed(bob, "accept")
    for each in (alice, bob):
        each.wait_event("peer", where=lambda event: event["state"] == "connected")
    bob.wait_event("stats", where=lambda event: any(stream.get("frames_received", 0) > 5 for stream in event["streams"]))
    obeyed(bob, "hangup")
    assert alice.wait_event("peer", where=lambda event: event["state"] == "ended")["reason"] == "hung up remotely"
    bob.command("accept")
    assert bob.wait_event("error")["control"] is True, "there is nobody to accept"


class Loudspeaker:
    """What is played on the null sink, read as it comes."""

    def __init__(self, pulse):
        self.recorder = subprocess.Popen(
            ["parec", "--raw", "--format=s16le", "--rate=48000", "--channels=1", "--latency-msec=50", "--device=desktop.monitor"],
            env={**os.environ, **pulse.env}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def wait(self, fits, what, timeout=20):
        """Waits until a fifth of a second fits: a function of pitch in hertz and peak."""
        deadline = time.monotonic() + timeout
        while True:
            wave = np.frombuffer(self.recorder.stdout.read(19_200), np.int16).astype(float)
            pitch = np.argmax(np.abs(np.fft.rfft(wave * np.hanning(len(wave))))) * 5
            if fits(pitch, np.abs(wave).max()):
                return
            assert time.monotonic() < deadline, f"{what} is not heard within {timeout} s, but {pitch} Hz of {np.abs(wave).max()}"

    def wait_tone(self, hertz):
        self.wait(lambda pitch, peak: abs(pitch - hertz) <= 5 and peak > 1000, f"a tone of {hertz} Hz")

    def wait_silence(self):
        self.wait(lambda pitch, peak: peak < 50, "silence")

    def close(self):
        self.recorder.kill()
        self.recorder.wait()
        self.recorder.stdout.close()


def test_mute_is_silence_at_the_other_end(cast, hub, pulse):
    """The tone is heard, then nothing is, then the tone again; the other end is told each time."""
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--audio", "none", env=pulse.env)
    bob.wait_event("registered")
    alice = cast("test", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "320x180", "--tone", "440", "--control",
                 stdin=subprocess.PIPE)
    loudspeaker = Loudspeaker(pulse)
    try:
        loudspeaker.wait_tone(440)
        obeyed(alice, "mute")
        loudspeaker.wait_silence()
        assert bob.wait_event("muted") == {"event": "muted", "id": "alice", "kind": "audio", "muted": True}
        obeyed(alice, "unmute")
        loudspeaker.wait_tone(440)
        assert bob.wait_event("muted")["muted"] is False
    finally:
        loudspeaker.close()
