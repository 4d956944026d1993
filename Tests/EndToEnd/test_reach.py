"""Peers behind NATs and firewalls, in networks of namespaces: each connects in the only way that the network leaves it, and is seen."""

import socket
import time

import pytest

from harness.coturn import PASSWORD, SECRET, USER
from harness.hub_page import HubPage
from harness.netns import NATS
from harness.page_peer import PagePeer, connect
from harness.reach import PAGE_PORT, Page, assert_moving, option, recorded

CLOCK = ["--pattern", "clock", "--size", "640x360", "--fps", "15"]

# What each side's NAT is, and the way that then is left: through what the servers of these URLs say or relay. The viewer in the office is
# given no server: the cast tells it. Browsers do not trust the bed's authority: of the last they have only STUN, with which the relay
# knows whom to let in.
WAYS = {
    "stun": ("port-restricted", "port-restricted", lambda turn: [turn.url("stun")]),
    "turn-udp": ("symmetric", "symmetric", lambda turn: [turn.url()]),
    "turn-tcp": ("udp-blocked", "symmetric", lambda turn: [turn.url(transport="tcp")]),
    "turns-443": ("https-only", "symmetric", lambda turn: [turn.url("turns", port=443), turn.url("stun")]),
}


@pytest.fixture(params=["coturn", "hub"])
def relay(request, bed):
    """A STUN and TURN server, coturn's or ours, with user and password for it."""
    if request.param == "coturn":
        return bed.turn(), (USER, PASSWORD)
    turn = bed.hub_turn()
    return turn, turn.credentials()


@pytest.fixture(params=WAYS)
def way(request, bed, relay):
    """The options for alice and bob with which a connection must come about, in the network where nothing else helps; and its name."""
    home, office, urls = WAYS[request.param]
    bed.nats(home, office)
    turn, credentials = relay
    return [word for url in urls(turn) for word in option(url, *credentials)], request.param


def watched(bed, kind, url):
    """A viewer in the office, on the page of alice's cast, which her router forwards to."""
    bed.home.forward(PAGE_PORT, bed.alice)
    return Page(bed.browser(kind, bed.bob), url.replace(bed.alice.address, bed.home.address))


@pytest.mark.parametrize("nat", NATS)
def test_the_nats_of_the_bed_are_of_the_kind_they_say(bed, nat):
    """Whether one port is kept for all destinations, and who comes in by it."""
    bed.home.set_nat(nat)
    with bed.turn_host:
        doors = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
    with bed.hub_host:
        doors.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    with bed.alice:
        inside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    hosts = [bed.turn_host.address] * 3 + [bed.hub_host.address]
    for door, host in zip(doors, hosts):
        door.bind((host, 0))
        door.settimeout(0.2)
    inside.settimeout(0.2)
    inside.bind((bed.alice.address, 5000))

    def heard(sock):
        try:
            return sock.recvfrom(10)[1]
        except TimeoutError:
            return None

    for door in doors[:2]:
        inside.sendto(b"out", door.getsockname())
    mapped = [heard(door) for door in doors[:2]]
    blocked = nat in ("udp-blocked", "https-only")
    assert all(address is None for address in mapped) == blocked
    assert blocked or (mapped[0] == mapped[1]) == (nat != "symmetric")
    comes_in = []
    for door in doors[1:]:   # known, of a known address, unknown
        door.sendto(b"in", (bed.home.address, mapped[1][1] if mapped[1] else 5000))
        comes_in.append(heard(inside) == door.getsockname())
    assert comes_in == {"full-cone": [True, True, True], "address-restricted": [True, True, False]}.get(nat, [not blocked, False, False])
    for each in (*doors, inside):
        each.close()


@pytest.mark.parametrize("nats,policy,pairs", [
    (("port-restricted", "port-restricted"), "all", {("srflx", "srflx")}),
    (("symmetric", "symmetric"), "all", {("relay", "prflx"), ("prflx", "relay"), ("relay", "relay")}),
    (("full-cone", "full-cone"), "relay", {("relay", "relay")}),
], ids=["srflx", "symmetric", "relay only"])
def test_two_browsers_reach_each_other_here(bed, relay, nats, policy, pairs):
    """With coturn, nothing of ours takes part."""
    turn, (user, password) = relay
    bed.nats(*nats)
    servers = [{"urls": [turn.url("stun")]}, {"urls": [turn.url()], "username": user, "credential": password}]
    caller = PagePeer(bed.browser("chromium", bed.alice), servers, policy, shows=True)
    callee = PagePeer(bed.browser("chromium", bed.bob), servers, policy)
    connect(caller, callee)
    assert_moving(callee)
    assert callee.pair()[:2] in pairs


def test_a_firewalled_browser_is_found_by_its_mdns_name(bed):
    """The control for what follows: who may not be written to first asks for the other's name."""
    bed.alice.guard()
    caller = PagePeer(bed.browser("chromium", bed.alice), shows=True)
    callee = PagePeer(bed.browser("chromium", bed.dave))
    connect(caller, callee)
    assert_moving(callee)


