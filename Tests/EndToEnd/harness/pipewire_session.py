"""PipeWire and WirePlumber on a D-Bus of their own, as desktops have them, and what shares the screen over them."""

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from .plugins import compiled
from .rtcast import ROOT
from .sway import Sway, Terminal

SETTINGS = Path("/usr/share/wireplumber")

# `keep` starts a program again that ends.
SCRIPT = """
trap 'kill $(jobs -p) 2>/dev/null' EXIT
echo $DBUS_SESSION_BUS_ADDRESS > bus
keep() { while [ ! -e end ]; do "$@" & echo $! > ${1##*/}.pid; wait $!; sleep 0.2; done; }
keep pipewire &
until [ -S pipewire-0 ]; do sleep 0.05; done
keep wireplumber &
until [ -e wireplumber.pid ]; do sleep 0.05; done
touch up
"""


class PipeWireSession:
    """A session with its own runtime folder, in which `script` runs to its end."""

    def __init__(self, folder, script, env=()):
        self.path = Path(folder)
        self.log = open(self.path / "log", "wb")
        names = ("PATH", "HOME", "LANG")
        environment = {name: os.environ[name] for name in names if name in os.environ}
        environment |= {"XDG_RUNTIME_DIR": str(folder), "WIREPLUMBER_CONFIG_DIR": str(self._settings()), **dict(env)}
        self.process = subprocess.Popen(["dbus-run-session", "--", "bash", "-c", SCRIPT + script], cwd=self.path, env=environment,
                                        stdout=self.log, stderr=self.log)
        self.until(lambda: (self.path / "up").exists(), "PipeWire did not start")
        self.bus = {"DBUS_SESSION_BUS_ADDRESS": (self.path / "bus").read_text().strip()}

    def _settings(self):
        """WirePlumber of Debian 12 ends itself without a login session, unless it leaves Bluetooth alone."""
        settings = self.path / "wireplumber"
        for file in SETTINGS.rglob("*"):
            place = settings / file.relative_to(SETTINGS)
            if file.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(file)
        (settings / "bluetooth.lua.d/51-off.lua").write_text("bluez_monitor.enabled = false\n")
        return settings

    def until(self, condition, what):
        deadline = time.monotonic() + 30
        while not condition():
            assert self.process.poll() is None and time.monotonic() < deadline, f"{what}: {(self.path / 'log').read_text()}"
            time.sleep(0.05)

    def has(self, name):
        """Whether a program has this name on the bus."""
        done = subprocess.run(["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/", "--method",
                               "org.freedesktop.DBus.NameHasOwner", name], env={**os.environ, **self.bus}, capture_output=True, text=True, check=False)
        return done.stdout.strip() == "(true,)"

    def end(self, program):
        os.kill(int((self.path / f"{program}.pid").read_text()), signal.SIGTERM)

    def stop(self):
        (self.path / "end").touch()
        for file in self.path.glob("*.pid"):
            try:
                self.end(file.stem)
            except (OSError, ValueError):
                pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        # The portal's file system of documents goes when its server has seen the bus end.
        documents = self.path / "doc"
        deadline = time.monotonic() + 10
        while os.path.ismount(documents) and time.monotonic() < deadline:
            time.sleep(0.05)


class Gnome:
    """GNOME's Mutter without a screen."""

    def __init__(self, size=(800, 600), beside="", env=()):
        """`size`: of its monitor; None: it has none. `beside`: commands of the session, run when Mutter has been started."""
        self.folder = tempfile.TemporaryDirectory(prefix="gnome-")
        self.path = self.folder.name
        self.session = PipeWireSession(
            self.path, f"mutter --headless {f'--virtual-monitor {size[0]}x{size[1]} ' if size else ''}--wayland --wayland-display=wayland-7 --no-x11 & "
            f"echo $! > mutter.pid\n{beside}\nwait $(cat mutter.pid)", env)
        self.env = {"XDG_RUNTIME_DIR": self.path, "WAYLAND_DISPLAY": "wayland-7", **self.session.bus}
        self.clients = []
        self.session.until(lambda: self.session.has("org.gnome.Mutter.ScreenCast"), "Mutter did not start")

    def terminal(self):
        self.clients.append(Terminal(self))
        return self.clients[-1]

    def stop(self):
        for client in self.clients:
            client.close()
        self.session.stop()
        self.folder.cleanup()


