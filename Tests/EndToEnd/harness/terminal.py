"""rtcast in a terminal: a pseudo terminal of the test's own, what the program prints there, and keys that are typed into it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import time

from harness.rtcast import BINARY, surroundings


class Terminal:
    """Runs rtcast with the terminal as its standard input, output and error, and as its controlling terminal."""

    def __init__(self, *arguments, columns=120, rows=40, display=None, env=None):
        self.main, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings = termios.tcgetattr(inside)
        self.text = ""
        self.process = subprocess.Popen(
            [BINARY, *arguments], stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env=surroundings(display, {"TERM": "xterm-256color", **(env or {})}))
        self.inside = inside
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            try:
                part = os.read(self.main, 65_536)
            except OSError:
                return   # the terminal is closed
            if not part:
                return
            self.text += part.decode(errors="replace")

    def type(self, keys):
        os.write(self.main, keys.encode())

    def mark(self):
        """What is printed after this moment begins here."""
        return len(self.text)

    def wait(self, pattern, since=0, timeout=20):
        """The first match of the pattern in what was printed after the mark, escape sequences left out."""
        deadline = time.monotonic() + timeout
        while not (found := re.search(pattern, plain(self.text[since:]))):
            assert time.monotonic() < deadline, f"{pattern!r} is not printed within {timeout} s: {plain(self.text[since:])[-800:]!r}"
            time.sleep(0.02)
        return found

    def url(self):
        return self.wait(r"https?://\S+").group()

    def exit_status(self, timeout=15):
        return self.process.wait(timeout)

    def is_restored(self):
        """The terminal has the settings that it had before the program started."""
        return termios.tcgetattr(self.inside) == self.settings

    def stop(self):
        if self.process.poll() is None:
            self.type("\x03")
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"rtcast did not end within 10 s of Ctrl-C: {plain(self.text)[-800:]!r}")
        os.close(self.inside)
        self.reader.join(5)
        os.close(self.main)


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07", "", text)
