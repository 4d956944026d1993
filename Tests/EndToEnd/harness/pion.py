"""Pion as a far peer: a small Go program, built once against Debian's packages."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from .far_peer import FarPeer, SOUND
from .pictures import decoded
from .sound import pitch

SOURCE = Path(__file__).resolve().parents[1] / "peers" / "pion"
LIBRARY = Path("/usr/share/gocode")


def missing():
    """Why there is no Pion here; None when there is."""
    if shutil.which("go") is None:
        return "no Go compiler: install golang-go"
    if not (LIBRARY / "src/github.com/pion/webrtc").exists():
        return "no Pion: install golang-github-pion-webrtc.v3-dev"
    return None


def build(folder):
    """The program's path. Debian's libraries are for GOPATH, where only a module below `src` may say `/v3` of others."""
    home = Path(folder) / "go"
    shutil.copytree(SOURCE, home / "src/rtcast.test/pion")
    program = Path(folder) / "pion"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=home / "src/rtcast.test/pion", check=True, timeout=300,
                   env={**os.environ, "GO111MODULE": "off", "GOPATH": f"{home}:{LIBRARY}", "GOFLAGS": ""})
    return program


def media(folder):
    """What it sends: picture.ivf and tone.ogg."""
    quiet = ["ffmpeg", "-y", "-loglevel", "error", "-f", "lavfi"]
    subprocess.run([*quiet, "-i", "testsrc2=size=320x180:rate=15", "-t", "4", "-c:v", "libvpx", "-deadline", "realtime",
                    "-cpu-used", "8", "-b:v", "300k", "-g", "15", str(folder / "picture.ivf")], check=True)
    subprocess.run([*quiet, "-i", f"sine=frequency={SOUND}:sample_rate=48000", "-t", "4", "-c:a", "libopus",
                    "-page_duration", "20000", str(folder / "tone.ogg")], check=True)


class Pion(FarPeer):
    """Decodes nothing itself: what it has received is decoded here from the files it keeps."""

    def __init__(self, program, folder, hub, name):
        self.folder = Path(folder)
        media(self.folder)
        super().__init__([str(program), str(self.folder / "picture.ivf"), str(self.folder / "tone.ogg"), str(self.folder)], hub, name)

    def wait_moving(self, count=1):
        super().wait_moving(count)
        self.wait_kept(lambda: decoded(self.folder / "video-1.ivf") > 5, "pictures that can be decoded")

    def wait_tone(self, hz, tolerance=0.03):
        self.wait_kept(lambda: abs((pitch(self.folder / "audio-1.ogg") or 0) / hz - 1) < tolerance, f"tone of {hz} Hz")

    def wait_kept(self, condition, what, timeout=15):
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, f"{self.name} received no {what}"
            time.sleep(0.3)
