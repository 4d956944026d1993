"""Several hubs that share names and rooms by a real Redis (docs/cluster.md): clients of different hubs, hubs and Redis that fail, and what a
hub says when Redis cannot be used."""

import asyncio
import contextlib
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from harness import redis as redis_server
from harness.clusters import health, redis, ripen  # noqa: F401
from harness.processes import wait_for
from harness.proxies import free_port
from harness.redis import Redis
from harness.rtcast import run
from harness.signaling import NativeClient, PeerJSClient, SkyRTCClient

pytestmark = pytest.mark.skipif(redis_server.missing() is not None, reason=redis_server.missing() or "")

SECRET = {name: f"secret-of-{name:_<16}" for name in ("alice", "bob", "carol", "dave")}


@pytest.fixture
def hubs(cast, redis):
    """Two hubs. The data of Redis is older than the grace time of new data."""
    started = [cast("serve", "--listen", "127.0.0.1:0", "--cluster", redis.url) for _ in range(2)]
    for hub in started:
        hub.address = hub.url()
    ripen(redis)
    return started


def enter(hub, name, **members):
    return NativeClient.enter(hub.address, name, secret=SECRET[name], **members)


def go(work):
    asyncio.run(work)


async def names(client):
    await client.say({"type": "list"})
    return (await client.hear(type="present"))["peers"]


async def until(check, what):
    async with asyncio.timeout(15):
        while not await check():
            await asyncio.sleep(0.02)


def test_peers_of_two_hubs_see_and_signal_each_other(hubs):
    async def work():
        async with await enter(hubs[0], "alice") as alice:
            await alice.say({"type": "list", "follow": True})
            assert (await alice.hear(type="present"))["peers"] == []
            async with await enter(hubs[1], "bob") as bob:
                assert (await alice.hear(type="peer-arrived"))["peer"] == "bob"
                assert await names(bob) == ["alice"]
                await bob.signal("alice", {"quoted": "\" \\ é 😀"})
                assert await alice.hear(type="signal") == {"type": "signal", "from": "bob", "data": {"quoted": "\" \\ é 😀"}}
                await alice.say({"type": "candidate", "to": "bob", "candidate": None, "call": "k"})
                assert await bob.hear(type="candidate") == {"type": "candidate", "from": "alice", "call": "k", "candidate": None}
                await alice.say({"type": "bye", "to": "bob", "reason": "over"})
                assert (await bob.hear(type="bye"))["reason"] == "over"
                for number in range(200):
                    await alice.signal("bob", number)
                assert [(await bob.hear(type="signal"))["data"] for _ in range(200)] == list(range(200))
            assert (await alice.hear(type="peer-gone"))["peer"] == "bob"
            await alice.signal("bob", 1)
            assert (await alice.hear(type="error"))["code"] == "unknown-peer"
    go(work())


def test_rooms_have_members_at_two_hubs(hubs):
    async def work():
        async with await enter(hubs[0], "alice") as alice, await enter(hubs[1], "bob") as bob:
            await alice.say({"type": "join", "room": "den"})
            assert (await alice.hear(type="peers"))["peers"] == []
            await bob.say({"type": "join", "room": "den"})
            assert (await bob.hear(type="peers"))["peers"] == ["alice"]
            assert await alice.hear(type="peer-joined") == {"type": "peer-joined", "room": "den", "peer": "bob"}
            await bob.say({"type": "leave", "room": "den"})
            assert await alice.hear(type="peer-left") == {"type": "peer-left", "room": "den", "peer": "bob"}
            await bob.say({"type": "join", "room": "den"})
            await alice.hear(type="peer-joined")
            await bob.close()
            assert (await alice.hear(type="peer-left"))["peer"] == "bob"
    go(work())


