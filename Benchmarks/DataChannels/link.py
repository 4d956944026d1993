#!/usr/bin/env python3
"""What goes through one ordered, reliable data channel over a bad link: rtcast and Chromium as senders and receivers, one pair after the
other in each round. Needs root, for network namespaces.

    RTCAST_BENCHMARKS=1 swift build -c release --product DataChannelBenchmark
    python Benchmarks/DataChannels/link.py [--rounds 3] [--seconds 30] [--loss 0.01] [--rtt 0.05] [--rate 0] [--pairs rtcast-rtcast,…]

The sender is on the link's near host, the receiver on its far one; packets are lost both ways. Counted from the first message that arrives.
Prints medians in kB/s.
"""

import argparse
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.browser import chromium  # noqa: E402
from harness.link import Link  # noqa: E402

PAGE = """
  const [what, argument, done] = arguments;
  const gathered = (peer) => new Promise((resolve) => {
    if (peer.iceGatheringState === "complete") return resolve();
    peer.addEventListener("icegatheringstatechange", () => peer.iceGatheringState === "complete" && resolve());
  });
  const said = async (peer) => {
    await peer.setLocalDescription();
    await gathered(peer);
    return peer.localDescription.sdp;
  };
  (async () => {
    if (what === "offer") {
      const peer = window.peer = new RTCPeerConnection(), channel = peer.createDataChannel("bulk"), message = new Uint8Array(argument).fill(7);
      const fill = () => { while (channel.bufferedAmount < 8 << 20) channel.send(message); };
      channel.bufferedAmountLowThreshold = 1 << 20;
      channel.onbufferedamountlow = channel.onopen = fill;
      return said(peer);
    }
    if (what === "answered") return window.peer.setRemoteDescription({ type: "answer", sdp: argument });
    if (what === "answer") {
      const peer = window.peer = new RTCPeerConnection(), { sdp, seconds } = argument;
      window.rate = new Promise((resolve) => peer.ondatachannel = ({ channel }) => {
        let start = 0, received = 0;
        channel.binaryType = "arraybuffer";
        channel.onmessage = ({ data }) => {
          received += data.byteLength;
          start ||= performance.now();
          const time = (performance.now() - start) / 1000;
          if (time >= seconds) resolve(received / time);
        };
      });
      await peer.setRemoteDescription({ type: "offer", sdp });
      return said(peer);
    }
    if (what === "rate") return window.rate;
    if (what === "close") window.peer.close();
  })().then(done, (error) => done("error: " + error));
"""


class Page:
    """A peer in a Chromium on a host, which stays for the next one."""

    browsers = {}

    def __init__(self, host, options):
        self.options = options
        if host.name not in self.browsers:
            driver = self.browsers[host.name] = chromium(host=host)
            driver.set_script_timeout(options.seconds + 120)
            driver.get("data:text/html,<title>bulk</title>")
        self.driver = self.browsers[host.name]

    def ask(self, what, argument=None):
        answer = self.driver.execute_async_script(PAGE, what, argument)
        assert not str(answer).startswith("error: "), answer
        return answer

    def offer(self):
        return self.ask("offer", self.options.message)

    def take_answer(self, sdp):
        self.ask("answered", sdp)

    def answer(self, sdp):
        return self.ask("answer", {"sdp": sdp, "seconds": self.options.seconds})

    def rate(self):
        return self.ask("rate")

    def close(self):
        self.ask("close")


class Program:
    """A DataChannelBenchmark on a host."""

    def __init__(self, host, options):
        self.host, self.options, self.process = host, options, None

    def _start(self, role):
        program = self.options.program or ROOT / ".build/release/DataChannelBenchmark"
        with self.host:
            self.process = subprocess.Popen([program, role, str(self.options.seconds), str(self.options.message)], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True, bufsize=1)

    def _read(self):
        lines = []
        while (line := self.process.stdout.readline()) not in (".\n", ""):
            lines.append(line.rstrip("\n"))
        return "\r\n".join(lines) + "\r\n"

    def _write(self, sdp):
        self.process.stdin.write(sdp.replace("\r\n", "\n") + ".\n")
        self.process.stdin.flush()

    def offer(self):
        self._start("send")
        return self._read()

    def take_answer(self, sdp):
        self._write(sdp)

    def answer(self, sdp):
        self._start("receive")
        self._write(sdp)
        return self._read()

    def rate(self):
        said, _ = self.process.communicate(timeout=self.options.seconds + 120)
        return float(re.search(r"([\d.]+) MB/s", said).group(1)) * 1e6

    def close(self):
        self.process.kill()
        self.process.communicate()


KINDS = {"rtcast": Program, "chromium": Page}


def measure(pair, link, options):
    sender, receiver = (KINDS[name] for name in pair.split("-"))
    near, far = sender(link.near, options), receiver(link.far, options)
    try:
        near.take_answer(far.answer(near.offer()))
        return far.rate() / 1e3
    finally:
        near.close()
        far.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--message", type=int, default=65_536)
    parser.add_argument("--loss", type=float, default=0.01, help="the chance that a packet is lost, each way")
    parser.add_argument("--rtt", type=float, default=0.05, help="seconds there and back")
    parser.add_argument("--rate", type=float, default=0, help="bit/s; 0: no limit")
    parser.add_argument("--pairs", default="rtcast-rtcast,chromium-chromium,rtcast-chromium,chromium-rtcast")
    parser.add_argument("--program", help="DataChannelBenchmark, where it is not in .build/release")
    options = parser.parse_args()
    pairs = options.pairs.split(",")
    rates = {pair: [] for pair in pairs}
    for seed in range(1, options.rounds + 1):
        with Link(seed) as link:
            link.set(delay=options.rtt / 2, loss=options.loss, rate=options.rate, queue=0.1 if options.rate else 0)
            for pair in pairs:
                rates[pair].append(measure(pair, link, options))
                print(f"{pair:>20} {rates[pair][-1]:9.1f} kB/s", flush=True)
            for driver in Page.browsers.values():
                driver.quit()
            Page.browsers.clear()
    print("medians:", ", ".join(f"{pair} {statistics.median(found):.1f}" for pair, found in rates.items()))


if __name__ == "__main__":
    main()
