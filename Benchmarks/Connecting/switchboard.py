"""What carries the descriptions and candidates of every pair that is compared, and takes the times: one process for all, so that
signaling costs each of them the same. Peers of other makes are steered over pipes, pages and rtcast over WebSockets."""

import asyncio
import json
import subprocess
import threading
import time
from pathlib import Path
from socket import create_server

from aiohttp import WSMsgType, web

PAGE = Path(__file__).with_name("page.html")


class Switchboard:
    """Web server on a host of the test network: `/page` and `/peer` for browsers, `/hub` for rtcast, in the hub's own dialect."""

    def __init__(self, host, port):
        self.host, self.port = host, port
        self.pages = {}      # by name: the WebSocket of a page
        self.registered = {}  # by name: the WebSocket of an rtcast
        self.heard = {}      # by name of a page: who hears its events
        self.accepted = None  # when the callee's word went to the caller
        self.ringing = 0     # seconds for which that word is held back
        self.trace = lambda *what: None
        self.changed = asyncio.Event()

    async def start(self):
        app = web.Application()
        app.add_routes([web.get("/page", self._page), web.get("/peer", self._peer), web.get("/hub", self._hub)])
        self.runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self.runner.setup()
        with self.host:
            listener = create_server((self.host.address, self.port))
        await web.SockSite(self.runner, listener).start()

    async def stop(self):
        await self.runner.cleanup()

    async def _page(self, _):
        return web.Response(text=PAGE.read_text(), content_type="text/html")

    async def _peer(self, request):
        socket = web.WebSocketResponse(max_msg_size=1 << 22)
        await socket.prepare(request)
        name = request.query["name"]
        self.pages[name] = socket
        self.changed.set()
        async for frame in socket:
            if frame.type == WSMsgType.TEXT and (listener := self.heard.get(name)):
                listener(json.loads(frame.data), time.perf_counter())
        return socket

    async def _hub(self, request):
        socket = web.WebSocketResponse(max_msg_size=1 << 22)
        await socket.prepare(request)
        name = None
        async for frame in socket:
            if frame.type != WSMsgType.TEXT:
                break
            message = json.loads(frame.data)
            match message["type"]:
                case "register":
                    name = message.get("id") or "nobody"
                    self.registered[name] = socket
                    await socket.send_str(json.dumps({"type": "registered", "id": name, "iceServers": [], "rooms": []}))
                    self.changed.set()
                case "ping":
                    await socket.send_str('{"type":"pong"}')
                case "signal" | "candidate" | "bye" if message.get("to") in self.registered:
                    if message["type"] == "signal" and message["data"].get("type") == "accept":
                        await asyncio.sleep(self.ringing)
                        self.accepted = time.perf_counter()
                    self.trace(time.perf_counter() - (self.accepted or 0), name, message["type"], message.get("data", message))
                    passed = {key: value for key, value in message.items() if key != "to"} | {"from": name}
                    await self.registered[message["to"]].send_str(json.dumps(passed))
        if self.registered.get(name) is socket:
            del self.registered[name]
        return socket

    async def until(self, condition, timeout=20):
        async with asyncio.timeout(timeout):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


class Program:
    """A process on a host, that writes a JSON object a line; each goes with its time to the loop's listener, and {"event": "gone"} at its end."""

    def __init__(self, host, command, loop, env=None):
        self.listener = lambda event, at: None
        self.complaints = []
        with host:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.loop = loop
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._read_complaints)]
        for thread in self.threads:
            thread.start()

    def _read(self):
        for line in self.process.stdout:
            at = time.perf_counter()
            self.loop.call_soon_threadsafe(lambda event=json.loads(line), at=at: self.listener(event, at))
        self.loop.call_soon_threadsafe(lambda: self.listener({"event": "gone"}, 0))

    def _read_complaints(self):
        self.complaints.extend(self.process.stderr)

    async def do(self, what, **more):
        self.process.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self.process.stdin.flush()

    def stop(self, signal=None):
        if self.process.poll() is None:
            self.process.send_signal(signal) if signal else self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Page:
    """A browser's page that is a peer."""

    def __init__(self, board, driver, name):
        self.board, self.driver, self.name = board, driver, name

    async def open(self):
        self.board.pages.pop(self.name, None)
        url = f"http://{self.board.host.address}:{self.board.port}/page?name={self.name}"
        await asyncio.get_running_loop().run_in_executor(None, self.driver.get, url)
        await self.board.until(lambda: self.name in self.board.pages)
        self.board.heard[self.name] = lambda event, at: self.listener(event, at)
        return self

    async def do(self, what, **more):
        await self.board.pages[self.name].send_str(json.dumps({"do": what, **more}))

    def stop(self):
        self.driver.get("about:blank")
