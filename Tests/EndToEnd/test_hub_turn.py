"""The TURN server in the hub: coturn's own client, what it refuses, and what the hub says of it. NATs are in test_reach.py."""

import re
import shutil
import socket
import subprocess

import pytest

from harness.coturn import SECRET
from harness.hub_page import HubPage
from harness.reach import Page, assert_moving

CLOCK = ["--pattern", "clock", "--size", "320x180", "--fps", "15"]
CLIENTS = {"udp": [], "tcp": ["-t"], "tls": ["-t", "-S", "-p", "443"], "tcp at the page's port": ["-t", "-p", "443"]}

uclient = pytest.mark.skipif(not shutil.which("turnutils_uclient"), reason="no turnutils_uclient: install coturn")


def load(bed, turn, *options, peer=None, timeout=60):
    """What turnutils_uclient of bob's says, and its exit status; the peer is a host of the internet."""
    peer = peer or bed.carol
    with peer:
        echo = subprocess.Popen(["turnutils_peer", "-L", peer.address, "-p", "3480"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with bed.dave:
            done = subprocess.run(
                ["turnutils_uclient", "-W", SECRET, "-u", "ada", "-e", peer.address, "-r", "3480", "-c", *options, turn.host.address],
                capture_output=True, text=True, timeout=timeout)
        return done.stdout + done.stderr, done.returncode
    finally:
        echo.kill()
        echo.wait()


def lost(text):
    """Packets that the client of a load has sent and not received again."""
    found = re.findall(r"Total lost packets (\d+)", text)
    assert found, text[-2000:]
    return int(found[-1])


@uclient
@pytest.mark.feature("S3.4", peer="coturn")
@pytest.mark.parametrize("transport", CLIENTS)
@pytest.mark.parametrize("way", ["channels", "indications"])
def test_the_client_of_coturn_loses_nothing(bed, transport, way):
    """Messages whose length is no multiple of four are padded in streams. The page is served at the same port."""
    turn = bed.hub_turn(tls=transport == "tls")
    said, status = load(bed, turn, "-m", "4", "-n", "50", "-l", "501", *(["-s"] if way == "indications" else []), *CLIENTS[transport])
    assert status == 0, said[-2000:]
    assert lost(said) == 0, said[-2000:]
    assert turn.figure("rtcast_turn_relayed_bytes_total") >= 2 * 4 * 50 * 501
    assert turn.figure("rtcast_turn_allocations_total") >= 4


@uclient
@pytest.mark.parametrize("options,passes", [((), False), (("--turn-private",), True)], ids=["as it is", "--turn-private"])
def test_private_peers_are_reached_only_if_the_user_says_so(bed, options, passes):
    """The TURN server has a card in a private network, too."""
    bed.turn_host.add_card("inner", "192.168.77.1")
    try:
        turn = bed.hub_turn(*options)
        with bed.dave:
            done = subprocess.run(["turnutils_uclient", "-W", SECRET, "-u", "ada", "-e", "192.168.77.2", "-r", "3480", "-c", "-m", "1", "-n", "1",
                                   turn.host.address], capture_output=True, text=True, timeout=30)
        assert ("403" in done.stdout + done.stderr) != passes, done.stdout + done.stderr
        assert (turn.figure("rtcast_turn_refusals_total", '"403"') > 0) != passes
    finally:
        bed.turn_host.run("ip", "link", "delete", "inner")


@pytest.mark.parametrize("port,nonsense", [(3478, b"\xff" * 100), (443, bytes(20) + b"\xff" * 100)], ids=["its own port", "the page's port"])
def test_a_stream_of_nonsense_ends_and_the_hub_goes_on(bed, port, nonsense):
    turn = bed.hub_turn(tls=False)
    with bed.carol:
        streams = [socket.create_connection((turn.host.address, port), 5) for _ in range(3)]
    for stream in streams:
        stream.settimeout(5)
        stream.sendall(nonsense)
        try:
            assert stream.recv(100) == b""
        except ConnectionResetError:
            pass
        stream.close()
    assert turn.figure("rtcast_live") == 1


@pytest.mark.feature("S3.4", peer="Chromium")
def test_a_hub_with_turn_needs_nothing_else(bed, cast):
    """One command: peers behind symmetric NATs get the hub's own servers from it, with credentials, and see each other."""
    bed.nats("symmetric", "symmetric")
    with bed.hub_host:
        hub = cast("serve", "--open", "--listen", f"{bed.hub_host.address}:443", "--turn")
    listening = hub.listening()
    assert listening["turn"] == [f"turn:{bed.hub_host.address}", f"turn:{bed.hub_host.address}?transport=tcp"]
    page = HubPage(bed.browser("chromium", bed.bob), listening["url"], "bob")
    page.join()
    with bed.alice:
        alice = cast("test", "--to", "bob", "--server", listening["url"], "--name", "alice", "--no-window", *CLOCK)
    page.accept()
    page.wait(state="call").wait_tiles(1).wait_moving()
    alice.wait_event("track", where=lambda e: e["kind"] == "video")


@pytest.mark.feature("S3.4", peer="Chromium")
def test_a_viewer_without_udp_sees_a_stream_of_the_hub_by_its_relay(bed, cast):
    """The relay sends to the hub's own media port, the only one of the machine that it may reach."""
    bed.nats("port-restricted", "udp-blocked")
    with bed.hub_host:
        hub = cast("serve", "--open", "--listen", f"{bed.hub_host.address}:443", "--turn")
    url = hub.url()
    with bed.alice:
        cast("test", *CLOCK, "--to", f"{url}whip/clock").wait_event("stats", where=lambda event: event["fps_captured"] > 0)
    viewer = Page(bed.browser("chromium", bed.bob), f"{url}watch?stream=clock").wait_live()
    assert_moving(viewer)
    assert viewer.pair()[0] == "relay"
