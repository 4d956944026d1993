"""Where a sender is measured: a link between two hosts, a screen with a desktop on the near one, a receiving browser on the far one."""

import atexit
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from harness import barcode
from harness.browser import chromium, drawn
from harness.link import Link
from harness.pictures import luma, psnr
from harness.xserver import XServer
from senders import PAGES, PLAIN_ADDRESSES, until

SIZE = (1920, 1080)
DESKTOPS = Path(__file__).resolve().parents[1] / "Desktops/desktops.c"
# Where desktops.c has its page, editor, terminal and slides: the region whose quality is compared.
PAGE = (slice(110, 1010), slice(40, 1220))


def compiled():
    """The program of desktops.c."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    libraries = subprocess.run(["pkg-config", "--cflags", "--libs", "x11", "xft"], capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["gcc", "-O2", "-o", f"{folder.name}/desktops", str(DESKTOPS), *libraries, "-lm"], check=True)
    return f"{folder.name}/desktops"


class Receiver:
    """A page in a headless Chromium on the far host."""

    def __init__(self, link):
        self.driver = chromium(size=(800, 600), host=link.far, flags=(PLAIN_ADDRESSES,))
        self.driver.set_script_timeout(30)

    def reset(self):
        self.driver.get(f"file://{PAGES}/receiver.html")
        self.driver.execute_script(barcode.READER)

    def _call(self, name, *arguments):
        result = self.driver.execute_async_script(
            f"""const done = arguments[arguments.length - 1];
            receiver.{name}(...[...arguments].slice(0, -1)).then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));""",
            *arguments)
        if "error" in result:
            raise RuntimeError(f"receiver: {result['error']}")
        return result.get("value")

    def offer(self):
        return self._call("offer")

    def accept(self, sdp):
        self._call("accept", sdp)

    def answer(self, sdp):
        return self._call("answer", sdp)

    def candidate(self, candidate):
        self._call("candidate", candidate)

    def format(self):
        return self._call("format")

    def first_frame(self, seconds=20):
        """When the first frame was presented, by the wall clock."""
        first = until(lambda: self.driver.execute_script("return receiver.frames[0]?.presented ?? null"), seconds, "no frame was shown")
        return first / 1000

    def frames(self):
        return self.driver.execute_script("return receiver.frames")

    def picture(self):
        """The frame that is shown, as RGB at the size of the screen, and the number in it (None if it cannot be read)."""
        image = drawn(self.driver.execute_script)
        if image.shape[:2] != SIZE[::-1]:
            image = np.asarray(Image.fromarray(image).resize(SIZE, Image.BILINEAR))
        return image, barcode.read(luma(image))

    def close(self):
        self.driver.quit()


class Desktop:
    """A desktop of desktops.c on an X server of its own."""

    def __init__(self, program, mode, frozen=None):
        self.server = XServer(SIZE)
        arguments = [] if frozen is None else ["--freeze", str(frozen)]
        self.child = subprocess.Popen([program, "--display", self.server.name, "--mode", mode, *arguments])

    def pause(self):
        self.child.send_signal(signal.SIGUSR1)

    def close(self):
        self.child.terminate()
        self.child.wait()
        self.server.stop()


class Stage:
    def __init__(self):
        self.program = compiled()
        self.link = Link()
        self.receiver = Receiver(self.link)
        self.desktop = None
        self.truths = {}

    @property
    def display(self):
        return self.desktop.server.name

    def show(self, mode):
        """A new desktop, and a receiver that has received nothing."""
        self.mode = mode
        self.desktop = Desktop(self.program, mode)
        self.receiver.reset()

    def clear(self):
        if self.desktop:
            self.desktop.close()
        self.desktop = None
        self.link.clear()

    def truth(self, number):
        """The screen as it was drawn with that number."""
        if (self.mode, number) not in self.truths:
            desktop = Desktop(self.program, self.mode, frozen=number)
            try:
                self.truths[self.mode, number] = until(
                    lambda: (lambda screen: screen if barcode.read(luma(screen)) == number else None)(desktop.server.picture()),
                    10, f"picture {number} of {self.mode} was not drawn")
            finally:
                desktop.close()
        return self.truths[self.mode, number]

    def quality(self, save=None):
        """PSNR of the page in the frame that is shown: luma, and red, green and blue together."""
        image, number = self.receiver.picture()
        if save:
            Image.fromarray(image).save(save)
        if number is None:
            return {"luma_db": None, "rgb_db": None}
        truth = self.truth(number)
        return {"luma_db": round(float(psnr(luma(image[PAGE]), luma(truth[PAGE]))), 2),
                "rgb_db": round(float(psnr(image[PAGE], truth[PAGE])), 2)}

    def close(self):
        self.clear()
        self.receiver.close()
        self.link.close()


def sleep_until(moment):
    """Of the wall clock."""
    time.sleep(max(0, moment - time.time()))
