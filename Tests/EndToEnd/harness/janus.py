"""Debian's Janus on a host of a test network: publishing to its VideoRoom by WHIP, through a gateway of few lines; and watching there."""

import asyncio
import itertools
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import aiohttp
from aiohttp import web

LIBRARY = Path("/usr/lib/x86_64-linux-gnu/janus")
ROOM = 1
WHIP_PORT = 8080
PATIENCE = 10


def missing():
    """Why there is no Janus here; None when there is."""
    if shutil.which("janus") is None or not (LIBRARY / "plugins/libjanus_videoroom.so").exists():
        return "no Janus with its VideoRoom: install janus"
    return None


class Janus:
    """`lite`: it is an ICE-lite peer. `links`: the gateway tells of these ICE servers, as `Link` headers have them."""

    def __init__(self, host, lite=False, links=()):
        self.host = host
        self.links = links
        self.folder = Path(tempfile.mkdtemp(prefix="rtcast-janus-"))
        self.url = f"http://{host.address}:{WHIP_PORT}/whip"
        self._configure(lite)
        with host, open(self.folder / "log", "w") as log:
            self.process = subprocess.Popen(["janus", "-F", str(self.folder)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.loop = asyncio.new_event_loop()
        self.patches = []     # (how the fragment was taken, its first lines) of every PATCH
        self.requests = []    # (method, path) of every request
        self.thread = threading.Thread(target=self._live, daemon=True)
        self.ready = threading.Event()
        self.thread.start()
        if not self.ready.wait(PATIENCE):
            self.stop()
            raise AssertionError("Janus does not start")

    def _configure(self, lite):
        def write(name, text):
            (self.folder / f"janus.{name}jcfg").write_text(text)

        only = "".join(f'"{each.name}", ' for each in (LIBRARY / "plugins").glob("*.so") if "videoroom" not in each.name)
        transports = "".join(f'"{each.name}", ' for each in (LIBRARY / "transports").glob("*.so") if "websockets" not in each.name)
        write("", f"""
            general: {{ configs_folder = "{self.folder}", plugins_folder = "{LIBRARY}/plugins", transports_folder = "{LIBRARY}/transports",
                events_folder = "{self.folder}", loggers_folder = "{self.folder}", debug_level = 4, session_timeout = 0 }}
            nat: {{ ice_lite = {str(lite).lower()}, ice_enforce_list = "{self.host.address}" }}
            plugins: {{ disable = "{only.replace('"', '').rstrip(', ').replace(', ', ',')}" }}
            transports: {{ disable = "{transports.replace('"', '').rstrip(', ').replace(', ', ',')}" }}""")
        write("transport.websockets.", 'general: { json = "plain", ws = true, ws_port = 8188, ws_ip = "127.0.0.1" }')
        write("plugin.videoroom.", f'room-{ROOM}: {{ description = "reach", publishers = 8, videocodec = "vp8", bitrate = 4000000 }}')

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def stop(self):
        """Nothing is said to anybody."""
        self.process.kill()
        self.process.wait()
        if self.loop.is_running():
            asyncio.run_coroutine_threadsafe(self._close(), self.loop).result(10)
            self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    # Watching.

    def subscribe(self, feed):
        """(its offer, what takes the answer)."""
        handle, offer = self._do(self._subscribe(feed))
        return offer, lambda answer: self._do(handle.ask({"request": "start"}, answer))

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(3 * PATIENCE)

    async def _subscribe(self, feed):
        handle = await Handle.attach(self)
        async with asyncio.timeout(2 * PATIENCE):   # a publication is a feed when its connection is there
            while feed not in await self._published(handle):
                await asyncio.sleep(0.05)
        event = await handle.ask({"request": "join", "ptype": "subscriber", "room": ROOM, "streams": [{"feed": feed}]})
        return handle, event["jsep"]

    async def _published(self, handle):
        answer = await handle.ask({"request": "listparticipants", "room": ROOM})
        return {each["id"] for each in answer["plugindata"]["data"]["participants"] if each["publisher"]}

    # The gateway, on a thread that is on the host for good.

    def _live(self):
        self.host.__enter__()
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._open())
        self.ready.set()
        self.loop.run_forever()
        self.loop.close()

    async def _open(self):
        self.feeds = itertools.count(1)
        self.resources = {}
        self.session = aiohttp.ClientSession()
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                await Handle.attach(self)
                break
            except (aiohttp.ClientError, OSError):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.05)
        app = web.Application(middlewares=[self._note])
        app.add_routes([web.post("/whip", self._post), web.patch("/resource/{feed}", self._patch), web.delete("/resource/{feed}", self._delete)])
        self.runner = web.AppRunner(app, shutdown_timeout=0.2)
        await self.runner.setup()
        await web.TCPSite(self.runner, self.host.address, WHIP_PORT).start()

    async def _close(self):
        await self.runner.cleanup()
        await self.session.close()

    @web.middleware
    async def _note(self, request, handler):
        self.requests.append((request.method, request.path))
        return await handler(request)

    async def _post(self, request):
        offer = await request.text()
        feed = next(self.feeds)
        handle = await Handle.attach(self)
        event = await handle.ask({"request": "joinandconfigure", "ptype": "publisher", "room": ROOM, "id": feed}, {"type": "offer", "sdp": offer})
        self.resources[feed] = [handle, offer, 1]
        headers = [("Location", f"/resource/{feed}"), ("ETag", f'"{feed}-1"'), ("Accept-Patch", "application/trickle-ice-sdpfrag"),
                   *(("Link", link) for link in self.links)]
        return web.Response(status=201, text=event["jsep"]["sdp"], content_type="application/sdp", headers=headers)

    async def _patch(self, request):
        feed = int(request.match_info["feed"])
        if feed not in self.resources:
            return web.Response(status=404)
        fragment = await request.text()
        handle, offer, version = self.resources[feed]
        restarts = value("ice-ufrag", fragment) not in (None, value("ice-ufrag", offer))
        wanted = request.headers.get("If-Match")
        self.patches.append(("restart" if restarts else "trickle", fragment))
        if not wanted:
            return web.Response(status=428)
        if wanted != "*" and wanted.strip('"') != f"{feed}-{version}":
            return web.Response(status=412)
        candidates = re.findall(r"^a=(candidate:.*?)\r?$", fragment, re.M)
        if not restarts:
            for candidate in candidates:
                one = {"candidate": candidate, "sdpMid": value("mid", fragment) or "0", "sdpMLineIndex": 0}
                await handle.say({"janus": "trickle", "candidate": one})
            if "a=end-of-candidates" in fragment:
                await handle.say({"janus": "trickle", "candidate": {"completed": True}})
            return web.Response(status=204)
        return await self._restart(feed, fragment, candidates)

    async def _restart(self, feed, fragment, candidates):
        """For Janus it is the old offer, with the new credentials and candidates."""
        handle, offer, version = self.resources[feed]
        offer = re.sub(r"^a=(candidate:.*|end-of-candidates)\r?\n", "", offer, flags=re.M)
        for name in ("ice-ufrag", "ice-pwd"):
            offer = re.sub(rf"^a={name}:.*?(\r?)$", rf"a={name}:{value(name, fragment)}\1", offer, flags=re.M)
        offer = re.sub(r"^(o=\S+ \S+ )(\d+)", lambda found: f"{found[1]}{int(found[2]) + 1}", offer, flags=re.M)
        first_media = offer.index("a=mid:")
        offer = offer[:first_media] + "".join(f"a={candidate}\r\n" for candidate in candidates) + offer[first_media:]
        event = await handle.ask({"request": "configure"}, {"type": "offer", "sdp": offer})
        self.resources[feed] = [handle, offer, version + 1]
        answer = event["jsep"]["sdp"]
        theirs = dict.fromkeys(re.findall(r"^a=(candidate:.*?)\r?$", answer, re.M))
        lines = [f"a=ice-ufrag:{value('ice-ufrag', answer)}", f"a=ice-pwd:{value('ice-pwd', answer)}",
                 *re.findall(r"^m=.*?(?=\r?$)", answer, re.M)[:1], f"a=mid:{value('mid', answer)}", *(f"a={each}" for each in theirs)]
        return web.Response(status=200, text="\r\n".join(lines) + "\r\n", content_type="application/trickle-ice-sdpfrag",
                            headers={"ETag": f'"{feed}-{version + 1}"'})

    async def _delete(self, request):
        handle, _, _ = self.resources.pop(int(request.match_info["feed"]), (None, None, None))
        if not handle:
            return web.Response(status=404)
        await handle.say({"janus": "detach"})
        return web.Response()


