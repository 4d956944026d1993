"""A virtual X server of the test's own, a way to draw on it, and a way to read back what it shows."""

import os
import subprocess

import numpy as np
import Xlib.display
from Xlib import X, Xatom, error
from Xlib.display import Display
from Xlib.protocol import event


class OwnNumbers(Xlib.display._BaseDisplay):
    """python-xlib keeps the numbers of extensions for all servers together; each server has its own, and XWayland's differ."""

    def __init__(self, *arguments, **options):
        self.extension_major_opcodes = {}
        self.event_classes = event.event_class.copy()
        self.error_classes = error.xerror_class.copy()
        super().__init__(*arguments, **options)


Xlib.display._BaseDisplay = OwnNumbers


class XServer:
    def __init__(self, size=(1280, 720), resizable=False):
        """Xvfb; or Xvnc, which unlike Xvfb lets xrandr change the screen's size."""
        read, write = os.pipe()
        geometry = f"{size[0]}x{size[1]}"
        command = (["Xvnc", "-geometry", geometry, "-depth", "24", "-SecurityTypes", "None", "-rfbport", "-1"]
                   if resizable else ["Xvfb", "-screen", "0", geometry + "x24", "-nolisten", "tcp"])
        self.process = subprocess.Popen(
            [*command, "-displayfd", str(write), "-noreset"], pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        assert number, "Xvfb did not start"
        self.name = f":{number}"

    def stop(self):
        self.process.terminate()
        self.process.wait(10)

    def client(self):
        return Painter(self.name)

    def picture(self, drawable="-root"):
        """The screen (or a window, by id) as an array of height x width x RGB."""
        which = [drawable] if drawable == "-root" else ["-id", str(drawable)]
        raw = subprocess.run(["xwd", "-silent", "-display", self.name, *which], capture_output=True, check=True).stdout
        header = np.frombuffer(raw[:100], dtype=">u4")
        header_size, width, height, bits, stride, colors = (int(header[i]) for i in (0, 4, 5, 11, 12, 19))
        start = header_size + colors * 12
        rows = np.frombuffer(raw[start:start + stride * height], dtype=np.uint8).reshape(height, stride)
        size = bits // 8  # 3 where windows of several visuals are seen
        return rows[:, :width * size].reshape(height, width, size)[:, :, 2::-1].copy()


class Painter:
    """One override-redirect window that covers the screen (or part of it), and drawing into it."""

    def __init__(self, display_name):
        self.display = Display(display_name)
        self.screen = self.display.screen()
        self.root = self.screen.root

    def window(self, x=0, y=0, width=None, height=None, title=None, color=0xFFFFFF):
        width = width or self.screen.width_in_pixels
        height = height or self.screen.height_in_pixels
        window = self.root.create_window(
            x, y, width, height, 0, self.screen.root_depth, X.InputOutput, X.CopyFromParent,
            background_pixel=color, override_redirect=True)
        if title:
            window.change_property(
                self.display.get_atom("_NET_WM_NAME"), self.display.get_atom("UTF8_STRING"), 8, title.encode())
            window.change_property(Xatom.WM_NAME, Xatom.STRING, 8, title.encode())
        window.map()
        self.display.sync()
        return window

    def fill(self, window, x, y, width, height, color):
        gc = window.create_gc(foreground=color)
        window.fill_rectangle(gc, x, y, width, height)
        self.display.sync()
        gc.free()

    def put(self, window, image, x=0, y=0):
        """Puts an RGB array on the window, in strips that fit a request."""
        height, width, _ = image.shape
        gc = window.create_gc()
        data = np.zeros((height, width, 4), np.uint8)
        data[:, :, :3] = image[:, :, ::-1]
        rows = max(1, 200_000 // (width * 4))
        for top in range(0, height, rows):
            part = data[top:top + rows]
            window.put_image(gc, x, y + top, width, part.shape[0], X.ZPixmap, self.screen.root_depth, 0, part.tobytes())
        self.display.sync()
        gc.free()

    def close(self):
        self.display.close()
