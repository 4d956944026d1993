"""A hub that is cut off from Redis by a firewall, while another hub reaches it: no name is held twice (docs/cluster.md)."""

import pytest

from harness import netns
from harness import redis as redis_server
from harness.clusters import health, ripen
from harness.netns import Forwarder, Network
from harness.processes import wait_for
from harness.redis import Redis
from harness.signaling import NativeClient
from test_cluster import SECRET, enter, go, names, until

pytestmark = pytest.mark.skipif(bool(redis_server.missing() or netns.missing()), reason=redis_server.missing() or netns.missing() or "")

RULES = {
    "both ways": "chain out { type filter hook output priority 0; ip daddr {redis} drop; }\nchain in { type filter hook input priority 0; ip saddr {redis} drop; }",
    "to Redis": "chain out { type filter hook output priority 0; ip daddr {redis} drop; }",
    "from Redis": "chain in { type filter hook input priority 0; ip saddr {redis} drop; }",
}


class Bed:
    """Redis and two hubs, each in a network namespace of its own."""

    def __init__(self, cast):
        self.network = Network()
        self.host = self.network.server("redis", 10)
        with self.host:
            self.redis = Redis("--bind", "0.0.0.0", "--protected-mode", "no")
        self.hubs, self.hosts, self.forwarders = [], [], []
        for number in range(2):
            host = self.network.server(f"hub{number}", 20 + number)
            with host:
                hub = cast("serve", "--listen", "127.0.0.1:0", "--cluster", f"redis://{self.host.address}:{self.redis.port}")
            forwarder = Forwarder(host, int(hub.url().split(":")[2].split("/")[0]))
            hub.address = f"http://127.0.0.1:{forwarder.port}/"
            self.hubs.append(hub)
            self.hosts.append(host)
            self.forwarders.append(forwarder)
        with self.host:
            ripen(self.redis)

    def cut(self, way):
        self.hosts[0].run("nft", "-f", "-", input="table ip cut {\n" + RULES[way].replace("{redis}", self.host.address) + "\n}\n")

    def heal(self):
        self.hosts[0].run("nft", "delete", "table", "ip", "cut")

    def close(self):
        for forwarder in self.forwarders:
            forwarder.close()
        self.redis.stop()
        self.network.close()


@pytest.fixture
def bed(cast):
    started = Bed(cast)
    yield started
    started.close()


async def register(hub, name, secret):
    """The type of the answer, or the code of the refusal."""
    client = await NativeClient.open(hub.address + "hub")
    await client.say({"type": "register", "id": name, "secret": secret})
    answer = await client.hear()
    if answer["type"] != "registered":
        await client.close()
    return client, answer.get("code", answer["type"])


@pytest.mark.parametrize("way", RULES)
def test_no_name_is_held_twice_though_a_hub_does_not_reach_redis(bed, way):
    hubs = bed.hubs

    async def work():
        alice, bob = await enter(hubs[0], "alice"), await enter(hubs[0], "bob")
        carol = await enter(hubs[1], "carol")

        async def known():
            return await names(carol) == ["alice", "bob"]
        await until(known, "names")
        bed.cut(way)
        wait_for(lambda: health(hubs[0].address)["status"] == "degraded", "degraded hub")
        with bed.host:
            wait_for(lambda: bed.redis.cli("zcard", "{rtcast}:hubs") == "1", "hub that counts as failed")
        assert health(hubs[1].address)["status"] == "live"
        # The names of the hub that is cut off are held there, and nowhere else.
        for name in "alice", "bob":
            assert (await register(hubs[1], name, "another-secret-16"))[1] == "taken-name"
            assert (await register(hubs[0], name, "another-secret-16"))[1] == "taken-name"
        await alice.signal("bob", 1)
        assert (await bob.hear(type="signal"))["data"] == 1
        # A new name is granted at the hub that reaches Redis, and only there.
        assert (await register(hubs[0], "dave", SECRET["dave"]))[1] == "cluster-unavailable"
        dave, answer = await register(hubs[1], "dave", "another-secret-16")
        assert answer == "registered"
        # The owner of a name may leave the hub that is cut off.
        await carol.signal("alice", 2)
        moved, answer = await register(hubs[1], "alice", SECRET["alice"])
        assert answer == "registered"
        assert (await moved.hear(type="signal"))["data"] == 2
        bed.heal()
        wait_for(lambda: health(hubs[0].address)["status"] == "live", "live hub", 30)
        assert await alice.closing() == 4000
        assert (await register(hubs[0], "dave", SECRET["dave"]))[1] == "taken-name"
        await bob.signal("alice", 3)
        assert (await moved.hear(type="signal"))["data"] == 3
        assert await names(bob) == ["alice", "carol", "dave"]
        for client in alice, bob, carol, dave, moved:
            await client.close()
    go(work())
