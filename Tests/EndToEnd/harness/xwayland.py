"""An X server as Wayland desktops have it: XWayland under a compositor without a screen."""

import os
import queue
import re
import subprocess
import tempfile
import threading

from harness.xserver import Painter


class XWayland:
    def __init__(self, size=(800, 600)):
        self.folder = tempfile.TemporaryDirectory()
        os.makedirs("/tmp/.X11-unix", mode=0o1777, exist_ok=True)
        self.process = subprocess.Popen(
            ["weston", "--backend=headless-backend.so", "--xwayland", "--no-config", "--idle-time=0", "--socket=test",
             f"--width={size[0]}", f"--height={size[1]}"],
            env={**os.environ, "XDG_RUNTIME_DIR": self.folder.name}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        names = queue.Queue()
        self.log = []

        def read():
            for line in self.process.stderr:
                self.log.append(line)
                if found := re.search(r"xserver listening on display (:\d+)", line):
                    names.put(found[1])
            names.put(None)

        threading.Thread(target=read, daemon=True).start()
        self.name = names.get(timeout=20)
        assert self.name, f"weston did not start: {self.log}"
        # It starts with its first client, which would otherwise be the program under test.
        self.first = self.client()

    def client(self):
        return Painter(self.name)

    def stop(self):
        self.first.close()
        self.process.terminate()
        self.process.wait(10)
        self.folder.cleanup()