class WlrPortal:
    """sway, shared by xdg-desktop-portal-wlr. `choice`: the lines of its settings that say what is shared."""

    def __init__(self, choice="chooser_type=none\noutput_name=HEADLESS-1\n"):
        self.sway = Sway()
        folder = Path(self.sway.path)
        shim = compiled(Path(__file__).with_name("shm_portal.c"), folder / "shm_portal.so")
        settings = folder / "portal/xdg-desktop-portal-wlr"
        settings.mkdir(parents=True)
        (settings / "config").write_text(f"[screencast]\n{choice}")
        self.session = PipeWireSession(
            folder, f"LD_PRELOAD={shim} /usr/libexec/xdg-desktop-portal-wlr & echo $! > xdpw.pid; "
            "/usr/libexec/xdg-desktop-portal & echo $! > xdp.pid; wait",
            {"XDG_CONFIG_HOME": str(folder / "portal"), "XDG_CURRENT_DESKTOP": "sway", "WAYLAND_DISPLAY": "wayland-1"})
        # A choice that another test made is not restored.
        self.env = {**self.sway.env, **self.session.bus, "XDG_STATE_HOME": str(folder / "state")}
        self.session.until(lambda: self.session.has("org.freedesktop.portal.Desktop"), "the portal did not start")

    def stop(self):
        self.session.stop()
        self.sway.stop()


class StandInPortal:
    """A portal that shares a picture of its own, in memory of a chosen kind and with chosen formats. See `stand_in_portal.c`."""

    @staticmethod
    def compiled(folder):
        program = folder / "stand_in_portal"
        subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-I", str(ROOT / "Sources/CPipeWire"), "-isystem", "/usr/include/spa-0.2", "-o", str(program),
                        str(Path(__file__).with_name("stand_in_portal.c")), "-l:libpipewire-0.3.so.0", "-lsystemd"], check=True)
        return program

    def __init__(self, program, memory="file", formats=("plain",), size=(320, 200), sources=7):
        self.folder = tempfile.TemporaryDirectory(prefix="portal-")
        self.path, self.size, self.colour = Path(self.folder.name), size, None
        os.mkfifo(self.path / "control")
        words = " ".join([str(sources), memory, f"{size[0]}x{size[1]}", *formats])
        self.session = PipeWireSession(self.path, f"{program} {words} > said & echo $! > stand_in_portal.pid; wait")
        self.env = {"XDG_RUNTIME_DIR": str(self.path), "XDG_STATE_HOME": str(self.path / "state"), **self.session.bus}
        self.session.until(lambda: self.session.has("org.freedesktop.portal.Desktop"), "the portal did not start")
        self.control = open(self.path / "control", "wb", buffering=0)

    def fill(self, colour, command="fill"):
        """The left half in this colour, the right half in its complement."""
        self.colour = colour
        self.tell(f"{command} {colour:06x}")

    def tell(self, words):
        """A command of `stand_in_portal.c`."""
        self.control.write(f"{words}\n".encode())

    def resize(self, size):
        self.size = size
        self.tell(f"size {size[0]} {size[1]}")

    def said(self):
        return (self.path / "said").read_text().splitlines()

    def until_said(self, pattern):
        self.session.until(lambda: any(re.fullmatch(pattern, line) for line in self.said()), f"not said: {pattern}; {self.said()}")

    def picture(self):
        return self.halves(self.colour, ~self.colour)

    def halves(self, left, right):
        colours = [[value >> shift & 255 for shift in (16, 8, 0)] for value in (left, right)]
        return np.repeat(np.array(colours, np.uint8), self.size[0] // 2, axis=0)[None].repeat(self.size[1], axis=0)

    def stop(self):
        self.control.close()
        self.session.stop()
        self.folder.cleanup()
