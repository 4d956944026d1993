"""A PulseAudio server of the test's own: null sinks that may come and go, and tones played into them."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from harness.clips import waveform


class PulseServer:
    def __init__(self, sink="desktop", rate=48000):
        self.folder = tempfile.TemporaryDirectory(prefix="pulse")
        self.socket = os.path.join(self.folder.name, "native")
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
        self.process = subprocess.Popen(
            ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes", "--realtime=no",
             "--high-priority=no", "-L", f"module-native-protocol-unix socket={self.socket} auth-anonymous=1"],
            env={**os.environ, **{k: v for k, v in self.env.items() if k != "PULSE_SERVER"}},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while self._control("info", check=False).returncode != 0:
            assert self.process.poll() is None and time.monotonic() < deadline, "pulseaudio did not start"
            time.sleep(0.05)

    def _control(self, *arguments, check=True):
        return subprocess.run(["pactl", *arguments], env={**os.environ, **self.env}, capture_output=True, text=True, check=check)

    def add_sink(self, name, rate=48000):
        """A sink that plays to nobody; it becomes the default."""
        self.modules[name] = self._control(
            "load-module", "module-null-sink", f"sink_name={name}", f"rate={rate}", f"sink_properties=device.description={name}"
        ).stdout.strip()
        self._control("set-default-sink", name)

    def remove_sink(self, name):
        self._control("unload-module", self.modules.pop(name))

    def set_default(self, name):
        self._control("set-default-sink", name)

    def play(self, tone=440, sink=None, seconds=120):
        """Plays a tone until stopped."""
        raw = os.path.join(self.folder.name, f"tone-{tone}.pcm")
        Path(raw).write_bytes(waveform(seconds, tone))
        player = subprocess.Popen(
            ["pacat", "--playback", "--raw", "--format=s16le", "--rate=48000", "--channels=2", "--latency-msec=50",
             *(["--device=" + sink] if sink else []), raw],
            env={**os.environ, **self.env}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.players.append(player)
        return player

    def recorders(self):
        """How many programs listen now."""
        return len(self._control("list", "short", "source-outputs").stdout.splitlines())

    def kill(self):
        """As a crash would."""
        self.process.kill()
        self.process.wait()
        self.modules.clear()

    def stop(self):
        for player in self.players:
            if player.poll() is None:
                player.terminate()
            player.wait(5)
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
        self.folder.cleanup()