def test_of_two_newcomers_at_once_each_room_has_one_that_calls(hubs):
    """The member that came later is told of the earlier one, and never both or none of them."""
    async def work():
        async with await enter(hubs[0], "alice") as alice, await enter(hubs[1], "bob") as bob:
            for number in range(50):
                join = {"type": "join", "room": f"den{number}"}
                await asyncio.gather(alice.say(join), bob.say(join))
                told = [(await alice.hear(type="peers"))["peers"], (await bob.hear(type="peers"))["peers"]]
                assert told in ([[], ["alice"]], [["bob"], []])
                await asyncio.gather(alice.say({**join, "type": "leave"}), bob.say({**join, "type": "leave"}))
    go(work())


def test_a_name_is_taken_at_all_hubs_and_its_owner_moves_with_its_rooms(hubs):
    async def work():
        async with await enter(hubs[0], "alice") as alice, await enter(hubs[0], "carol") as carol:
            thief = await NativeClient.open(hubs[1].address + "hub")
            await thief.say({"type": "register", "id": "alice", "secret": "another-secret-16"})
            assert (await thief.hear(type="error"))["code"] == "taken-name"
            await thief.close()
            for member in alice, carol:
                await member.say({"type": "join", "room": "den"})
                await member.hear(type="peers")
            async with await enter(hubs[1], "alice") as moved:
                assert moved.registered["resumed"] and moved.registered["rooms"] == ["den"]
                assert (await moved.hear(type="peers"))["peers"] == ["carol"]
                assert await alice.closing() == 4000
                await carol.signal("alice", "here")
                assert (await moved.hear(type="signal"))["data"] == "here"
                await moved.signal("carol", "there")
                # Nothing in between: in the room, nobody has left or come.
                assert await carol.hear() == {"type": "signal", "from": "alice", "data": "there"}
    go(work())


@pytest.mark.parametrize("keeps", [True, False], ids=["with its data", "without its data"])
def test_redis_is_killed_and_comes_back(cast, keeps):
    """Peers stay and signal each other at their hub, new names are refused, and all is as before afterwards."""
    redis = Redis(keeps=keeps)
    try:
        hubs = [cast("serve", "--listen", "127.0.0.1:0", "--cluster", redis.url) for _ in range(2)]
        for hub in hubs:
            hub.address = hub.url()
        ripen(redis)

        async def work():
            async with await enter(hubs[0], "alice") as alice, await enter(hubs[0], "carol") as carol, await enter(hubs[1], "bob") as bob:
                for member in alice, bob:
                    await member.say({"type": "join", "room": "den"})
                    await member.hear(type="peers")
                redis.kill()
                for hub in hubs:
                    wait_for(lambda: health(hub.address)["status"] == "degraded", "degraded hub")
                await alice.signal("carol", 1)
                assert (await carol.hear(type="signal"))["data"] == 1
                assert await names(alice) == ["bob", "carol"]
                # Kept until bob's hub can be reached.
                await alice.signal("bob", 2)
                late = await NativeClient.open(hubs[1].address + "hub")
                await late.say({"type": "register", "id": "dave", "secret": SECRET["dave"]})
                refusal = await late.hear(type="error")
                assert refusal["code"] == "cluster-unavailable" and "Try again" in refusal["message"]
                await carol.say({"type": "join", "room": "den"})
                assert (await carol.hear(type="error"))["code"] == "cluster-unavailable"
                redis.start()
                assert (await bob.hear(type="signal"))["data"] == 2
                for hub in hubs:
                    wait_for(lambda: health(hub.address)["status"] == "live", "live hub")
                await late.say({"type": "register", "id": "alice", "secret": "another-secret-16"})
                assert (await late.hear(type="error"))["code"] == "taken-name"
                await late.say({"type": "register", "id": "dave", "secret": SECRET["dave"]})
                await late.hear(type="registered")
                await late.say({"type": "join", "room": "den"})
                assert sorted((await late.hear(type="peers"))["peers"]) == ["alice", "bob"]
                await late.close()
        go(work())
        for hub in hubs:
            assert any("ended the connection" in line and "no new names" in line for line in hub.stderr), hub.stderr
            assert any("is back" in line for line in hub.stderr), hub.stderr
    finally:
        redis.stop()


