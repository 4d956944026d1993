"""How long two peers take to be connected, beside others of their kind: on one LAN, from behind two NATs by STUN, and by a relay.

    scripts/setup
    sudo python Benchmarks/Connecting/compare.py [--runs 40] [--only rtcast,chromium,aiortc,pion] [--on lan,stun,relay]

Wants root (network namespaces), the Python environment of the end-to-end tests, and RTCAST or a release build. Both peers of a pair are
processes of their own, each in its own network; STUN and TURN are coturn's. One process carries all descriptions and candidates as
they come, and takes all the times:

    from    the caller is told to make its offer (rtcast: it gets the word that its call is accepted), 0.3 s after its connection was made
            (rtcast: after it was registered and called; so long it rings)
    to      both peers have said that they are connected, DTLS included

Peers of all makes take turns, so that what else the machine does is the same for all. Those that last longer than one call (all but the
calling rtcast) are started once; every run has a new connection. Each sends a small picture.
"""

import argparse
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness import netns, pion  # noqa: E402
from harness.browser import chromium  # noqa: E402
from harness.coturn import PASSWORD, USER, Coturn  # noqa: E402
from harness.rtcast import BINARY  # noqa: E402
from switchboard import Page, Program, Switchboard  # noqa: E402

PATIENCE = 20
READY = 0.3   # seconds between the making of a connection and its offer
TOPOLOGIES = {
    "lan": "one LAN",
    "stun": "two NATs (port-restricted), STUN",
    "relay": "two NATs (symmetric), relay only",
}


def trace(seconds, *what):
    """With `--trace`: what was said when."""


def print_trace(seconds, who, kind, what):
    text = what.get("state") or what.get("type") or what.get("candidate") or ""
    print(f"{1000 * seconds:9.1f} ms  {who}: {kind} {text}", file=sys.stderr)


class Unconnected(Exception):
    pass


class Bed:
    def __init__(self):
        self.network = netns.Network()
        self.turn_host = self.network.server("turn", 10)
        self.hub_host = self.network.server("hub", 20)
        self.home = self.network.site("home")
        self.office = self.network.site("office")
        self.alice = self.home.host("alice")
        self.carol = self.home.host("carol")
        self.bob = self.office.host("bob")
        self.turn = Coturn(self.turn_host)

    def arrange(self, topology):
        """(host of the callee, ICE servers, policy)."""
        nat = "symmetric" if topology == "relay" else "port-restricted"
        self.home.set_nat(nat)
        self.office.set_nat(nat)
        match topology:
            case "lan":
                return self.carol, [], "all"
            case "stun":
                return self.bob, [{"urls": [self.turn.url("stun")]}], "all"
            case "relay":
                return self.bob, [{"urls": [self.turn.url()], "username": USER, "credential": PASSWORD}], "relay"

    def close(self):
        self.turn.stop()
        self.network.close()


class Steered:
    """Two peers that obey the commands of harness/far_peer.py."""

    def __init__(self, caller, callee, servers, policy):
        self.peers = (caller, callee)
        self.options = {"iceServers": servers, "iceTransportPolicy": policy}

    async def run(self):
        """Seconds."""
        loop = asyncio.get_running_loop()
        connected = [loop.create_future(), loop.create_future()]
        tasks = set()
        started = [0]

        def listen(index):
            other = self.peers[1 - index]

            def hear(event, at):
                if event["event"] != "figures":
                    trace(at - started[0], ("caller", "callee")[index], event["event"], event)
                match event:
                    case {"event": "description"}:
                        tasks.add(loop.create_task(other.do("description", type=event["type"], sdp=event["sdp"])))
                    case {"event": "candidate"}:
                        tasks.add(loop.create_task(other.do("candidate", **event["candidate"])))
                    case {"event": "state", "state": "connected"} if not connected[index].done():
                        connected[index].set_result(at)
                    case {"event": "gone"} | {"event": "state", "state": "failed"} if not connected[index].done():
                        connected[index].set_exception(Unconnected(event["event"]))
                    case {"event": "error"}:
                        print(event, file=sys.stderr)
            return hear

        for index, peer in enumerate(self.peers):
            peer.listener = listen(index)
            try:
                await peer.do("start", caller=index == 0, **self.options)
            except OSError as error:
                raise Unconnected(str(error))
        await asyncio.sleep(READY)
        started[0] = time.perf_counter()
        await self.peers[0].do("offer")
        try:
            async with asyncio.timeout(PATIENCE):
                return max(await asyncio.gather(*connected)) - started[0]
        finally:
            for peer in self.peers:
                peer.listener = lambda event, at: None
                try:
                    await peer.do("close")
                except OSError:
                    pass   # its process is gone

    def complaints(self):
        return "".join(line for peer in self.peers for line in getattr(peer, "complaints", [])[-8:])

    def stop(self):
        for peer in self.peers:
            peer.stop()


