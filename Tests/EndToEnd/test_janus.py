"""Publishing by WHIP to Janus, from behind a NAT; and watching what it passes on in a browser behind another."""

import time

import pytest

from harness import janus
from harness.coturn import PASSWORD, USER
from harness.page_peer import PagePeer
from harness.reach import assert_moving

CLOCK = ["--pattern", "clock", "--size", "640x360", "--fps", "15"]


def furnish(bed):
    if why := janus.missing():
        pytest.skip(why)
    bed.cafe = bed.network.site("cafe")
    bed.janus_host = bed.network.server("janus", 40)


@pytest.fixture
def start(bed):
    """Starts Janus; another time in its place."""
    started = []

    def start(**options):
        while started:
            started.pop().stop()
        started.append(janus.Janus(bed.janus_host, **options))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture(params=[False, True], ids=["full", "lite"])
def server(request, start):
    return start(lite=request.param)


def publish(bed, cast, server, *options):
    with bed.alice:
        ours = cast("test", *CLOCK, "--to", server.url, *options)
    ours.wait_event("peer", where=lambda e: e["state"] == "published")
    return ours


def watch(bed, server, feed):
    """A page in the office that Janus shows this publication."""
    offer, take = server.subscribe(feed)
    page = PagePeer(bed.browser("chromium", bed.bob))
    take(page.answer(offer))
    deadline = time.monotonic() + 15
    while not page.script("return document.querySelector('video')?.videoWidth > 2"):
        assert time.monotonic() < deadline, f"no picture; {page.state()}; {server.log()[-2000:]}"
        time.sleep(0.05)
    return page


def test_janus_passes_on_what_is_published_to_it(bed, cast, server):
    """Two publications from one host; the first ends with its resource deleted."""
    first = publish(bed, cast, server)
    publish(bed, cast, server)
    for feed in (2, 1):
        assert_moving(watch(bed, server, feed))
    first.interrupt()
    assert first.wait() == 0
    assert ("DELETE", "/resource/1") in server.requests


@pytest.mark.feature("S0.48", "S3.49", peer="Janus, Chromium")
def test_a_publication_goes_on_from_another_network(bed, cast, server):
    """The host's interface is replaced: another address, another NAT; ICE is restarted by PATCH."""
    publish(bed, cast, server)
    assert_moving(watch(bed, server, 1))
    bed.move(bed.alice, bed.cafe)
    deadline = time.monotonic() + 10
    while "restart" not in {how for how, _ in server.patches}:
        assert time.monotonic() < deadline, server.requests
        time.sleep(0.05)
    # To those who watched before a restart Janus 1.1 passes nothing on.
    assert_moving(watch(bed, server, 1))


@pytest.mark.feature("S1.5", peer="Janus, coturn")
def test_links_of_the_server_lead_around_a_firewall(bed, cast, start):
    """The relay is known only from the answer, in LiveKit's spelling; its candidate reaches the server by PATCH."""
    relay = f'<turn:{bed.turn().host.address}%3Ftransport=tcp>; rel="ice-server"; username="{USER}"; credential="{PASSWORD}"'
    server = start(links=[relay])
    bed.nats("udp-blocked", "port-restricted")
    publish(bed, cast, server)
    assert_moving(watch(bed, server, 1))
    assert any("typ relay" in fragment for _, fragment in server.patches)


def test_a_publication_returns_to_a_server_that_was_restarted(bed, cast, start):
    """Which knows nothing of it: not its resource, and not its connection."""
    server = start()
    publish(bed, cast, server)
    assert_moving(watch(bed, server, 1))
    server = start()
    assert_moving(watch(bed, server, 1))