def test_redis_loses_all_data_under_the_hubs(hubs, redis):
    """FLUSHALL and SCRIPT FLUSH: hubs state their names again before anybody else gets one."""
    async def work():
        async with await enter(hubs[0], "alice") as alice, await enter(hubs[1], "bob") as bob:
            redis.cli("flushall")
            redis.cli("script", "flush")
            code = "cluster-unavailable"  # while the hub gives Redis its scripts again
            while code == "cluster-unavailable":
                thief = await NativeClient.open(hubs[1].address + "hub")
                await thief.say({"type": "register", "id": "alice", "secret": "another-secret-16"})
                code = (await thief.hear(type="error"))["code"]
                await thief.close()
            assert code == "taken-name"
            await alice.signal("bob", 1)
            assert (await bob.hear(type="signal"))["data"] == 1
            assert await names(bob) == ["alice"]
    go(work())


def test_redis_stops_answering(hubs, redis):
    async def work():
        async with await enter(hubs[0], "alice") as alice, await enter(hubs[1], "bob") as bob:
            redis.freeze()
            wait_for(lambda: all(health(hub.address)["status"] == "degraded" for hub in hubs), "degraded hubs")
            redis.thaw()
            wait_for(lambda: all(health(hub.address)["status"] == "live" for hub in hubs), "live hubs")
            await alice.signal("bob", 1)
            assert (await bob.hear(type="signal"))["data"] == 1
    go(work())


