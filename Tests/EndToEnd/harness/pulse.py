"""A sound server of the test's own, PulseAudio or PipeWire: null sinks that may come and go, and tones played into them."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from harness.clips import waveform


class PulseServer:
    socket_name = "native"

    def __init__(self, sink="desktop", rate=48000):
        self.folder = tempfile.TemporaryDirectory(prefix="pulse")
        self.socket = os.path.join(self.folder.name, self.socket_name)
        self.players = []
        self.modules = {}
        self.env = {"PULSE_SERVER": "unix:" + self.socket, "XDG_RUNTIME_DIR": self.folder.name, "HOME": self.folder.name,
                    "PULSE_COOKIE": os.path.join(self.folder.name, "cookie")}
        self.process = None
        self.start()
        self.add_sink(sink, rate)

    def start(self):
        """Also after `kill`: the same address, without sinks."""
        Path(self.socket).unlink(missing_ok=True)
        environment = {**os.environ, **{k: v for k, v in self.env.items() if k != "PULSE_SERVER"}}
        self.process = subprocess.Popen(self.command(), env=environment, start_new_session=True,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not self.is_up():
            assert self.process.poll() is None and time.monotonic() < deadline, f"{self.command()[0]} did not start"
            time.sleep(0.05)

    def command(self):
        return ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes", "--realtime=no",
                "--high-priority=no", "-L", f"module-native-protocol-unix socket={self.socket} auth-anonymous=1"]

    def is_up(self):
        return self._control("info", check=False).returncode == 0

    def _control(self, *arguments, check=True):
        return subprocess.run(["pactl", *arguments], env={**os.environ, **self.env}, capture_output=True, text=True, check=check)

    def add_sink(self, name, rate=48000):
        """A sink that plays to nobody; it becomes the default."""
        self.modules[name] = self._control(
            "load-module", "module-null-sink", f"sink_name={name}", f"rate={rate}", f"sink_properties=device.description={name}"
        ).stdout.strip()
        self._control("set-default-sink", name)

    def add_microphone(self, name, hears):
        """An input that hears what is played on the sink `hears`."""
        self._control("load-module", "module-remap-source", f"master={hears}.monitor", f"source_name={name}")

    def remove_sink(self, name):
        self._control("unload-module", self.modules.pop(name))

    def set_default(self, name):
        self._control("set-default-sink", name)

    def play(self, tone=440, sink=None, seconds=120, program="pacat", options=()):
        """Plays a tone until stopped. `program`: as the server knows the player."""
        raw = os.path.join(self.folder.name, f"tone-{tone}.pcm")
        Path(raw).write_bytes(waveform(seconds, tone))
        player = subprocess.Popen(
            ["pacat", "--playback", "--raw", "--format=s16le", "--rate=48000", "--channels=2", "--latency-msec=50",
             f"--client-name={program}", *(["--device=" + sink] if sink else []), *options, raw],
            env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.players.append(player)
        return player

    def wait_pitch(self, hertz, sink, timeout=20):
        """Waits until a sound of that pitch is played on the sink."""
        recorder = subprocess.Popen(
            ["parec", "--raw", "--format=s16le", "--rate=48000", "--channels=1", "--latency-msec=50", f"--device={sink}.monitor"],
            env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + timeout
            found = None
            while time.monotonic() < deadline:
                part = np.frombuffer(recorder.stdout.read(48000), np.int16).astype(float)
                assert len(part) == 24000, "the sound server ended the recording"
                if np.abs(part).max() > 300:
                    found = np.argmax(np.abs(np.fft.rfft(part * np.hanning(len(part))))) * 2
                    if abs(found - hertz) <= 4:
                        return
            raise AssertionError(f"{hertz} Hz not heard on {sink} within {timeout} s, but {found}")
        finally:
            recorder.kill()
            recorder.wait()

    def stop_playing(self):
        for player in self.players:
            if player.poll() is None:
                player.terminate()
            player.wait(5)
        self.players.clear()

    def recorders(self):
        """How many programs listen now."""
        return len(self._control("list", "short", "source-outputs").stdout.splitlines())

    def kill(self):
        """As a crash would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.modules.clear()

    def stop(self):
        self.stop_playing()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(10)
        self.folder.cleanup()


class PipeWireServer(PulseServer):
    """PipeWire with its PulseAudio face, and WirePlumber, which joins streams to devices and needs a session bus."""

    socket_name = "pulse/native"
    programs = ("dbus-run-session", "pipewire", "pipewire-pulse", "wireplumber")

    @classmethod
    def is_installed(cls):
        return all(shutil.which(program) for program in cls.programs)

    def command(self):
        # The others give up at once without it. The first to go takes all along: a crash of PipeWire is a crash of the whole.
        core = os.path.join(self.folder.name, "pipewire-0")
        Path(core).unlink(missing_ok=True)
        return ["dbus-run-session", "--", "bash", "-c",
                f"trap 'kill $(jobs -p)' EXIT; pipewire & until [ -S {core} ]; do sleep 0.05; done; "
                "wireplumber & pipewire-pulse & wait -n"]

    def is_up(self):
        """WirePlumber is there as well when there is a default sink."""
        told = self._control("info", check=False).stdout
        return "Default Sink: " in told and "@DEFAULT_SINK@" not in told

    def connect(self, program, sink):
        """What the program plays goes to the sink, for one that was started with `UNCONNECTED`."""
        for side in ("FL", "FR"):
            subprocess.run(["pw-link", f"{program}:output_{side}", f"{sink}:playback_{side}"], env={**os.environ, **self.env}, check=True)


# Options of a player that WirePlumber gives no output.
UNCONNECTED = ("--property=node.autoconnect=false",)
