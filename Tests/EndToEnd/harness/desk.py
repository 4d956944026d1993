"""A desktop that moves: text that scrolls, letters that are typed, a page that is turned; with the barcode of harness/barcode.py in its corner.

Each picture's number counts on, and its milliseconds are the wall clock's when it was drawn, as `rtcast test` has them.
"""

import threading
import time

from Xlib import X

from . import barcode
from .pictures import text_page

TALL = 5


class Desk:
    def __init__(self, xserver):
        self.painter = xserver.client()
        self.window = self.painter.window()
        screen = self.painter.screen
        self.width, self.height = screen.width_in_pixels, screen.height_in_pixels
        self.cell = barcode.cell_size(self.width, self.height)
        self.top = 4 * self.cell            # below the barcode
        self.white = self.window.create_gc(foreground=0xFFFFFF)
        self.black = self.window.create_gc(foreground=0x000000)
        self.grey = self.window.create_gc(foreground=0x808080)
        self.number = 0
        self.begun = {}                     # the wall clock of each picture, by number, in seconds
        self.stopped = threading.Event()
        self.thread = None
        self.page = self._pixmap(text_page(self.width, self.height * TALL, seed=1, size=15))
        self._show(0)
        self._stamp()

    def _pixmap(self, image):
        pixmap = self.window.create_pixmap(image.shape[1], image.shape[0], self.painter.screen.root_depth)
        self.painter.put(pixmap, image)
        return pixmap

    def _show(self, y):
        self.window.copy_area(self.white, self.page, 0, y % (self.height * (TALL - 1)), self.width, self.height - self.top, 0, self.top)

    def _stamp(self):
        now = time.time()
        self.begun[self.number] = now
        code = barcode.bits(self.number, int(now * 1000))
        cell = self.cell
        squares = [(cell + i % 32 * cell, cell + i // 32 * cell, cell, cell) for i in range(64) if code >> (63 - i) & 1]
        self.window.fill_rectangle(self.grey, 0, 0, 34 * cell, 4 * cell)
        self.window.fill_rectangle(self.black, cell, cell, 32 * cell, 2 * cell)
        self.window.poly_fill_rectangle(self.white, squares)
        self.painter.display.sync()
        self.number += 1

    def _repeat(self, rate, draw):
        def work():
            due = time.monotonic()
            while not self.stopped.is_set():
                draw(self.number)
                self._stamp()
                due = max(due + 1 / rate, time.monotonic())
                self.stopped.wait(max(0, due - time.monotonic()))
        self.stopped.clear()
        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def scroll(self, rate=20, pixels=6):
        """So many pictures a second, each some pixels further."""
        self._repeat(rate, lambda number: self._show(number * pixels))

    def type(self, rate=5):
        """So many letters a second."""
        def draw(number):
            x, y = number % 80 * 10, self.top + 40 + number // 80 % 20 * 20
            self.window.fill_rectangle(self.white, x, y, 9, 18)
            self.window.fill_rectangle(self.black, x + 2 + number % 3, y + 2, 5, 4 + number * 7 % 12)
        self._repeat(rate, draw)

    def turn(self):
        """A wholly other page, at once; its number."""
        self._show(self.number * 997)
        self._stamp()
        return self.number - 1

    def rest(self):
        """Nothing moves from here on."""
        self.stopped.set()
        if self.thread:
            self.thread.join(5)
            self.thread = None

    def close(self):
        self.rest()
        self.painter.close()
