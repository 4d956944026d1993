"""Messages to a peer whose hub hangs, fails, or has lost its connection: they wait in Redis, and reach the peer at the hub to which it
comes (docs/cluster.md)."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from harness import redis as redis_server
from harness.clusters import health, redis, ripen  # noqa: F401
from harness.processes import wait_for
from harness.signaling import NativeClient
from test_cluster import enter, go, hubs, names, until  # noqa: F401

pytestmark = pytest.mark.skipif(redis_server.missing() is not None, reason=redis_server.missing() or "")


def kept(redis):
    return int(redis.cli("zcard", "{rtcast}:posted"))


def freeze(hub):
    """Stops the process, and waits until each of its threads has stopped."""
    os.kill(hub.process.pid, signal.SIGSTOP)
    tasks = Path(f"/proc/{hub.process.pid}/task")
    wait_for(lambda: all((task / "stat").read_text().rsplit(")", 1)[1].split()[0] == "T" for task in tasks.iterdir()), "stopped hub")


async def know(client, *others):
    """Waits until the hub of a client knows all the others."""
    async def knows():
        return set(others) <= set(await names(client))
    await until(knows, f"{others} at the hub")


async def abort(client):
    """The connection breaks without a goodbye."""
    client.socket._response.connection.transport.abort()
    await client.session.close()


def test_the_signals_of_a_call_arrive_though_the_hub_of_the_callee_is_killed(hubs, redis):
    """The hub hangs while signals are on their way to it, and is killed. They arrive at the other hub: each once, and in order."""
    async def work():
        async with await enter(hubs[1], "carol") as carol, await enter(hubs[0], "alice") as alice:
            await know(carol, "alice")
            await carol.signal("alice", {"call": "k", "type": "call", "media": {"audio": True}})
            assert (await alice.hear(type="signal"))["data"]["type"] == "call"
            wait_for(lambda: kept(redis) == 0, "confirmed signal")
            freeze(hubs[0])
            offer = {"call": "k", "type": "description", "description": {"type": "offer", "sdp": "v=0\r\n"}}
            await carol.signal("alice", offer)
            for number in range(50):
                await carol.say({"type": "candidate", "to": "alice", "call": "k", "candidate": {"candidate": f"c{number}", "sdpMid": "0"}})
            wait_for(lambda: kept(redis) == 51, "signals in Redis")
            hubs[0].process.kill()
            async with await enter(hubs[1], "alice", returning=True) as back:
                assert back.registered["resumed"]
                assert (await back.hear())["data"] == offer
                heard = [await back.hear() for _ in range(50)]
                assert [message["candidate"]["candidate"] for message in heard] == [f"c{number}" for number in range(50)]
                await back.signal("carol", {"call": "k", "type": "accept"})
                assert (await carol.hear(type="signal"))["data"]["type"] == "accept"
                await carol.signal("alice", "next")
                assert (await back.hear())["data"] == "next"
            wait_for(lambda: kept(redis) == 0, "confirmed signals")
    go(work())


@pytest.mark.parametrize("dies", [True, False], ids=["killed", "alive"])
def test_what_waits_for_a_lost_client_reaches_it_at_another_hub(hubs, redis, dies):
    """Messages of a peer of the same hub too, which fails with it."""
    async def work():
        async with await enter(hubs[1], "carol") as carol:
            alice, bob = await enter(hubs[0], "alice"), await enter(hubs[0], "bob")
            await know(carol, "alice")
            await abort(alice)
            wait_for(lambda: redis.cli("sismember", "{rtcast}:away", "alice") == "1", "lost client")
            await bob.signal("alice", 0)
            wait_for(lambda: kept(redis) == 1, "first message")
            for number in range(1, 5):
                await carol.signal("alice", number)
            wait_for(lambda: kept(redis) == 5, "all messages")
            if dies:
                hubs[0].process.kill()
            async with await enter(hubs[1], "alice", returning=True) as back:
                heard = [await back.hear() for _ in range(5)]
                assert [(message["from"], message["data"]) for message in heard] == [("bob", 0)] + [("carol", n) for n in range(1, 5)]
                await carol.signal("alice", 5)
                assert (await back.hear())["data"] == 5
            await bob.close()
    go(work())


def test_what_waits_for_a_lost_client_reaches_it_at_its_own_hub_in_order(hubs, redis):
    async def work():
        async with await enter(hubs[1], "carol") as carol, await enter(hubs[0], "bob") as bob:
            alice = await enter(hubs[0], "alice")
            await know(carol, "alice")
            await abort(alice)
            wait_for(lambda: redis.cli("sismember", "{rtcast}:away", "alice") == "1", "lost client")
            await carol.signal("alice", 0)
            wait_for(lambda: kept(redis) == 1, "first message")
            await bob.signal("alice", 1)
            wait_for(lambda: kept(redis) == 2, "second message")
            async with await enter(hubs[0], "alice", returning=True) as back:
                await bob.signal("alice", 2)
                assert [(await back.hear())["data"] for _ in range(3)] == [0, 1, 2]
            # More than a hub keeps for one peer are refused, wherever they wait.
            alice = await enter(hubs[0], "alice")
            await know(carol, "alice")
            await abort(alice)
            wait_for(lambda: redis.cli("sismember", "{rtcast}:away", "alice") == "1", "lost client")
            for number in range(65):
                await carol.signal("alice", number)
            assert (await carol.hear(type="error"))["code"] == "unknown-peer"
            assert kept(redis) == 64
    go(work())


def test_messages_wait_while_redis_is_away_and_are_sent_once(hubs, redis):
    """Redis hangs with messages on their way to it: the hub cannot know which it has."""
    async def work():
        async with await enter(hubs[1], "carol") as carol, await enter(hubs[0], "alice") as alice:
            await know(carol, "alice")
            redis.freeze()
            for number in range(20):
                await carol.signal("alice", number)
            wait_for(lambda: all(health(hub.address)["status"] == "degraded" for hub in hubs), "degraded hubs")
            await carol.signal("alice", 20)
            redis.thaw()
            assert [(await alice.hear(type="signal"))["data"] for _ in range(21)] == list(range(21))
            await carol.signal("alice", "end")
            assert (await alice.hear())["data"] == "end"
    go(work())
