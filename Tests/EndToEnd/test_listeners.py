"""Where servers listen, and which addresses they tell: both IP versions, one alone, and a proxy in front."""

import re
import urllib.request

import pytest
from selenium.webdriver.support.ui import WebDriverWait

from harness import netns
from harness.rtcast import bearer, door
from test_whep import OFFER, request

pytestmark = pytest.mark.skipif(netns.missing() is not None, reason=str(netns.missing()))
V4, V6 = "10.78.0.1", "fd00:78::1"
FAMILIES = {"both": (V4, V6), "v4": (V4, None), "v6": (None, V6)}
OFF = ("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")


@pytest.fixture(params=FAMILIES)
def machine(request):
    """A computer on a network of both IP versions, or of one; and its addresses."""
    v4, v6 = FAMILIES[request.param]
    with netns.Network() as network:
        host = network.add(netns.Namespace, request.param)
        host.run("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "far0")
        if v6:
            host.run("sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=0", "net.ipv6.conf.lo.disable_ipv6=0")
            host.run("ip", "-6", "address", "add", f"{v6}/64", "dev", "eth0", "nodad")
        else:
            host.run(*OFF)
        if v4:
            host.run("ip", "address", "add", f"{v4}/24", "dev", "eth0")
        else:
            host.run("ip", "address", "del", "127.0.0.1/8", "dev", "lo")
        for name in ("eth0", "far0"):
            host.run("ip", "link", "set", name, "up")
        yield host, v4, v6


def answers(host, url):
    """Whether a page comes from a link, by a program of the machine."""
    address = url.split("#")[0]
    with host:
        with urllib.request.urlopen(address + "health", timeout=5) as answer:
            return answer.status == 200


@pytest.mark.parametrize("command", [["serve"], ["serve", "--listen", ":8091"], ["serve", "--listen", "[::]:8091"],
                                     ["test", "--size", "320x180", "--listen", ":0"]], ids=" ".join)
def test_every_address_means_those_of_both_ip_versions_and_every_link_works(machine, cast, command):
    host, v4, v6 = machine
    with host:
        event = cast(*command, env={"PORT": "8092"}).listening()
    links = [re.sub(r":\d+/.*", "", link.split("//")[1]) for link in event["urls"]]
    assert links == [each for each in (v4, v6 and f"[{v6}]") if each] + ["127.0.0.1" if v4 else "[::1]"], event["urls"]
    assert event["url"] == event["urls"][-1]
    for link in event["urls"]:
        assert answers(host, link), link


def test_every_ipv4_address_is_those_of_ipv4_alone(machine, cast):
    host, v4, v6 = machine
    if not (v4 and v6):
        return
    with host:
        event = cast("test", "--size", "320x180", "--listen", "0.0.0.0:0").listening()
    assert all("[" not in link for link in event["urls"]), event["urls"]
    with pytest.raises(OSError):
        answers(host, event["urls"][0].replace(v4, f"[{v6}]"))


def test_a_port_that_another_has_for_one_version_is_in_use(machine, cast):
    host, v4, v6 = machine
    if not (v4 and v6):
        return
    with host:
        cast("serve", "--listen", "[::1]:8093").listening()
        second = cast("serve", "--listen", ":8093")
        assert second.wait() != 0
    assert any("8093" in line and "in use" in line for line in second.stderr), second.stderr


# MARK: a proxy on the casting machine

CARDS = {"eth0": "10.77.0.1", "wg0": "10.77.2.1"}


@pytest.fixture(scope="module")
def host():
    """A computer with a network card that leads everywhere and a VPN that leads to its own network alone."""
    with netns.Network() as network:
        host = network.add(netns.Namespace, "proxied")
        for name, address in CARDS.items():
            host.add_card(name, address)
        host.run("ip", "route", "add", "default", "via", "10.77.0.254", "dev", "eth0")
        yield host


@pytest.mark.parametrize("headers, shows_vpn", [
    ({}, False), ({"Host": "10.77.2.1:443"}, True), ({"X-Forwarded-For": "10.77.2.9"}, True),
    ({"Forwarded": 'for="10.77.2.9:4711"'}, True), ({"X-Forwarded-Host": "10.77.2.1"}, True),
    ({"Host": "10.77.2.77"}, False), ({"X-Forwarded-For": "10.77.2.9, 198.51.100.7"}, False), ({"Host": "10.77.0.1"}, False),
    ({"X-Forwarded-For": "nonsense"}, False),
], ids=str)
def test_a_viewer_behind_a_proxy_on_this_machine_is_told_the_addresses_that_lead_to_it(cast, host, headers, shows_vpn):
    """The proxy's own address is 127.0.0.1, and says nothing."""
    with host:
        rtcast = cast("test", "--size", "320x180", "--listen", "127.0.0.1:0", "--host-name", "10.77.2.1", "--host-name", "10.77.2.77",
                      "--host-name", "10.77.0.1")
        listening = rtcast.listening()
        status, _, answer = request(door(listening), body=OFFER.encode(), headers=headers)
    assert status == 201, answer
    told = set(re.findall(r"a=candidate:\S+ 1 udp \d+ (\S+) \d+ typ host", answer))
    assert ("10.77.2.1" in told) == shows_vpn, told
    assert "10.77.0.1" in told or shows_vpn, told


# MARK: viewers that no way leads to

def test_a_viewer_that_no_way_leads_to_is_reported(cast, host):
    """Its offer names an address at which nobody is."""
    with host:
        rtcast = cast("test", "--size", "320x180", "--listen", "127.0.0.1:0")
        status, _, _ = request(door(rtcast.listening()), body=OFFER.encode())
    assert status == 201
    assert rtcast.wait_event("peer", timeout=20)["state"] == "delayed"
    event = rtcast.wait_event("peer", timeout=40)
    assert event["state"] == "failed" and event["remote"] == "127.0.0.1", event
    assert event["message"].startswith("A viewer at 127.0.0.1 could not connect"), event
    rtcast.interrupt()
    assert rtcast.wait() == 0
    assert any("A viewer at 127.0.0.1 could not connect" in line for line in rtcast.stderr), rtcast.stderr


def test_the_page_says_that_it_could_not_connect(cast, browser):
    """Neither side finds a way to the other, as behind a firewall that lets no UDP through: nothing was connected, so nothing was lost."""
    url = cast("test", "--size", "320x180").url()
    # To the page the cast is where nobody is, and the cast is told of no address of the page's.
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
        const set = RTCPeerConnection.prototype.setRemoteDescription;
        RTCPeerConnection.prototype.setRemoteDescription = function (description) {
          const sdp = description.sdp.replace(/^(a=candidate:\\S+ \\d \\S+ \\d+ )\\S+ \\d+/gm, "$1127.0.0.1 4999");
          return set.call(this, { type: description.type, sdp });
        };
        Object.defineProperty(RTCPeerConnection.prototype, "onicecandidate", { set() {} });"""})
    try:
        browser.get(url)
        WebDriverWait(browser, 60).until(lambda page: page.execute_script("return document.querySelector('#headline').textContent")
                                         == "Could not connect to the cast")
        detail = browser.execute_script("return document.querySelector('#detail').textContent")
        assert detail.startswith("The viewer's browser has named no address."), detail
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
