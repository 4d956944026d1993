"""Calls and publications go on while the network changes below them: pictures come again, soon."""

import signal
import time

import pytest

from harness.coturn import credentials
from harness.hub_page import HubPage
from harness.reach import HUB_PORT, Page, Recorder, assert_moving, option

pytestmark = pytest.mark.quiet("how long the picture stands still")

# Seconds. It takes 1.5 on a machine with nothing else to do and twice that on a slow one; without a watch of the interfaces, the loss
# of consent would be noticed after 5 at the earliest.
SOON = 4
CLOCK = ["--pattern", "clock", "--size", "640x360", "--fps", "15"]
TILE = "#grid .tile video"


def furnish(bed):
    bed.cafe = bed.network.site("cafe")


@pytest.fixture
def calling(bed, hub, cast):
    """alice's clock in a call with bob, whose browser is on the hub's page: what notes the pictures that he sees. The hub tells of STUN,
    so that his NAT's address is known; what else there is is alice's."""
    def call(turn, *options):
        url = hub(*option(turn.url("stun")))
        page = HubPage(bed.browser("chromium", bed.bob), url, "bob")
        page.join()
        with bed.alice:
            alice = cast("test", "--to", "bob", "--server", url, "--name", "alice", "--no-window", *CLOCK, *options)
        page.accept()
        page.wait(state="call").wait_tiles(1).wait_moving()
        return alice, seen(page, TILE)
    return call


def seen(page, video="video"):
    """Notes of the pictures from here on."""
    notes = Recorder(page, video)
    notes.wait_moving_after(notes.mark())
    return notes


@pytest.mark.feature("S0.48", "S3.49")
def test_a_call_goes_on_over_another_network(bed, calling):
    """Cable to Wi-Fi: the interface is replaced, with another address behind another NAT."""
    _, notes = calling(bed.turn())
    moved = notes.mark()
    bed.move(bed.alice, bed.cafe)
    notes.wait_moving_after(moved + 0.5)
    assert notes.longest_gap(moved) <= SOON


@pytest.mark.feature("S0.48", "S3.49")
def test_a_call_goes_on_over_another_network_while_the_hub_is_started_anew(bed, cast):
    """The hub crashes, the network changes, the hub comes back and knows of nobody: the call is the same, and its pictures come again."""
    servers = option(bed.turn().url("stun"))

    def serve():
        with bed.hub_host:
            return cast("serve", "--open", "--listen", f"{bed.hub_host.address}:{HUB_PORT}", *servers)

    hub = serve()
    page = HubPage(bed.browser("chromium", bed.bob), hub.url(), "bob")
    page.join()
    with bed.alice:
        alice = cast("test", "--to", "bob", "--server", f"ws://{bed.hub_host.address}:{HUB_PORT}", "--name", "alice", "--no-window", *CLOCK)
    page.accept()
    page.wait(state="call").wait_tiles(1).wait_moving()
    notes = seen(page, TILE)
    hub.process.kill()
    hub.wait()
    moved = notes.mark()
    bed.move(bed.alice, bed.cafe)
    alice.wait_event("signaling", where=lambda event: event["state"] == "interrupted")
    serve().url()
    alice.wait_event("signaling", timeout=40, where=lambda event: event["state"] == "resumed")
    notes.wait_moving_after(moved + 0.5, timeout=40)
    alice.drain()
    states = [event["state"] for event in alice.seen if event["event"] == "peer"]
    assert states[-1] in ("connected", "reconnecting") and "ended" not in states and page.data()["state"] == "call", states


