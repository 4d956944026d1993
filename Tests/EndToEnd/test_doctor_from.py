"""`rtcast doctor --ice --from`: a hub tries ports of a machine at home, through real NATs and firewalls."""

import socket
import urllib.error
import urllib.request

import pytest

from harness.reach import HUB_PORT
from test_doctor_ice import doctor, one
from test_reasons import PORT


def tried(bed, host, *arguments, url=None):
    """(whether UDP arrives, whether TCP does, where, the advice of each) of the port that tests forward."""
    code, checks, err = doctor(host, "--from", url or f"http://{bed.hub_host.address}:{HUB_PORT}", "--udp-port", str(PORT), *arguments)
    assert code == 0, err
    udp, tcp = one(checks, f"UDP {PORT}"), one(checks, f"TCP {PORT}")
    assert udp["address"] == tcp["address"] and udp["from"] == bed.hub_host.address, checks
    return udp["reached"], tcp["reached"], udp["address"], (udp["advice"], tcp["advice"])


def test_a_port_behind_a_NAT_is_reached_if_the_router_forwards_it(bed, hub):
    hub()
    reached = tried(bed, bed.alice)
    assert reached[:3] == (False, False, bed.home.address)
    assert all(f"port {PORT} at the router" in advice for advice in reached[3])
    # The router forwards the port of the same number, by UDP alone.
    rule = f'iifname "wan" udp dport {PORT} dnat to {bed.alice.address}:{PORT}'
    bed.home.run("nft", "-f", "-", input=f"table ip outside {{\nchain in {{ type nat hook prerouting priority -105; {rule}; }}\n}}")
    reached = tried(bed, bed.alice)
    assert reached[:2] == (True, False) and reached[3][0] is None


def test_a_firewall_of_the_machine_keeps_the_hub_out(bed, hub):
    hub()
    assert tried(bed, bed.carol)[:3] == (True, True, bed.carol.address)
    bed.carol.guard()
    try:
        udp, _, _, (advice, _) = tried(bed, bed.carol)
        assert not udp and advice.startswith(f"Let UDP port {PORT} in at the firewall of this machine")
    finally:
        bed.carol.guard(False)


def test_what_cannot_be_tried_is_said_with_what_to_do(bed, cast):
    with bed.hub_host:
        url = cast("serve", "--token", "s3cret", "--listen", f"{bed.hub_host.address}:{HUB_PORT}").url().split("#")[0]
    code, _, err = doctor(bed.alice, "--from", url)
    assert code == 77 and "does not let this machine ask" in err
    assert tried(bed, bed.carol, "--token", "s3cret", url=url)[:2] == (True, True)
    with bed.carol, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("0.0.0.0", PORT))
        code, _, err = doctor(bed.carol, "--from", url, "--token", "s3cret", "--udp-port", str(PORT))
    assert code == 69 and f"Port {PORT} is taken by another program" in err
    with bed.hub_host:
        page = cast("test", "--listen", f"{bed.hub_host.address}:8081", "--open").url()
    code, _, err = doctor(bed.carol, "--from", page)
    assert code == 69 and "cannot try ports" in err
    code, _, err = doctor(bed.carol, "--from", "example")
    assert code == 64 and "--from takes a hub's address" in err


@pytest.mark.parametrize("headers", [{}, {"X-Forwarded-For": "198.51.100.7"}, {"Via": "1.1 proxy"}])
def test_a_hub_tries_no_port_of_its_own_machine_or_of_a_proxy(headers, cast):
    """A proxy on the same machine, or one that nobody has named, would be what is tried."""
    url = cast("serve", "--open", "--listen", "127.0.0.1:0").url()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        request = urllib.request.Request(f"{url}reach?tcp={port}&key=abcdef12", method="POST", headers=headers)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        assert refused.value.code == 409
        listening.settimeout(0.5)
        with pytest.raises(TimeoutError):
            listening.accept()


def test_an_unnamed_proxy_elsewhere_is_not_tried(bed, hub):
    """A request by way of a proxy that the hub does not trust, from another machine."""
    url = hub()
    with bed.carol:
        request = urllib.request.Request(f"{url}reach?tcp=22&key=abcdef12", method="POST", headers={"X-Forwarded-For": "198.51.100.7"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
    assert refused.value.code == 409