@pytest.mark.feature("S0.29", "S0.30", "S0.48", "S1.4", "S1.5", "S3.4", peer="Chromium, Firefox, coturn")
@pytest.mark.parametrize("kind", ["chromium", "firefox"])
def test_a_cast_is_seen_by_a_viewer_elsewhere(bed, way, cast, kind):
    options, name = way
    with bed.alice:
        ours = cast("test", *CLOCK, "--listen", f"{bed.alice.address}:{PAGE_PORT}", "--token", "sesame", *options, env=bed.trust())
    viewer = watched(bed, kind, ours.url())
    viewer.wait_live()
    assert_moving(viewer)
    local, remote = viewer.pair()
    if name == "stun":
        assert "relay" not in (local, remote)
    else:
        assert "relay" in (local, remote)


@pytest.mark.feature("S0.48", "S1.5", "S3.49", peer="coturn")
def test_two_rtcasts_call_each_other_from_behind_nats(bed, way, hub, cast, tmp_path):
    options, _ = way
    url = hub()
    copy = tmp_path / "copy.mkv"
    with bed.bob:
        bob = cast("call", "--server", url, "--name", "bob", "--answer", "auto", "--no-window", "--record", str(copy), "--audio", "none", *options,
                   env=bed.trust())
    bob.wait_event("registered")
    with bed.alice:
        alice = cast("test", "--to", "bob", "--server", url, "--name", "alice", "--no-window", *CLOCK, *options, "--duration", "4",
                     env=bed.trust())
    alice.wait_event("peer", where=lambda e: e["state"] == "connected")
    assert alice.process.wait(20) == 0
    bob.interrupt()
    assert bob.wait() == 0
    numbers = recorded(copy)
    assert len(numbers) > 20 and None not in numbers and numbers == sorted(numbers), numbers


@pytest.mark.feature("S0.48", "S1.5", peer="Chromium, coturn")
def test_by_relays_only_is_by_relays_only(bed, cast):
    """`--ice-policy relay` where there are shorter ways: nobody learns the cast's address."""
    turn = bed.turn()
    with bed.alice:
        ours = cast("test", *CLOCK, "--listen", f"{bed.alice.address}:{PAGE_PORT}", "--token", "sesame", *option(turn.url()), "--ice-policy", "relay")
    viewer = watched(bed, "chromium", ours.url()).wait_live()
    assert_moving(viewer)
    assert viewer.pair()[1] == "relay"
    told = viewer.script("return window.rtcast.pc.remoteDescription.sdp")
    assert bed.turn_host.address in told and bed.alice.address not in told and bed.home.address not in told, told


@pytest.mark.feature("S0.31", "S1.5", "S3.4", peer="Chromium, coturn")
def test_the_hub_hands_out_credentials_of_the_relay(bed, hub, cast):
    """They are good for a time; neither the browser nor rtcast is told anything by its user."""
    turn = bed.turn(secret=True)
    bed.nats("symmetric", "symmetric")
    url = hub("--turn-url", turn.url(), "--turn-secret", SECRET)
    page = HubPage(bed.browser("chromium", bed.bob), url, "bob")
    page.join()
    with bed.alice:
        alice = cast("test", "--to", "bob", "--server", url, "--name", "alice", "--no-window", *CLOCK)
    page.accept()
    page.wait(state="call").wait_tiles(1).wait_moving()
    alice.wait_event("track", where=lambda e: e["kind"] == "video")
    users = {line.split("username=<")[1].split(">")[0] for line in turn.lines("new", "username=<")}
    assert users and all(int(user.split(":")[0]) > time.time() for user in users), users


@pytest.mark.feature("S1.7", peer="Chromium, Firefox")
@pytest.mark.parametrize("kind", ["chromium", "firefox"])
def test_a_viewer_who_has_no_udp_connects_over_tcp(bed, cast, kind):
    """ICE-TCP (RFC 6544): there is no relay, and the cast listens on TCP too."""
    bed.nats("port-restricted", "udp-blocked")
    with bed.carol:
        ours = cast("test", *CLOCK, "--listen", f"{bed.carol.address}:{PAGE_PORT}", "--token", "sesame", "--ice-tcp")
    viewer = Page(bed.browser(kind, bed.bob), ours.url()).wait_live()
    assert_moving(viewer)


def test_a_viewer_on_the_lan_is_found_by_the_name_that_hides_its_address(bed, cast):
    """The cast's machine lets nobody in who was not written to first; of the viewer it knows an mDNS name (RFC 6762)."""
    bed.alice.guard()
    with bed.alice:
        ours = cast("test", *CLOCK, "--listen", f"{bed.alice.address}:{PAGE_PORT}", "--token", "sesame")
    viewer = Page(bed.browser("chromium", bed.dave), ours.url()).wait_live()
    assert_moving(viewer)
