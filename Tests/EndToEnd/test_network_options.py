"""`--interface` and `--udp-port`, as the answer of a running cast and the sockets of its process show them."""

import re

import pytest

from harness import netns
from harness.rtcast import door
from test_whep import OFFER, request

pytestmark = pytest.mark.skipif(netns.missing() is not None, reason=str(netns.missing()))
ADDRESSES = {"eth0": "10.77.0.1", "eth1": "10.77.1.1", "wg0": "10.77.2.1"}


@pytest.fixture(scope="module")
def host():
    """A computer with two network cards and a VPN."""
    with netns.Network() as network:
        host = network.add(netns.Namespace, "cards")
        for name, address in ADDRESSES.items():
            host.add_card(name, address)
        yield host


@pytest.fixture
def candidates(cast, host):
    """The addresses and ports in a cast's answer, and the UDP ports of its process."""
    def answered(*options):
        with host:
            rtcast = cast("test", "--size", "320x180", "--listen", "0.0.0.0:0", *options)
            status, _, answer = request(door(rtcast.listening()), body=OFFER.encode())
        assert status == 201
        told = re.findall(r"a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ host", answer)
        with host:
            bound = {int(port) for port in re.findall(rf":(\d+)\s+\S+\s+users:\(\(\"[^\"]*\",pid={rtcast.process.pid},", host.run("ss", "-Hlunp"))}
        return {address for address, _ in told}, {int(port) for _, port in told}, bound
    return answered


@pytest.mark.parametrize("option, interfaces", [
    ("eth1", ["eth1"]), ("eth0,wg0", ["eth0", "wg0"]), ("!eth0", ["eth1", "wg0"]), ("!eth1,!wg0", ["eth0"]),
])
def test_only_the_interfaces_that_are_named_are_offered(candidates, option, interfaces):
    addresses, _, _ = candidates("--interface", option)
    assert addresses == {ADDRESSES[name] for name in interfaces}


def test_an_interface_that_is_not_there_is_named(cast, host):
    with host:
        rtcast = cast("test", "--size", "320x180", "--interface", "eth7")
        rtcast.url()
    rtcast.stop()
    assert any("no interface eth7" in line and "eth0" in line for line in rtcast.stderr), rtcast.stderr


def test_the_udp_port_is_the_one_that_is_named(candidates):
    _, ports, bound = candidates("--udp-port", "45000")
    assert ports == {45000} and 45000 in bound


def test_the_udp_port_is_a_free_one_of_the_range(candidates, host):
    """Two casts at a time have two ports of it."""
    found = [candidates("--udp-port", "45010-45013") for _ in range(2)]
    ports = [port for _, each, _ in found for port in each]
    assert len(ports) >= 2 and len(set(ports)) == 2 and set(ports) <= set(range(45010, 45014)), ports
    for _, each, bound in found:
        assert each <= bound
