"""A desktop's window manager (JWM) on a test's X server: windows have frames with a close button, and can have the whole screen."""

import subprocess
import time

from .xserver import XServer

SETTINGS = """<?xml version="1.0"?>
<JWM>
  <WindowStyle><Font>DejaVu Sans-10</Font><Height>24</Height><Width>4</Width></WindowStyle>
  <FocusModel>click</FocusModel>
  <Desktops width="1" height="1"/>
</JWM>
"""


class Desktop(XServer):
    def __init__(self, folder, size=(1280, 720)):
        super().__init__(size)
        self.size = size
        settings = folder / "jwmrc"
        settings.write_text(SETTINGS)
        self.manager = subprocess.Popen(["jwm", "-display", self.name, "-f", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        self.manager.terminate()
        self.manager.wait(10)
        super().stop()

    def xdotool(self, *arguments):
        done = subprocess.run(["xdotool", *map(str, arguments)], env={"DISPLAY": self.name}, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""

    def window(self, timeout=20):
        """The number of rtcast's window, once it is shown and its keys go there."""
        deadline = time.monotonic() + timeout
        while True:
            found = self.xdotool("search", "--onlyvisible", "--name", "^rtcast").split()
            if found and self.xdotool("windowactivate", "--sync", found[0], "getwindowfocus").strip() == found[0]:
                return found[0]
            assert time.monotonic() < deadline, f"no window of rtcast's within {timeout} s"
            time.sleep(0.05)

    def key(self, name):
        """Pressed and released as on a keyboard."""
        self.xdotool("key", name)

    def place(self, window):
        """(x, y, width, height) of a window without its frame."""
        painter = self.client()
        try:
            shown = painter.display.create_resource_object("window", int(window))
            corner, size = painter.root.translate_coords(shown, 0, 0), shown.get_geometry()
            return corner.x, corner.y, size.width, size.height
        finally:
            painter.close()

    def wait_place(self, window, fits, what, timeout=20):
        deadline = time.monotonic() + timeout
        while not fits(place := self.place(window)):
            assert time.monotonic() < deadline, f"{what}: not within {timeout} s, but {place}"
            time.sleep(0.05)
        return place

    def close_by_button(self, window):
        """A click on the cross at the right end of the window's title."""
        x, y, width, _ = self.place(window)
        self.xdotool("mousemove", x + width - 13, y - 12, "click", 1)