class Ours:
    """Two rtcasts, whose hub is the switchboard."""

    def __init__(self, board, hosts, servers, policy):
        self.board, self.hosts = board, hosts
        self.common = ["--server", f"http://{board.host.address}:{board.port}/", "--json", "--no-window", "--test", "--size", "320x180",
                       "--fps", "15", "--audio", "none"]
        for server in servers:
            credentials = f",{server['username']},{server['credential']}" if "username" in server else ""
            self.common += ["--ice-server", server["urls"][0] + credentials]
        if policy != "all":
            self.common += ["--ice-policy", policy]
        self.callee = None
        self.said = []

    def complaints(self):
        return "".join(self.said[-5:] + (self.callee.complaints[-5:] if self.callee else []))

    def _start(self, host, *arguments):
        environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
        return Program(host, [BINARY, "call", *arguments, *self.common], asyncio.get_running_loop(), environment)

    async def run(self):
        """Seconds."""
        loop = asyncio.get_running_loop()
        if not self.callee:
            self.callee = self._start(self.hosts[1], "--name", "callee", "--answer", "auto")
            await self.board.until(lambda: "callee" in self.board.registered, 5)
            await asyncio.sleep(0.5)
        connected = [loop.create_future(), loop.create_future()]
        ended = loop.create_future()

        def listen(index):
            def hear(event, at):
                if event["event"] == "peer":
                    trace(at - (self.board.accepted or 0), ("caller", "callee")[index], event["event"], event)
                if event["event"] == "peer" and event["state"] == "connected" and not connected[index].done():
                    connected[index].set_result(at)
                elif event["event"] == "gone" and not connected[index].done():
                    connected[index].set_exception(Unconnected("gone"))
                elif index == 1 and event["event"] == "peer" and event["state"] == "ended" and not ended.done():
                    ended.set_result(at)
            return hear

        self.callee.listener = listen(1)
        caller = self._start(self.hosts[0], "callee", "--name", "caller")
        caller.listener = listen(0)
        try:
            async with asyncio.timeout(PATIENCE):
                return max(await asyncio.gather(*connected)) - self.board.accepted
        finally:
            caller.stop(signal.SIGINT)
            self.said = caller.complaints
            try:
                async with asyncio.timeout(5):
                    await ended
            except TimeoutError:
                pass

    def stop(self):
        if self.callee:
            self.callee.stop(signal.SIGINT)


class Makes:
    """Pairs of each make on two hosts; browsers and what is built are kept from one topology to the next."""

    def __init__(self, board, folder):
        self.board, self.folder = board, Path(folder)
        self.browsers = {}
        self.pion = None

    async def pair(self, make, hosts, servers, policy):
        loop = asyncio.get_running_loop()
        match make:
            case "rtcast":
                return Ours(self.board, hosts, servers, policy)
            case "chromium":
                pages = [await Page(self.board, await loop.run_in_executor(None, self._browser, host), host.name).open() for host in hosts]
                return Steered(*pages, servers, policy)
            case "aiortc":
                program = [sys.executable, str(ROOT / "Tests/EndToEnd/peers/aiortc_peer.py")]
                return Steered(*(Program(host, program, loop) for host in hosts), servers, policy)
            case "pion":
                programs = [Program(host, self._pion(host), loop) for host in hosts]
                return Steered(*programs, servers, policy)

    def _browser(self, host):
        if host.name not in self.browsers:
            self.browsers[host.name] = chromium(host=host, flags=("--disable-features=WebRtcHideLocalIpsWithMdns",))
        return self.browsers[host.name]

    def _pion(self, host):
        if not self.pion:
            self.pion = pion.build(self.folder)
            pion.media(self.folder)
        kept = self.folder / host.name
        kept.mkdir(exist_ok=True)
        return [str(self.pion), str(self.folder / "picture.ivf"), str(self.folder / "tone.ogg"), str(kept)]

    def stop(self):
        for browser in self.browsers.values():
            browser.quit()


async def measure(options, bed, results):
    board = Switchboard(bed.hub_host, 8080)
    board.ringing = READY
    board.trace = trace
    await board.start()
    with tempfile.TemporaryDirectory() as folder:
        makes = Makes(board, folder)
        try:
            for topology in options.on.split(","):
                callee_host, servers, policy = bed.arrange(topology)
                pairs = {make: await makes.pair(make, (bed.alice, callee_host), servers, policy) for make in options.only.split(",")}
                try:
                    for run in range(-1, options.runs):   # the first is not counted: caches, code that is compiled when it is first needed
                        for make, pair in pairs.items():
                            await one(pair, run, results.setdefault((topology, make), []), f"{topology} {make}")
                finally:
                    for pair in pairs.values():
                        pair.stop()
        finally:
            makes.stop()
            await board.stop()


async def one(pair, run, times, what):
    try:
        seconds = await pair.run()
    except (TimeoutError, Unconnected) as error:
        seconds = None
        print(f"{what}: run {run}: not connected within {PATIENCE} s: {error!r} {pair.complaints()}", file=sys.stderr)
    if run >= 0:
        times.append(seconds)
        if run % 10 == 9:
            print(f"{what}: {run + 1}", file=sys.stderr)
    await asyncio.sleep(0.2)


def report(results):
    print("| topology | peers | runs | not connected | shortest ms | median | 90 % within | longest |\n|---|---|---|---|---|---|---|---|")
    for (topology, make), times in results.items():
        known = sorted(1000 * seconds for seconds in times if seconds is not None)
        figures = [known[0], statistics.median(known), known[min(len(known) - 1, len(known) * 9 // 10)], known[-1]] if known else []
        cells = [f"{figure:.0f}" for figure in figures] or ["–"] * 4
        name = {"rtcast": "**rtcast**", "chromium": "Chromium", "pion": "Pion"}.get(make, make)
        print(f"| {TOPOLOGIES[topology]} | {name} | {len(times)} | {len(times) - len(known)} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--only", default="rtcast,chromium,aiortc,pion")
    parser.add_argument("--on", default=",".join(TOPOLOGIES))
    parser.add_argument("--trace", action="store_true", help="print what was said when")
    options = parser.parse_args()
    if options.trace:
        global trace
        trace = print_trace
    if why := netns.missing():
        sys.exit(why)
    version = subprocess.run([BINARY, "--version"], capture_output=True, text=True).stdout.strip()
    print(f"{version}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    results = {}
    bed = Bed()
    try:
        asyncio.run(measure(options, bed, results))
    finally:
        bed.close()
        report(results)


main()
