"""Publishing by WHIP to media servers as their sources have it: what they answer, how they write tags, locations and links. Behind
each is aiortc, so that media really comes."""

import asyncio
import contextlib

import pytest
from aiohttp import web
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from harness.http_server import HTTPServer

TURN = '; rel="ice-server"; username="user"; credential="pass"'

HABITS = {
    # The tag is a name without quotes, and compared as text; the whole URI of a server is percent-encoded.
    "livekit": {"etag": "Ufrag1", "location": "/whip/v1/PA_1", "links": ["<turn:127.0.0.1:9%3Ftransport=tcp>" + TURN]},
    # Every PATCH counts as a restart, which candidates are not.
    "livekit-ingress": {"etag": "0badcafe", "location": "/w/key/RES_1", "patch": 422},
    # The tag is a star.
    "mediamtx": {"etag": "*", "location": "/stream/whip/1", "links": ["<stun:127.0.0.1:9>; rel=\"ice-server\""]},
    # Takes every PATCH without looking at it.
    "ovenmediaengine": {"etag": "hGd73kXa", "location": "/app/stream/1?direction=whip"},
    # No tag; servers in OPTIONS too.
    "galene": {"etag": None, "location": "/group/g/.whip/1", "options": ["<stun:127.0.0.1:9>; rel=\"ice-server\""]},
    # Neither trickle nor restart, and an absolute location.
    "plain": {"etag": '"1"', "location": "{url}/session/1", "patch": 501},
}


class MediaServer:
    """Takes one publisher at a time, as media servers do."""

    def __init__(self, name):
        self.habits = HABITS[name]
        self.requests = []
        self.peer = None
        self.frames = 0
        self.server = HTTPServer(self.handle)
        self.url = self.server.url + "/whip"

    async def handle(self, message):
        self.requests.append((message.method, message.path_qs, message.headers.get("If-Match")))
        match message.method:
            case "OPTIONS":
                return self.reply(204, self.links("options"))
            case "POST":
                return await self.open(message)
            case "PATCH":
                return self.reply(self.patch(message))
            case "DELETE":
                await self.forget()
                return self.reply(200)
        return self.reply(405)

    async def open(self, message):
        if self.peer:
            return self.reply(409)
        self.peer = RTCPeerConnection()

        @self.peer.on("track")
        def on_track(track):
            async def pull():
                with contextlib.suppress(MediaStreamError):
                    while True:
                        await track.recv()
                        self.frames += 1
            if track.kind == "video":
                self.puller = asyncio.ensure_future(pull())

        await self.peer.setRemoteDescription(RTCSessionDescription(await message.text(), "offer"))
        await self.peer.setLocalDescription(await self.peer.createAnswer())
        headers = [("Location", self.habits["location"].format(url=self.server.url)), *self.links("links")]
        if self.habits["etag"]:
            headers.append(("ETag", self.habits["etag"]))
        return self.reply(201, headers, self.peer.localDescription.sdp)

    def patch(self, message):
        if not self.peer:
            return 404
        if status := self.habits.get("patch"):
            return status
        wanted = self.habits["etag"]
        return 204 if wanted is None or message.headers.get("If-Match") in (wanted, "*") else 412

    def links(self, name):
        return [("Link", link) for link in self.habits.get(name, [])]

    @staticmethod
    def reply(status, headers=(), text=None):
        answer = web.Response(status=status, text=text, content_type="application/sdp" if text else None)
        for name, value in headers:
            answer.headers.add(name, value)
        return answer

    async def forget(self):
        peer, self.peer = self.peer, None
        if peer:
            await peer.close()


    def wait_frames(self, count, timeout=20):
        self.server.wait(lambda: self.frames >= count, timeout, lambda: f"frames: {self.frames}, {self.requests}")

    def methods(self):
        return [method for method, _, _ in self.requests if method != "OPTIONS"]

    def stop(self):
        self.server.run(self.forget())
        self.server.stop()


@pytest.fixture
def media_server():
    servers = []

    def start(name):
        servers.append(MediaServer(name))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.mark.parametrize("name", HABITS)
def test_a_cast_is_published_to_it_and_taken_back(name, cast, media_server):
    server = media_server(name)
    rtcast = cast("test", "--pattern", "clock", "--fps", "10", "--size", "320x240", "--to", server.url)
    rtcast.wait_event("peer", where=lambda event: event["state"] == "published")
    server.wait_frames(5)
    rtcast.stop()
    assert server.peer is None, "the session was deleted"
    assert server.methods()[0] == "POST" and server.methods()[-1] == "DELETE"
    location = server.habits["location"].removeprefix("{url}")
    assert server.requests[-1][1] == location


def test_the_restart_of_a_media_server_is_survived(cast, media_server):
    """It says goodbye, is away for a moment, and is there again without knowing anybody."""
    server = media_server("mediamtx")
    rtcast = cast("test", "--pattern", "clock", "--fps", "10", "--size", "320x240", "--to", server.url)
    server.wait_frames(5)
    server.server.away = True
    server.server.run(server.forget())
    assert rtcast.wait_event("peer", where=lambda event: event["state"] == "interrupted")["id"] == server.url
    server.server.away = False
    rtcast.wait_event("peer", where=lambda event: event["state"] == "resumed")
    before = server.frames
    server.wait_frames(before + 5)
    rtcast.stop()
    assert server.peer is None
