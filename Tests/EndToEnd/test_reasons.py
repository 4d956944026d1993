"""Why a viewer is not connected, and what to do: read on the viewer's page, and told by the cast, in networks of namespaces. And the remedy for
some: an address that is advertised."""

import time

import pytest

from harness.browser import chromium
from harness.coturn import PASSWORD, USER
from harness.reach import PAGE_PORT, Page, assert_moving

CLOCK = ["test", "--pattern", "clock", "--size", "640x360", "--fps", "15", "--token", "sesame"]
PORT, OUTSIDE = 5000, 6000


def filtered(host, *rules):
    """Rules of a host's own firewall, until the end of the test."""
    body = "".join(f"chain c{number} {{ type filter hook {rule.split(' ', 1)[0]} priority 0; {rule.split(' ', 1)[1]} }}\n"
                   for number, rule in enumerate(rules))
    host.run("nft", "-f", "-", input=f"table ip wall {{ {body} }}")
    return lambda: host.run("nft", "delete", "table", "ip", "wall")


@pytest.fixture
def wall():
    undo = []
    yield lambda host, *rules: undo.append(filtered(host, *rules))
    for each in undo:
        each()


@pytest.fixture(scope="module")
def plain_browsers(built):
    """Browsers that show the addresses of their machines, as they do for pages that may use a camera."""
    browser = chromium(flags=("--disable-features=WebRtcHideLocalIpsWithMdns",), host=built.dave)
    yield {"dave": browser}
    browser.quit()


def begin(cast, host, *options, **more):
    with host:
        ours = cast(*CLOCK, "--listen", f"{host.address}:{PAGE_PORT}", "--udp-port", str(PORT), *options, **more)
    return ours, ours.url()


def reasons(ours, viewer):
    """What the cast says and what the page says; each within six seconds."""
    told = ours.wait_event("peer", 8, where=lambda event: event["state"] == "delayed")
    shown = viewer.until("document.getElementById('detail').textContent.includes('. ') && document.getElementById('detail').textContent", 8)
    return told["message"], shown


def from_outside(bed, url):
    """A viewer in the office; the router at home forwards the page's port, and no other."""
    bed.home.forward(PAGE_PORT, bed.alice)
    return Page(bed.browser("chromium", bed.bob), url.replace(bed.alice.address, bed.home.address))


def forward_udp(site, host, tcp=False):
    kind = "tcp" if tcp else "udp"
    site.run("nft", "-f", "-", input="table ip outside { chain in { type nat hook prerouting priority -105; "
             f'iifname "wan" {kind} dport {OUTSIDE} dnat to {host.address}:{PORT} }} }}')


# Reasons.

def test_a_port_that_a_firewall_blocks(bed, cast, wall):
    """The browser hides its addresses behind names, and the firewall keeps those from being looked up as well."""
    wall(bed.alice, "input meta l4proto udp drop")
    ours, url = begin(cast, bed.alice)
    told, shown = reasons(ours, Page(bed.browser("chromium", bed.dave), url))
    for text in told, shown:
        assert text.startswith(f"UDP port {PORT} of {bed.alice.address} does not answer"), text
        assert "Open the port in the firewall of the casting machine, or cast with --ice-tcp." in text


def test_a_filter_that_lets_nothing_in(bed, cast, wall, plain_browsers):
    """The viewer sees packets of the cast: only its own are lost."""
    wall(bed.alice, "input meta l4proto udp drop")
    ours, url = begin(cast, bed.alice)
    told, shown = reasons(ours, Page(plain_browsers["dave"], url))
    assert told.startswith(f"UDP port {PORT} of {bed.alice.address} does not answer. Open it"), told
    assert shown.startswith(f"Packets of the casting machine arrive at the viewer, but UDP port {PORT} of {bed.alice.address} gets none"), shown


def test_a_filter_that_lets_nothing_out(bed, cast, wall):
    wall(bed.alice, f"output udp sport {PORT} drop")
    ours, url = begin(cast, bed.alice)
    for text in reasons(ours, Page(bed.browser("chromium", bed.dave), url)):
        assert text.startswith("The viewer's packets arrive at the casting machine, but its answers do not arrive"), text


def test_a_private_address_without_advertise(bed, cast):
    bed.nats("port-restricted", "symmetric")
    ours, url = begin(cast, bed.alice)
    for text in reasons(ours, from_outside(bed, url)):
        assert text.startswith("The casting machine has only private addresses") and "--advertise" in text


def test_an_advertised_address_that_is_wrong(bed, cast):
    bed.nats("port-restricted", "symmetric")
    ours, url = begin(cast, bed.alice, "--advertise", f"{bed.home.address}:{OUTSIDE}")
    for text in reasons(ours, from_outside(bed, url)):
        assert text.startswith(f"UDP port {OUTSIDE} of {bed.home.address}, the address of --advertise, does not answer."), text


def test_two_nats_that_do_not_fit(bed, cast):
    turn = bed.turn()
    bed.nats("symmetric", "symmetric")
    ours, url = begin(cast, bed.alice, "--ice-server", turn.url("stun"))
    for text in reasons(ours, from_outside(bed, url)):
        assert text.startswith("The NATs in front of the casting machine and of the viewer") and "TURN server" in text


def test_relays_only_and_none_works(bed, cast):
    ours, url = begin(cast, bed.alice, "--ice-policy", "relay", "--ice-server", f"turn:{bed.turn_host.address},{USER},{PASSWORD}")
    for text in reasons(ours, Page(bed.browser("chromium", bed.dave), url)):
        assert text.startswith("The cast uses relays only, and no TURN server works."), text


def test_a_viewer_that_connects_is_told_nothing(bed, cast):
    ours, url = begin(cast, bed.alice)
    viewer = Page(bed.browser("chromium", bed.dave), url).wait_live()
    time.sleep(3.5)   # the time after which a reason would be named
    ours.drain()
    assert not [event for event in ours.seen if event["event"] == "peer" and event["state"] == "delayed"]
    assert viewer.script("return document.getElementById('detail').textContent") == ""


# The remedy.

def test_a_forwarded_port_is_reached_when_it_is_advertised(bed, cast):
    bed.nats("port-restricted", "symmetric")
    ours, url = begin(cast, bed.alice, "--advertise", f"{bed.home.address}:{OUTSIDE}")
    bed.home.forward(PAGE_PORT, bed.alice)
    forward_udp(bed.home, bed.alice)
    viewer = Page(bed.browser("chromium", bed.bob), url.replace(bed.alice.address, bed.home.address)).wait_live()
    assert_moving(viewer)
    # On the same network nothing has changed.
    assert_moving(Page(bed.browser("chromium", bed.dave), url).wait_live())


def test_a_forwarded_TCP_port_as_well(bed, cast):
    bed.nats("port-restricted", "udp-blocked")
    ours, url = begin(cast, bed.alice, "--ice-tcp", "--advertise", f"{bed.home.address}:{OUTSIDE}")
    bed.home.forward(PAGE_PORT, bed.alice)
    forward_udp(bed.home, bed.alice, tcp=True)
    viewer = Page(bed.browser("chromium", bed.bob), url.replace(bed.alice.address, bed.home.address)).wait_live()
    assert_moving(viewer)


def test_a_name_that_is_not_found_ends_nothing(bed, cast):
    ours, url = begin(cast, bed.alice, "--advertise", "nowhere.invalid:6000")
    Page(bed.browser("chromium", bed.dave), url).wait_live()
    assert any("nowhere.invalid of --advertise was not found" in line for line in ours.stderr), ours.stderr
