"""`rtcast watch` as a WHEP client: services that would rather offer themselves, and casts that come back."""

import signal
import socket
import time

import pytest
from aiohttp import web
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import VideoStreamTrack

from harness.http_server import HTTPServer
from harness.pictures import decoded
from harness.rtcast import run


class OfferingService:
    """Answers every offer by 406 with an offer of its own (draft-ietf-wish-whep, 4.3.2); sends a test picture."""

    def __init__(self, takes_answers=True):
        self.requests = []
        self.takes_answers = takes_answers
        self.peer = None
        self.server = HTTPServer(self.handle)

    async def handle(self, message):
        self.requests.append((message.method, message.path, message.content_type))
        match message.method:
            case "POST":
                self.peer = RTCPeerConnection()
                self.peer.addTrack(VideoStreamTrack())
                await self.peer.setLocalDescription(await self.peer.createOffer())
                return web.Response(status=406, text=self.peer.localDescription.sdp, content_type="application/sdp",
                                    headers={"Location": "/session/1"})
            case "PATCH" if message.content_type == "application/sdp" and self.takes_answers:
                await self.peer.setRemoteDescription(RTCSessionDescription(await message.text(), "answer"))
                return web.Response(status=204)
            case "PATCH":
                return web.Response(status=422, text="No such answer.")
            case "DELETE":
                await self.peer.close()
                return web.Response(status=200)
        return web.Response(status=405)

    def stop(self):
        if self.peer:
            self.server.run(self.peer.close())
        self.server.stop()


@pytest.fixture
def offering():
    services = []

    def start(**options):
        services.append(OfferingService(**options))
        return services[-1]

    yield start
    for service in services:
        service.stop()


def test_a_service_that_offers_itself_is_answered(cast, offering, tmp_path):
    service, copy = offering(), tmp_path / "copy.mkv"
    viewer = cast("watch", service.server.url + "/whep", "--no-window", "--record", str(copy))
    viewer.wait_event("peer", where=lambda event: event["state"] == "connected")
    if not any(event["event"] == "track" for event in viewer.seen):
        viewer.wait_event("track", where=lambda event: event["kind"] == "video")
    deadline = time.monotonic() + 20
    while not copy.exists() or decoded(copy) < 10:
        assert time.monotonic() < deadline, "no picture is recorded"
        time.sleep(0.2)
    viewer.stop()
    assert ("PATCH", "/session/1", "application/sdp") in service.requests
    assert service.requests[-1][:2] == ("DELETE", "/session/1")


def test_a_service_that_takes_no_answer_is_told_of(offering):
    service = offering(takes_answers=False)
    status, _, error = run("watch", service.server.url + "/whep", "--no-window", timeout=30)
    assert status == 76 and "422" in error and "No such answer" in error
    assert service.requests[-1][:2] == ("DELETE", "/session/1")


def test_a_cast_that_was_killed_and_comes_back_is_watched_again(cast):
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    options = ["test", "--size", "320x180", "--listen", listen, "--token", "the-same-again"]
    killed = cast(*options)
    viewer = cast("watch", killed.url(), "--no-window")
    viewer.wait_event("peer", where=lambda event: event["state"] == "connected")
    killed.process.send_signal(signal.SIGKILL)
    killed.process.wait(10)
    cast(*options).url()
    viewer.wait_event("peer", where=lambda event: event["state"] == "connected", timeout=45)


def test_a_cast_that_says_goodbye_is_over(cast):
    casting = cast("test", "--size", "320x180")
    viewer = cast("watch", casting.url(), "--no-window")
    viewer.wait_event("peer", where=lambda event: event["state"] == "connected")
    casting.stop()
    assert viewer.wait_event("ended")["reason"] == "cast ended"
    assert viewer.wait() == 0
