"""A Wayland desktop without a screen: sway, with terminals whose text the test writes."""

import io
import json
import os
import pwd
import signal
import subprocess
import tempfile
import time

import numpy as np
from PIL import Image

# sway of Debian 12 refuses to run as root; its clients may.
USER = next((user for user in pwd.getpwall() if user.pw_uid >= 1000 and user.pw_name != "nobody"), None)


def headless(folder, command, settings):
    """A compositor of wlroots without a screen and without root, with its socket in the folder."""
    if os.geteuid() == 0:
        for path in (folder, *(entry.path for entry in os.scandir(folder))):
            os.chown(path, USER.pw_uid, USER.pw_gid)
        command = ["setpriv", f"--reuid={USER.pw_uid}", f"--regid={USER.pw_gid}", "--clear-groups", *command]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": folder, "XDG_RUNTIME_DIR": folder, "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman",
             "WLR_LIBINPUT_NO_DEVICES": "1", **settings})


class Sway:
    def __init__(self, size=(800, 600), outputs=1, folder=None):
        """In a runtime folder of its own, or in one that outlives it."""
        self.folder = None if folder else tempfile.TemporaryDirectory(prefix="sway-")
        self.path = str(folder or self.folder.name)
        self.socket = f"{self.path}/sway.sock"
        if os.path.exists(self.socket):
            os.unlink(self.socket)  # of one that was killed; sway takes another name if it is there
        with open(f"{self.path}/config", "w") as config:
            config.write(f"output * resolution {size[0]}x{size[1]}\noutput * bg #204060 solid_color\ndefault_border none\nxwayland disable\n")
        self.env = {"XDG_RUNTIME_DIR": self.path, "WAYLAND_DISPLAY": "wayland-1"}
        self.process = headless(self.path, ["sway", "-c", f"{self.path}/config"],
                                {"SWAYSOCK": self.socket, "WLR_HEADLESS_OUTPUTS": str(outputs)})
        self.clients = []
        deadline = time.monotonic() + 20
        while not (os.path.exists(f"{self.path}/wayland-1") and self._has_outputs(outputs)):
            assert self.process.poll() is None and time.monotonic() < deadline, "sway did not start"
            time.sleep(0.02)

    def _has_outputs(self, count):
        done = subprocess.run(["swaymsg", "-s", self.socket, "-r", "-t", "get_outputs"], capture_output=True, check=False)
        return done.returncode == 0 and len(json.loads(done.stdout)) == count

    def message(self, *words):
        done = subprocess.run(["swaymsg", "-s", self.socket, "-r", *words], capture_output=True, check=True)
        return json.loads(done.stdout)

    def picture(self, *options):
        """The screen as the compositor's own screenshot has it: height x width x RGB."""
        done = subprocess.run(["grim", *options, "-t", "ppm", "-"], env={**os.environ, **self.env}, capture_output=True, check=True)
        return np.asarray(Image.open(io.BytesIO(done.stdout)).convert("RGB"))

    def terminal(self):
        """A terminal; it is shown when this returns."""
        terminal = Terminal(self)
        self.clients.append(terminal)
        return terminal

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def proceed(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        for client in self.clients:
            client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.folder:
            self.folder.cleanup()


class Cage(Sway):
    """A kiosk: the newest window has the whole screen."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cage-")
        self.path = self.folder.name
        self.env = {"XDG_RUNTIME_DIR": self.path, "WAYLAND_DISPLAY": "wayland-0"}
        self.clients = []
        # It ends with its first program.
        self.process = headless(self.path, ["cage", "--", "sleep", "infinity"], {})
        deadline = time.monotonic() + 20
        while not os.path.exists(f"{self.path}/wayland-0"):
            assert self.process.poll() is None and time.monotonic() < deadline, "cage did not start"
            time.sleep(0.02)


class Terminal:
    """A terminal that shows what `write` is given. Its caret does not blink."""

    def __init__(self, sway):
        self.fifo = tempfile.mktemp(prefix="fifo", dir=sway.path)
        os.mkfifo(self.fifo)
        self.process = subprocess.Popen(
            ["foot", "-c", "/dev/null", "-o", "font=DejaVu Sans Mono:size=9", "cat", self.fifo], env={**os.environ, **sway.env},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Opening it waits for the reader, which starts when the terminal has its size.
        self.pipe = open(self.fifo, "wb", buffering=0)

    def write(self, text):
        self.pipe.write(text.encode())

    def close(self):
        self.pipe.close()
        self.process.terminate()
        self.process.wait(10)
