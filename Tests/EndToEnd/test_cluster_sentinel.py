"""Hubs whose Redis is named by sentinels: the primary fails, or changes places with its replica (docs/cluster.md)."""

import asyncio

import pytest

from harness import redis as redis_server
from harness.clusters import health, ripen
from harness.processes import wait_for
from harness.proxies import free_port
from harness.rtcast import run
from harness.sentinels import NAME, Sentinels
from harness.signaling import NativeClient
from test_cluster import SECRET, enter, go, names, until

pytestmark = pytest.mark.skipif(redis_server.missing() is not None, reason=redis_server.missing() or "")


@pytest.fixture
def sentinels():
    started = Sentinels()
    yield started
    started.stop()


@pytest.fixture
def hubs(cast, sentinels):
    started = [cast("serve", "--listen", "127.0.0.1:0", "--cluster", sentinels.url) for _ in range(2)]
    for hub in started:
        hub.address = hub.url()
    ripen(sentinels.primary)
    return started


async def register_until_granted(hub, name):
    """Returns the client, and the codes of the refusals before."""
    codes = []
    async with asyncio.timeout(40):
        while True:
            client = await NativeClient.open(hub.address + "hub")
            await client.say({"type": "register", "id": name, "secret": SECRET[name]})
            reply = await client.hear()
            if reply["type"] == "registered":
                return client, codes
            codes.append(reply["code"])
            await client.close()
            await asyncio.sleep(0.3)


def live(hubs):
    wait_for(lambda: all(health(hub.address)["status"] == "live" for hub in hubs), "live hubs", 30)


def test_the_primary_is_killed_and_its_replica_takes_over(cast, sentinels, hubs):
    """Calls continue, names stay, and new names are refused until there is another primary."""
    callee = cast("call", "--server", hubs[1].address, "--name", "callee", "--answer", "auto", "--no-window", "--audio", "none")
    callee.wait_event("registered")
    caller = cast("test", "--to", "callee", "--server", hubs[0].address, "--name", "caller", "--no-window", "--size", "320x180", "--fps", "15")
    callee.wait_event("peer", where=lambda e: e["state"] == "connected")

    async def work():
        async with await enter(hubs[0], "alice") as alice, await enter(hubs[1], "bob") as bob:
            for member in alice, bob:
                await member.say({"type": "join", "room": "den"})
                await member.hear(type="peers")

            async def known():
                return {"bob", "callee"} <= set(await names(alice))
            await until(known, "names")
            sentinels.primary.kill()
            wait_for(lambda: all(health(hub.address)["status"] == "degraded" for hub in hubs), "degraded hubs")
            await alice.signal("bob", 1)
            late, refusals = await register_until_granted(hubs[1], "carol")
            assert set(refusals) == {"cluster-unavailable"}
            live(hubs)
            assert sentinels.is_primary(sentinels.replica)
            assert (await bob.hear(type="signal"))["data"] == 1
            assert {"bob", "callee", "caller", "carol"} <= set(await names(alice))
            thief = await NativeClient.open(hubs[1].address + "hub")
            await thief.say({"type": "register", "id": "alice", "secret": "another-secret-16"})
            assert (await thief.hear(type="error"))["code"] == "taken-name"
            await thief.close()
            await late.say({"type": "join", "room": "den"})
            assert sorted((await late.hear(type="peers"))["peers"]) == ["alice", "bob"]
            await late.close()
    go(work())
    before = callee.wait_event("stats", where=lambda e: e["id"] == "caller")["streams"]
    callee.wait_event("stats", where=lambda e: e["id"] == "caller" and e["streams"] != before)
    assert caller.process.poll() is None
    callee.drain()
    assert not [e for e in callee.seen if e["event"] == "peer" and e["state"] in ("ended", "disconnected")]
    for hub in hubs:
        assert any(f"Redis at 127.0.0.1:{sentinels.replica.port} is back" in line for line in hub.stderr), hub.stderr


def test_the_primary_and_its_replica_change_places(sentinels, hubs):
    """The old primary becomes a replica, which takes no changes: hubs ask for the primary again."""
    async def work():
        async with await enter(hubs[0], "alice") as alice, await enter(hubs[1], "bob") as bob:
            sentinels.fail_over()
            wait_for(lambda: sentinels.is_primary(sentinels.replica) and not sentinels.is_primary(sentinels.primary), "change of places", 30)
            late, _ = await register_until_granted(hubs[0], "carol")
            live(hubs)
            assert "carol" in sentinels.replica.cli("hkeys", "{rtcast}:names")
            await alice.signal("bob", 1)
            assert (await bob.hear(type="signal"))["data"] == 1
            await late.close()
    go(work())


def test_sentinels_that_do_not_help_are_named_with_a_remedy(sentinels):
    def fails(url, status, *words):
        code, _, errors = run("serve", "--listen", "127.0.0.1:0", "--cluster", url)
        assert code == status, (code, errors)
        for word in words:
            assert word in errors, errors

    place = f"127.0.0.1:{sentinels.ports[0]}"
    fails(f"redis+sentinel://{place}", 64, "does not name the primary")
    fails(f"redis+sentinel://{place}/other", 69, f"The sentinel at {place} knows no primary named other", "sentinel monitor")
    nobody = free_port()
    fails(f"redis+sentinel://127.0.0.1:{nobody}/{NAME}", 69, f"The sentinel at 127.0.0.1:{nobody} refuses connections")
    fails(f"redis+sentinel://{place.replace(str(sentinels.ports[0]), str(sentinels.primary.port))}/{NAME}", 76, "is not a sentinel", "Write redis://")
    sentinels.primary.cli("config", "set", "requirepass", "between-us")
    fails(f"redis+sentinel://{place}/{NAME}", 77, f"Redis at 127.0.0.1:{sentinels.primary.port} requires a password")


def test_sentinels_with_a_password_get_that_of_redis(cast):
    sentinels = Sentinels(password="between-us")
    try:
        sentinels.primary.cli("config", "set", "requirepass", "between-us")
        hub = cast("serve", "--listen", "127.0.0.1:0", "--cluster", sentinels.url.replace("//", "//:between-us@"))
        assert health(hub.url())["status"] == "live"
        code, _, errors = run("serve", "--listen", "127.0.0.1:0", "--cluster", f"redis+sentinel://127.0.0.1:{sentinels.ports[0]}/{NAME}")
        assert code == 77 and "requires a password" in errors, (code, errors)
    finally:
        sentinels.stop()
