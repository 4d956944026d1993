"""A pseudo terminal of the test's own with a program in it: rtcast or a shell. Keys are typed into it, and what it prints is read."""

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


class PseudoTerminal:
    """Runs a program with the terminal as its standard input, output and error, and as its controlling terminal."""

    def __init__(self, command, env, columns=120, rows=40):
        self.main, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings = termios.tcgetattr(inside)
        self.text = ""
        self.process = subprocess.Popen(
            command, stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), env={**env, "TERM": "xterm-256color"})
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

    def exit_status(self, timeout=15):
        return self.process.wait(timeout)

    def is_restored(self):
        """The terminal has the settings that it had before the program started."""
        return termios.tcgetattr(self.inside) == self.settings

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.inside)
        self.reader.join(5)
        os.close(self.main)


class Terminal(PseudoTerminal):
    """rtcast in a terminal."""

    def __init__(self, *arguments, display=None, env=None, **options):
        super().__init__([BINARY, *arguments], surroundings(display, env), **options)

    def url(self):
        return self.wait(r"https?://\S+").group()

    def stop(self):
        """Ends it by Ctrl-C."""
        try:
            if self.process.poll() is None:
                self.type("\x03")
                self.process.wait(10)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"rtcast did not end within 10 s of Ctrl-C: {plain(self.text)[-800:]!r}")
        finally:
            self.close()


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07", "", text)
