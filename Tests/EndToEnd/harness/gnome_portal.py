"""GNOME's Mutter with GNOME's own portal. A pointer answers its dialog."""

import os
import subprocess

from .pipewire_session import Gnome

PORTAL = """
export WAYLAND_DISPLAY=wayland-7 GDK_BACKEND=wayland
until [ -S wayland-7 ]; do sleep 0.05; done
keep /usr/libexec/xdg-desktop-portal-gnome &
/usr/libexec/xdg-desktop-portal & echo $! > xdp.pid
"""

# Clicks at the places of its input's lines. It is for the system's Python, which has Gio.
POINTER = """
import sys
from gi.repository import Gio, GLib
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
def call(path, interface, method, arguments=None):
    return bus.call_sync("org.gnome.Mutter.RemoteDesktop", path, interface, method, arguments, None, 0, -1, None)
session = call("/org/gnome/Mutter/RemoteDesktop", "org.gnome.Mutter.RemoteDesktop", "CreateSession").unpack()[0]
def notify(method, types, *words):
    call(session, "org.gnome.Mutter.RemoteDesktop.Session", method, GLib.Variant(types, words))
call(session, "org.gnome.Mutter.RemoteDesktop.Session", "Start")
for line in sys.stdin:
    notify("NotifyPointerMotionRelative", "(dd)", -9999.0, -9999.0)
    notify("NotifyPointerMotionRelative", "(dd)", *map(float, line.split()))
    for is_pressed in (True, False):
        notify("NotifyPointerButton", "(ib)", 0x110, is_pressed)
    print("clicked", flush=True)
"""


class GnomePortal(Gnome):
    def __init__(self):
        super().__init__((800, 600), PORTAL, {"XDG_CURRENT_DESKTOP": "GNOME"})
        self.env["XDG_STATE_HOME"] = f"{self.path}/state"
        self.session.until(lambda: self.session.has("org.freedesktop.portal.Desktop"), "the portal did not start")
        self.pointer = subprocess.Popen(["/usr/bin/python3", "-c", POINTER], env={**os.environ, **self.session.bus},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def click(self, x, y):
        self.pointer.stdin.write(f"{x} {y}\n")
        self.pointer.stdin.flush()
        assert self.pointer.stdout.readline() == "clicked\n"

    def stop(self):
        self.pointer.stdin.close()
        self.pointer.wait(10)
        self.pointer.stdout.close()
        super().stop()
