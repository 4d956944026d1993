"""Hubs whose Redis is a Redis Cluster of three nodes: they follow it to the node that has their keys (docs/cluster.md)."""

import subprocess

import pytest

from harness import redis as redis_server
from harness.clusters import health, ripen
from harness.processes import wait_for
from harness.proxies import free_port
from harness.redis import Redis
from harness.rtcast import run
from harness.signaling import NativeClient
from test_cluster import SECRET, enter, go, names, until

pytestmark = pytest.mark.skipif(redis_server.missing() is not None, reason=redis_server.missing() or "")


def low_port():
    """The bus of a node has its port plus 10000."""
    while (port := free_port()) > 50000:
        pass
    return port


class Nodes:
    def __init__(self):
        self.nodes = [Redis("--cluster-enabled", "yes", "--cluster-node-timeout", "2000", port=low_port()) for _ in range(3)]
        places = [f"127.0.0.1:{node.port}" for node in self.nodes]
        subprocess.run(["redis-cli", "--cluster", "create", *places, "--cluster-yes"], stdin=subprocess.DEVNULL, capture_output=True, check=True,
                       timeout=60)
        for node in self.nodes:
            wait_for(lambda: "cluster_state:ok" in node.cli("cluster", "info"), "cluster")
        self.slot = self.nodes[0].cli("cluster", "keyslot", "{rtcast}")

    def owner(self):
        for line in self.nodes[0].cli("cluster", "nodes").splitlines():
            words = line.split()
            for part in words[8:]:
                first, _, last = part.partition("-")
                if first.isdigit() and int(first) <= int(self.slot) <= int(last or first):
                    return next(node for node in self.nodes if node.cli("cluster", "myid") == words[0])
        raise AssertionError("no node has the slot")

    def begin_move(self, old, new):
        new.cli("cluster", "setslot", self.slot, "importing", old.cli("cluster", "myid"))
        old.cli("cluster", "setslot", self.slot, "migrating", new.cli("cluster", "myid"))

    def end_move(self, old, new):
        while keys := old.cli("cluster", "getkeysinslot", self.slot, "100").split():
            assert old.cli("migrate", "127.0.0.1", str(new.port), "", "0", "5000", "keys", *keys) == "OK"
        for node in new, old:
            node.cli("cluster", "setslot", self.slot, "node", new.cli("cluster", "myid"))

    def stop(self):
        for node in self.nodes:
            node.stop()


@pytest.fixture
def nodes():
    started = Nodes()
    yield started
    started.stop()


def test_hubs_follow_the_slot_of_their_keys(cast, nodes):
    old = nodes.owner()
    others = [node for node in nodes.nodes if node is not old]
    hubs = [cast("serve", "--listen", "127.0.0.1:0", "--cluster", node.url) for node in others]
    for hub in hubs:
        hub.address = hub.url()
    ripen(old)

    async def work():
        async with await enter(hubs[0], "alice") as alice, await enter(hubs[1], "bob") as bob:
            async def known():
                return await names(alice) == ["bob"] and await names(bob) == ["alice"]
            await until(known, "names")
            await alice.signal("bob", 1)
            assert (await bob.hear(type="signal"))["data"] == 1
            new = others[0]
            nodes.begin_move(old, new)
            wait_for(lambda: all(health(hub.address)["status"] == "degraded" for hub in hubs), "degraded hubs")
            assert not any(key.startswith("{rtcast}") for key in new.cli("keys", "*").split()), "a script has run at the new node too early"
            late = await NativeClient.open(hubs[1].address + "hub")
            await late.say({"type": "register", "id": "carol", "secret": SECRET["carol"]})
            assert (await late.hear(type="error"))["code"] == "cluster-unavailable"
            await alice.signal("bob", 2)
            nodes.end_move(old, new)
            wait_for(lambda: all(health(hub.address)["status"] == "live" for hub in hubs), "live hubs", 30)
            assert (await bob.hear(type="signal"))["data"] == 2
            await late.say({"type": "register", "id": "alice", "secret": "another-secret-16"})
            assert (await late.hear(type="error"))["code"] == "taken-name"
            await late.say({"type": "register", "id": "carol", "secret": SECRET["carol"]})
            await late.hear(type="registered")
            assert "carol" in new.cli("hkeys", "{rtcast}:names")
            # Without one of its nodes the whole cluster is down.
            old.kill()
            wait_for(lambda: all(health(hub.address)["status"] == "degraded" for hub in hubs), "degraded hubs", 30)
            await alice.signal("bob", 3)
            old.start()
            wait_for(lambda: all(health(hub.address)["status"] == "live" for hub in hubs), "live hubs", 30)
            assert (await bob.hear(type="signal"))["data"] == 3
            await late.close()
    go(work())


def test_a_node_without_slots_is_no_use(cast):
    node = Redis("--cluster-enabled", "yes", port=low_port())
    try:
        code, _, errors = run("serve", "--listen", "127.0.0.1:0", "--cluster", node.url)
        assert code == 69 and "CLUSTERDOWN" in errors, (code, errors)
    finally:
        node.stop()
