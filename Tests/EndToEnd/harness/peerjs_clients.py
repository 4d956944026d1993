"""PyPI's two PeerJS clients. Neither works as it is on today's Python and aiortc, and each is mended here from outside; what they send to the
hub, and what they make of what it sends, stays theirs.

`peerjs` 1.5.1 knows data connections alone. Its peer, socket and negotiator answer a call once it has a media connection; call others it
cannot. Mended: the name that pyee 13 no longer exports, a default that dataclasses refuse since Python 3.11, a property that websockets 14
no longer has, tracks (its negotiator takes them for a browser's events and streams), and what it does at LEAVE, where it calls a method that
dictionaries do not have.

`peerjs-py` 0.1.1 calls and is called. Mended: options, which it reads as a dictionary here and as attributes there, and what it does at
LEAVE, where it calls `Logger.log` without a level, and a method that it does not have."""

import asyncio
import fcntl
import importlib
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from aiortc import RTCConfiguration

from harness.counted import Counted
from peers.aiortc_peer import Bar, Tone

PACKAGES = ["peerjs==1.5.1", "peerjs-py==0.1.1"]
# Nobody is asked for addresses: all is on this machine.
NO_SERVERS = RTCConfiguration(iceServers=[])


def install():
    """Both ask for an aiortc of years ago, so they are installed without what they require; that is in requirements.txt."""
    with open(Path(sys.prefix) / "peerjs.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not all(importlib.util.find_spec(name) for name in ("peerjs", "peerjs_py")):
            subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", *PACKAGES], check=True)
            importlib.invalidate_caches()


def _older():
    """The module `peerjs.peer`, mended."""
    import pyee
    import pyee.asyncio
    pyee.AsyncIOEventEmitter = pyee.asyncio.AsyncIOEventEmitter
    import peerjs.util
    peerjs.util.util.defaultConfig = None
    import peerjs.socket
    import websockets
    peerjs.socket.Socket._wsOpen = lambda self: self._websocket is not None and self._websocket.state is websockets.State.OPEN
    import peerjs.peer
    return peerjs.peer


def _older_client():
    module = _older()
    from peerjs.baseconnection import BaseConnection
    from peerjs.enums import ConnectionType, ServerMessageType
    from peerjs.negotiator import Negotiator

    class MediaNegotiator(Negotiator):
        def _setupListeners(self, peerConnection=None):
            super()._setupListeners(peerConnection)
            peerConnection.remove_all_listeners("track")
            peerConnection.on("track", self.connection.received.take)

        def _addTracksToConnection(self, stream, peerConnection):
            for track in stream:
                peerConnection.addTrack(track)

    class Call(BaseConnection):
        type = ConnectionType.Media

        def __init__(self, peer, provider, payload, received):
            super().__init__(peer, provider)
            self.connectionId, self.payload, self.received = payload["connectionId"], payload, received
            self.negotiator = MediaNegotiator(self)

        async def handleMessage(self, message):
            if message.type == ServerMessageType.Candidate:
                await self.negotiator.handleCandidate(message.payload["candidate"])

        async def initialize(self, channel):
            self.channel = channel

        async def close(self):
            await self.negotiator.cleanup()
            self.provider._removeConnection(self)
            self.emit("close")

    class Connections(dict):
        def delete(self, name):
            self.pop(name, None)

    class Peer(module.Peer):
        def __init__(self, client, options):
            super().__init__(peer_options=options)
            self.client = client
            self._connections = Connections()

        async def _handle_offer(self, peerId=None, payload=None):
            if payload["type"] != ConnectionType.Media.value:
                return await super()._handle_offer(peerId, payload)
            call = Call(peerId, self, payload, self.client.received)
            self.client.rung(call, payload)
            self._addConnection(peerId, call)
            await call.negotiator.startConnection(sdp=payload["sdp"], _stream=[Tone(), Bar()])
            for message in self._getMessages(call.connectionId):
                await call.handleMessage(message)

    return Peer, module.PeerOptions, module.PeerEventType.Open


class PeerJS:
    """`peerjs` 1.5.1: asks the hub for its name, registers, and takes calls."""

    def __init__(self):
        self.received = Counted()
        self.offers = []
        self.hung_up = asyncio.Event()

    def rung(self, call, payload):
        self.offers.append(payload)
        call.on("close", self.hung_up.set)

    @classmethod
    async def enter(cls, hub):
        client = cls()
        peer, options, opened = _older_client()
        address = urlsplit(hub)
        client.peer = peer(client, options(host=address.hostname, port=address.port, path="/", token="a-token", config=NO_SERVERS))
        is_open = asyncio.Event()
        client.peer.on(opened, lambda _: is_open.set())
        await client.peer.start()
        await asyncio.wait_for(is_open.wait(), 10)
        client.name = client.peer.id
        return client

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.received.stop()
        await self.peer.destroy()


class PeerJSPy:
    """`peerjs-py` 0.1.1: asks the hub for its name, registers, calls, and takes calls."""

    def __init__(self):
        self.received = Counted()
        self.offers = []
        self.hung_up = asyncio.Event()
        self.tasks = []

    @classmethod
    async def enter(cls, hub):
        client = cls()
        import peerjs_py.peer

        class Options(dict):
            __getattr__ = dict.get

        class Peer(peerjs_py.peer.Peer):
            async def _handle_message(self, message):
                if message["type"] == "OFFER":
                    client.offers.append(message["payload"])
                if message["type"] != "LEAVE":
                    return await super()._handle_message(message)
                await self._cleanupPeer(message["src"])

        address = urlsplit(hub)
        options = Options(host=address.hostname, port=address.port, path="/", key="peerjs", secure=False, config=NO_SERVERS)
        client.name = await Peer(None, options)._api.retrieve_id()
        client.peer = Peer(client.name, options)
        is_open = asyncio.Event()
        client.peer.on("open", lambda _: is_open.set())
        client.peer.on("call", client._answer)
        await client.peer.start()
        await asyncio.wait_for(is_open.wait(), 10)
        return client

    def _watch(self, connection):
        connection.on("track", self.received.take)
        connection.on("close", self.hung_up.set)

    def _answer(self, connection):
        self._watch(connection)
        self.tasks.append(asyncio.ensure_future(connection.answer([Tone(), Bar()])))

    async def call(self, name):
        connection = await self.peer.call(name, [Tone(), Bar()])
        self._watch(connection)
        return connection

    async def names(self):
        """Who can be called."""
        return await self.peer.list_all_peers()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.received.stop()
        await self.peer.destroy()
