"""Clients of the hub in its three dialects, each written from the public description of its protocol, over real WebSockets."""

import asyncio
import json
import ssl
import uuid

import aiohttp

PATIENCE = 10


def untrusting():
    """TLS without a look at the certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Client:
    """One WebSocket connection; messages are JSON."""

    def __init__(self, session, socket):
        self.session = session
        self.socket = socket

    @classmethod
    async def open(cls, url, **options):
        session = aiohttp.ClientSession()
        try:
            socket = await session.ws_connect(url, max_msg_size=1 << 22, ssl=untrusting(), **options)
        except BaseException:
            await session.close()
            raise
        return cls(session, socket)

    async def say(self, message):
        await self.socket.send_str(message if isinstance(message, str) else json.dumps(message))

    async def hear(self, **wanted):
        """The next message whose members are as wanted; others are passed over."""
        passed_over = []
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    frame = await self.socket.receive()
                    assert frame.type == aiohttp.WSMsgType.TEXT, f"{frame.type} {frame.data} {frame.extra} instead of {wanted}"
                    message = json.loads(frame.data)
                    if all(message.get(name) == value for name, value in wanted.items()):
                        return message
                    passed_over.append(message)
        except TimeoutError:
            raise AssertionError(f"no {wanted} within {PATIENCE} s; heard {passed_over[-5:]}") from None

    async def closing(self):
        """The status with which the other end closes."""
        async with asyncio.timeout(PATIENCE):
            while True:
                frame = await self.socket.receive()
                if frame.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSING, aiohttp.WSMsgType.CLOSED):
                    return self.socket.close_code

    async def close(self):
        await self.socket.close()
        await self.session.close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.close()


class NativeClient(Client):
    """`/hub`."""

    @classmethod
    async def enter(cls, url, name=None, **members):
        client = await cls.open(url.rstrip("/") + "/hub")
        await client.say({"type": "register", **({"id": name} if name else {}), **members})
        client.registered = await client.hear(type="registered")
        client.name = client.registered["id"]
        return client

    async def signal(self, to, data):
        await self.say({"type": "signal", "to": to, "data": data})


class PeerJSClient(Client):
    """PeerJS: the name, a token of the client's own and the server's key go in the address; then OPEN comes."""

    @classmethod
    async def enter(cls, url, name=None, key="peerjs"):
        if name is None:
            async with aiohttp.ClientSession() as session:
                async with session.get(f"{url.rstrip('/')}/{key}/id?ts=1", ssl=untrusting()) as answer:
                    assert answer.status == 200
                    name = await answer.text()
        client = await cls.open(f"{url.rstrip('/')}/peerjs?key={key}&id={name}&token={uuid.uuid4().hex[:11]}&version=1.5.4")
        client.name = name
        await client.hear(type="OPEN")
        return client

    @staticmethod
    async def peers(url, key="peerjs"):
        """The status of asking who can be called, and their names."""
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{url.rstrip('/')}/{key}/peers?ts=1", ssl=untrusting()) as answer:
                return answer.status, await answer.json() if answer.status == 200 else None

    async def offer(self, to, sdp):
        """Sends an offer as a media call; returns the connection's id."""
        connection = "mc_" + uuid.uuid4().hex[:11]
        await self.say({"type": "OFFER", "dst": to, "payload": {
            "sdp": {"type": "offer", "sdp": sdp}, "type": "media", "connectionId": connection}})
        return connection

    async def answer(self, offer, sdp):
        await self.say({"type": "ANSWER", "dst": offer["src"], "payload": {
            "sdp": {"type": "answer", "sdp": sdp}, "type": "media", "connectionId": offer["payload"]["connectionId"]}})

    async def candidate(self, to, connection, candidate):
        await self.say({"type": "CANDIDATE", "dst": to, "payload": {
            "candidate": candidate, "type": "media", "connectionId": connection}})


class SkyRTCClient(Client):
    """SkyRTC: `{eventName, data}`; a client joins a room and learns who is there and what it is called itself."""

    @classmethod
    async def enter(cls, url, room, path=""):
        client = await cls.open(url.rstrip("/") + (path or "/"))
        await client.emit("__join", room=room)
        peers = (await client.hear(eventName="_peers"))["data"]
        client.name = peers["you"]
        client.others = peers["connections"]
        return client

    async def emit(self, event, **data):
        await self.say({"eventName": event, "data": data})

    async def event(self, name):
        return (await self.hear(eventName=name))["data"]