@pytest.mark.feature("S0.56")
def test_the_line_to_the_hub_is_back_with_the_network(bed, hub, cast):
    """Nobody is called meanwhile: of the interface that is another only the system tells. By itself the client would ask the hub for a sign of
    life after 15 s, and wait 10 s for it."""
    url = hub(*option(bed.turn().url("stun")))
    with bed.alice:
        alice = cast("call", "--server", url, "--name", "alice", "--answer", "auto", "--no-window", "--audio", "none", "--test")
    alice.wait_event("registered")
    moved = time.monotonic()
    bed.move(bed.alice, bed.cafe)
    states = [alice.wait_event("signaling")["state"] for _ in range(2)]
    assert states == ["interrupted", "resumed"] and time.monotonic() - moved < 15
    with bed.bob:
        bob = cast("test", "--to", "alice", "--server", url, "--name", "bob", "--no-window", *CLOCK)
    for each in (bob, alice):
        each.wait_event("stats", where=lambda event: any(stream.get("frames_received", 0) > 5 for stream in event["streams"]))


@pytest.mark.feature("S0.48", "S1.5", peer="coturn")
def test_a_call_outlives_the_relay_that_carried_it(bed, calling):
    """coturn is killed and started again; it knows of no allocation."""
    turn = bed.turn()
    bed.nats("symmetric", "symmetric")
    _, notes = calling(turn, *option(turn.url()))
    killed = notes.mark()
    turn.kill()
    time.sleep(1)
    turn.start()
    notes.wait_moving_after(killed + 1, timeout=30)


@pytest.mark.feature("S0.48", "S1.5")
@pytest.mark.parametrize("kind", ["port-restricted", "symmetric"])
def test_a_nat_that_forgets_costs_a_moment(bed, calling, kind):
    """alice's router loses all it knows, her line to the hub included; a symmetric one maps to other ports from then on."""
    bed.nats(kind, kind)
    turn = bed.turn()
    _, notes = calling(turn, *(option(turn.url()) if kind == "symmetric" else []))
    forgotten = notes.mark()
    bed.home.forget()
    notes.wait_moving_after(forgotten + 0.5, timeout=30)


def test_a_laptop_that_sleeps_and_wakes_is_in_its_call_again(bed, calling):
    """Longer than the other side calls a moment."""
    alice, notes = calling(bed.turn())
    asleep = notes.mark()
    alice.process.send_signal(signal.SIGSTOP)
    time.sleep(7)
    alice.process.send_signal(signal.SIGCONT)
    notes.wait_moving_after(asleep + 7)


@pytest.mark.feature("S0.30", "S0.31", peer="coturn")
def test_credentials_that_expire_end_no_call(bed, calling):
    """The nonce is renewed, allocations are refreshed, and the user's time is over: what there is goes on."""
    turn = bed.turn(secret=True, options=["--stale-nonce=2", "--max-allocate-lifetime=6"])
    bed.nats("symmetric", "symmetric")
    _, notes = calling(turn, *option(turn.url(), *credentials(5)))
    start = notes.mark()
    notes.wait_moving_after(start + 10, timeout=15)
    assert notes.longest_gap(start) < 1
    assert turn.lines("refreshed") or turn.lines("REFRESH processed, success"), turn.log.read_text()[-3000:]


@pytest.mark.feature("S0.48")
def test_two_publications_to_one_port_are_kept_apart_and_one_moves(bed, hub, cast):
    """Both go from one host to the one port of `rtcast serve`; then the host goes to another network."""
    url = hub("--ice-server", bed.turn().url("stun"))
    with bed.alice:
        for name, pattern in (("one", "clock"), ("two", "bars")):
            each = cast("test", *CLOCK[2:], "--pattern", pattern, "--to", f"{url}whip/{name}")
            each.wait_event("peer", where=lambda e: e["state"] == "published")
    bars = Page(bed.browser("chromium", bed.bob), f"{url}watch?stream=two").wait_live()
    white, black = bars.picture()[60, [40, 600]].mean(axis=1)
    assert white > 230 and black < 25
    page = Page(bed.browser("chromium", bed.bob), f"{url}watch?stream=one").wait_live()
    assert_moving(page)
    notes = seen(page)
    moved = notes.mark()
    bed.move(bed.alice, bed.cafe)
    notes.wait_moving_after(moved + 0.5)
    assert notes.longest_gap(moved) <= SOON
