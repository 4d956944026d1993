"""One person on the hub's page, whatever browser it is in."""

import json
import time

# Tells the pitch of what the first call's far side sends, as an attribute of the page's root.
EAR = r"""
if (!window.ear) {
  const [call] = board.calls.values();
  const track = call.pc.getReceivers().map((receiver) => receiver.track).find((each) => each?.kind === "audio");
  const context = window.ear = new AudioContext();
  const analyser = new AnalyserNode(context, { fftSize: 16384, smoothingTimeConstant: 0 });
  context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
  context.resume();
  const bins = new Float32Array(analyser.frequencyBinCount);
  setInterval(() => {
    analyser.getFloatFrequencyData(bins);
    let top = 2;
    for (let i = 2; i < bins.length; i++) if (bins[i] > bins[top]) top = i;
    document.documentElement.dataset.heard = bins[top] > -60 ? Math.round(top * context.sampleRate / analyser.fftSize) : 0;
  }, 200);
}
"""


class HubPage:
    def __init__(self, driver, url, name):
        """Opens the page; `join` is the caller's."""
        self.driver = driver
        self.name = name
        driver.get("about:blank")   # another fragment alone would load nothing anew
        address, _, room = url.partition("#")
        driver.get(f"{address}{'&' if '?' in address else '?'}name={name}" + (f"#{room}" if room else ""))
        self.until("window.rtcast || document.documentElement.dataset.hub", what="the page")

    def script(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def until(self, expression, timeout=20, what=None):
        """Polls the page until the expression is truthy, and returns it."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            value = self.script("return " + expression)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"{self.name}: {what or expression}: not within {timeout} s; page {self.data()}; tiles {self.tiles()}")

    def data(self):
        """What the page says of itself: the attributes of its root."""
        return json.loads(self.script("return JSON.stringify(document.documentElement.dataset)"))

    def tiles(self):
        return json.loads(self.script("return JSON.stringify([...document.querySelectorAll('#grid .tile')].map(t => t.dataset))"))

    def wait(self, timeout=20, **data):
        for key, value in data.items():
            self.until(f"document.documentElement.dataset.{key} === {json.dumps(value)}", timeout, f"{key} = {value}")
        return self

    def click(self, selector):
        if hasattr(self.driver, "click"):
            self.driver.click(selector)
        else:
            self.driver.find_element("css selector", selector).click()

    def type(self, selector, text):
        self.script("document.querySelector(arguments[0]).value = arguments[1]", selector, text)

    def join(self):
        self.click("#join")
        return self.wait(hub="online")

    def call(self, peer):
        person = f"#people [data-peer={peer}] button"
        self.until(f"document.querySelector('{person}')", what=f"{peer} in the list")
        self.click(person)

    def bar(self, deed):
        self.click(f"#bar [data-do={deed}]")

    def accept(self):
        self.wait(state="ringing")
        self.click("#accept")

    def wait_tiles(self, count, selector="[data-state=live]", timeout=30):
        self.until(f"document.querySelectorAll('#grid .tile{selector}').length === {count}", timeout, f"{count} tiles {selector}")
        return self

    def wait_moving(self, selector=".tile"):
        """Every tile chosen shows new pictures."""
        # Firefox counts the frames of files only; there it is those that were decoded.
        frames = (f"[...document.querySelectorAll('#grid {selector} video')]"
                  ".map(v => v.getVideoPlaybackQuality().totalVideoFrames || +v.closest('.tile').dataset.frames || 0)")
        before = self.script("return " + frames)
        assert before, f"no tile {selector}"
        self.until(f"{frames}.every((frames, i) => frames > {json.dumps(before)}[i] + 3)", what="moving pictures")
        return self

    def wait_gone(self, peer):
        self.until(f"!document.querySelector('#grid [data-peer={peer}]')", 30, f"{peer}'s tiles gone")

    def say(self, text):
        if self.data()["chat"] != "open":
            self.bar("chat")
        self.until("!document.querySelector('#chat-text').disabled", what="an open chat")
        self.type("#chat-text", text)
        self.click("#chat-send")

    def wait_words(self, sender, text):
        self.until(f"[...document.querySelectorAll('#lines li[data-from={sender}] p')].some(p => p.textContent === {json.dumps(text)})",
                   what=f"“{text}” from {sender}")

    def run(self, code):
        """Among the page's own classes and constants, whatever browser it is in."""
        if hasattr(self.driver, "run_in_page"):
            self.driver.run_in_page(code)
        else:
            self.script(code)

    def wait_tone(self, hz, tolerance=0.03):
        """The first call's sound is a tone of that pitch."""
        self.run(EAR)
        self.until(f"Math.abs((document.documentElement.dataset.heard ?? 0) / {hz} - 1) < {tolerance}", what=f"a tone of {hz} Hz")