@contextlib.contextmanager
def balancer(hubs):
    """HAProxy in front of two hubs."""
    port = free_port()
    servers = "\n".join(f"    server hub{number} {hub.address.split('/')[2]} check inter 200 fall 1 rise 1" for number, hub in enumerate(hubs))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "config"
        place.write_text("global\n    maxconn 200\ndefaults\n    mode http\n    timeout connect 1s\n    timeout client 1m\n    timeout server 1m\n"
                         f"    timeout tunnel 1h\nfrontend web\n    bind 127.0.0.1:{port}\n    default_backend hubs\n"
                         f"backend hubs\n    balance first\n    option redispatch\n    retry-on all-retryable-errors\n{servers}\n")
        process = subprocess.Popen(["haproxy", "-db", "-f", str(place)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            def answers():
                with socket.socket() as sock:
                    return sock.connect_ex(("127.0.0.1", port)) == 0
            wait_for(answers, "haproxy")
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(10)


@pytest.mark.parametrize("end", ["kill", "interrupt"], ids=["killed", "upgraded"])
def test_a_hub_ends_and_its_peers_are_on_another_one(hubs, redis, end):
    """With the same names and rooms; the peers at the other hub see nobody leave."""
    async def work():
        async with await enter(hubs[1], "carol") as carol:
            await carol.say({"type": "join", "room": "den"})
            await carol.hear(type="peers")
            with balancer(hubs) as url:
                alice = await NativeClient.enter(url, "alice", secret=SECRET["alice"])
                await alice.say({"type": "join", "room": "den"})
                assert (await alice.hear(type="peers"))["peers"] == ["carol"]
                await carol.hear(type="peer-joined")
                await carol.say({"type": "list", "follow": True})
                assert (await carol.hear(type="present"))["peers"] == ["alice"]
                hubs[0].process.kill() if end == "kill" else hubs[0].interrupt()
                began = time.monotonic()
                # While its hub is away, messages wait for alice.
                wait_for(lambda: redis.cli("pubsub", "channels", "{rtcast}:to:*").count(":to:") == 1, "end of the hub")
                await carol.signal("alice", "late")
                while True:
                    try:
                        back = await NativeClient.enter(url, "alice", secret=SECRET["alice"], returning=True)
                        break
                    except Exception:
                        await asyncio.sleep(0.05)
                assert time.monotonic() - began < 3
                assert back.registered["resumed"] and back.registered["rooms"] == ["den"]
                assert (await back.hear(type="peers"))["peers"] == ["carol"]
                assert (await back.hear(type="signal"))["data"] == "late"
                await back.signal("carol", "back")
                assert await carol.hear() == {"type": "signal", "from": "alice", "data": "back"}
                await back.close()
                await alice.close()
    go(work())


def test_the_peers_of_a_lost_hub_leave_in_the_end(hubs, redis):
    async def work():
        async with await enter(hubs[1], "carol") as carol, await enter(hubs[0], "alice") as alice:
            await carol.say({"type": "list", "follow": True})
            await carol.hear(type="present")
            hubs[0].process.kill()
            del alice
            # A message for a peer of a lost hub is kept, and then undeliverable.
            wait_for(lambda: redis.cli("zcard", "{rtcast}:dead") == "1", "dead hub")
            await carol.signal("alice", 1)
            member = redis.cli("zrange", "{rtcast}:dead", "0", "-1")
            redis.cli("zadd", "{rtcast}:dead", "1", member)
            assert (await carol.hear(type="peer-gone"))["peer"] == "alice"
            assert (await carol.hear(type="error"))["code"] == "unknown-peer"
            # The hub may be alive without a way to Redis, so that its names are kept for their owners.
            thief = await NativeClient.open(hubs[1].address + "hub")
            await thief.say({"type": "register", "id": "alice", "secret": "another-secret-16"})
            assert (await thief.hear(type="error"))["code"] == "taken-name"
            redis.cli("hset", "{rtcast}:until", member, "1")
            redis.cli("zadd", "{rtcast}:buried", "1", member)
            wait_for(lambda: redis.cli("exists", f"{{rtcast}}:of:{member}") == "0", "end of the reservation")
            await thief.say({"type": "register", "id": "alice", "secret": "another-secret-16"})
            await thief.hear(type="registered")
            await thief.close()
    go(work())


def test_clients_of_other_dialects_at_two_hubs(hubs):
    async def work():
        offer, answer = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n", "v=0\r\no=- 2 2 IN IP4 0.0.0.0\r\n"
        async with await PeerJSClient.enter(hubs[0].address, "alice") as alice, await PeerJSClient.enter(hubs[1].address, "bob") as bob:
            async def both():
                return sorted((await PeerJSClient.peers(hubs[0].address))[1]) == ["alice", "bob"]
            await until(both, "both names")
            await alice.offer("bob", offer)
            made = await bob.hear(type="OFFER")
            assert made["src"] == "alice" and made["payload"]["sdp"]["sdp"] == offer
            await bob.answer(made, answer)
            assert (await alice.hear(type="ANSWER"))["payload"]["sdp"]["sdp"] == answer
            async with await enter(hubs[1], "carol") as carol:
                await carol.signal("alice", {"call": "k", "type": "call", "media": {"audio": True}})
                assert (await carol.hear(type="signal"))["data"] == {"call": "k", "type": "accept"}
                await carol.signal("alice", {"call": "k", "type": "description", "description": {"type": "offer", "sdp": offer}})
                made = await alice.hear(type="OFFER")
                assert made["payload"]["connectionId"] == "k"
                await alice.answer(made, answer)
                assert (await carol.hear(type="signal"))["data"]["description"] == {"type": "answer", "sdp": answer}
        async with await SkyRTCClient.enter(hubs[0].address, "100") as first, await SkyRTCClient.enter(hubs[1].address, "100") as second:
            assert second.others == [first.name]
            assert await first.event("_new_peer") == {"socketId": second.name}
            await second.emit("__offer", sdp={"type": "offer", "sdp": offer}, socketId=first.name)
            assert await first.event("_offer") == {"sdp": {"type": "offer", "sdp": offer}, "socketId": second.name}
    go(work())


@pytest.mark.quick
def test_rtcast_calls_across_hubs_and_the_call_survives_redis(cast, hubs, redis):
    bob = cast("call", "--server", hubs[1].address, "--name", "bob", "--answer", "auto", "--no-window", "--audio", "none")
    assert bob.wait_event("registered")["id"] == "bob"
    alice = cast("test", "--to", "bob", "--server", hubs[0].address, "--name", "alice", "--no-window", "--size", "320x180", "--fps", "15")
    bob.wait_event("peer", where=lambda e: e["state"] == "connected")
    bob.wait_event("stats", where=lambda e: any(stream.get("frames_received") for stream in e["streams"]))
    redis.kill()
    wait_for(lambda: health(hubs[0].address)["status"] == "degraded", "degraded hub")
    before = bob.wait_event("stats", where=lambda e: e["id"] == "alice")["streams"]
    bob.wait_event("stats", where=lambda e: e["id"] == "alice" and e["streams"] != before)
    assert alice.process.poll() is None and bob.process.poll() is None
    bob.drain()
    assert not [e for e in bob.seen if e["event"] == "peer" and e["state"] in ("ended", "disconnected")]


def test_by_tls_as_a_user_who_may_do_only_what_is_needed(cast):
    redis = Redis(tls=True)
    try:
        rule = Path(redis_server.__file__).parents[3] / "docs/cluster.md"
        line = next(line for line in rule.read_text().splitlines() if line.strip().startswith("ACL SETUSER"))
        redis.cli(*line.split()[:1], *line.split()[1:])
        with tempfile.NamedTemporaryFile("w") as password:
            password.write("SECRET\n")
            password.flush()
            url = redis.url.replace("//", "//rtcast@") + "/0"
            trust = {"SSL_CERT_FILE": str(redis.pem)}
            hubs = [cast("serve", "--listen", "127.0.0.1:0", "--cluster", url, "--cluster-password-file", password.name, env=trust)
                    for _ in range(2)]
            for hub in hubs:
                hub.address = hub.url()
            ripen(redis)

            async def work():
                async with await enter(hubs[0], "alice") as alice, await enter(hubs[1], "bob") as bob:
                    await alice.signal("bob", 1)
                    assert (await bob.hear(type="signal"))["data"] == 1
            go(work())
            status, _, errors = run("serve", "--listen", "127.0.0.1:0", "--cluster", url, "--cluster-password-file", password.name)
            assert status == 69 and "does not trust its certificate" in errors and "SSL_CERT_FILE" in errors
    finally:
        redis.stop()


def test_a_hub_that_cannot_use_redis_says_what_to_do(cast, redis):
    def fails(url, status, *words, more=()):
        code, _, errors = run("serve", "--listen", "127.0.0.1:0", "--cluster", url, *more)
        assert code == status, (code, errors)
        for word in words:
            assert word in errors, errors

    fails("http://redis.example", 64, "it begins with http://", "redis://redis.example:6379")
    fails("redis://", 64, "names no host")
    fails("redis://127.0.0.1:0", 64, "port is not a number from 1 to 65535")
    fails("redis://127.0.0.1/x", 64, "number of a database")
    fails(f"redis://127.0.0.1:{free_port()}", 69, "refuses connections", "Start it")
    # Where no server of names answers, nobody knows that there is no such host.
    fails("redis://no-such-host.invalid", 69, "no-such-host.invalid", "--cluster")
    fails(redis.url.replace("//", "//nobody:wrong@"), 77, "rejects the user name or password")
    fails(redis.url.replace("redis:", "rediss:"), 69, "does not answer", "write redis://")
    other = cast("serve", "--listen", "127.0.0.1:0")
    fails(f"redis://{other.url().split('/')[2]}", 76, "does not speak the protocol of Redis")
    # Hubs of another version are running.
    redis.cli("set", "{rtcast}:format", "999")
    now = redis.cli("time").split()[0]
    redis.cli("zadd", "{rtcast}:hubs", str((int(now) + 60) * 1000), "other")
    fails(redis.url, 69, "use the format 999", "this hub uses the format 2", "--cluster-name")
    redis.cli("config", "set", "requirepass", "between-us")
    fails(redis.url, 77, "requires a password", "--cluster-password-file")
    fails(redis.url.replace("//", "//:wrong@"), 77, "rejects the user name or password", "--cluster-password-file")
    replica = Redis("--replicaof", "127.0.0.1", str(free_port()))
    try:
        fails(replica.url, 69, "read-only replica", "Name the primary")
    finally:
        replica.stop()