class Handle:
    """One peer connection of Janus, over a WebSocket and a session of its own."""

    @classmethod
    async def attach(cls, janus):
        self = cls()
        self.socket = await janus.session.ws_connect("ws://127.0.0.1:8188", protocols=("janus-protocol",))
        self.ids = {}
        self.ids["session_id"] = (await self._request({"janus": "create"}))["data"]["id"]
        self.ids["handle_id"] = (await self._request({"janus": "attach", "plugin": "janus.plugin.videoroom"}))["data"]["id"]
        return self

    async def say(self, message):
        transaction = str(time.monotonic_ns())
        await self.socket.send_str(json.dumps({**self.ids, "transaction": transaction, **message}))
        return transaction

    async def _request(self, message, final=("success", "event", "error")):
        transaction = await self.say(message)
        async with asyncio.timeout(PATIENCE):
            while True:
                answer = json.loads((await self.socket.receive()).data)
                if answer.get("transaction") == transaction and answer["janus"] in final:
                    assert answer["janus"] != "error", answer
                    return answer

    async def ask(self, body, jsep=None):
        """What the VideoRoom says to it."""
        event = await self._request({"janus": "message", "body": body, **({"jsep": jsep} if jsep else {})})
        assert "error" not in event.get("plugindata", {}).get("data", {}), event
        return event


def value(name, sdp):
    """Of the first attribute of that name."""
    found = re.search(rf"^a={name}:(.*?)\r?$", sdp, re.M)
    return found and found[1]
