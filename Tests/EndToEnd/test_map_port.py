"""`--map-port`: a home router forwards the ports of a cast, and a browser outside sees it. The router is miniupnpd."""

import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from harness.reach import Page, assert_moving
from harness.rtcast import run

CLOCK = ["--pattern", "clock", "--size", "640x360", "--fps", "15"]
# miniupnpd refuses to forward ports of addresses that are kept for examples.
OUTSIDE = "5.9.0.1"
CHAINS = """
    table inet filter {
        chain forward {
            type filter hook forward priority 0
            jump miniupnpd
        }
        chain miniupnpd {
        }
        chain prerouting {
            type nat hook prerouting priority -100
            jump prerouting_miniupnpd
        }
        chain prerouting_miniupnpd {
        }
        chain postrouting {
            type nat hook postrouting priority 100
            jump postrouting_miniupnpd
        }
        chain postrouting_miniupnpd {
        }
    }
"""


class HomeRouter:
    """miniupnpd on a site's router, with an address outside that the others reach."""

    def __init__(self, site, others):
        self.site = site
        site.run("ip", "address", "add", f"{OUTSIDE}/32", "dev", "wan")
        for other in others:
            other.run("ip", "route", "replace", OUTSIDE, "dev", f"eth{other.plugged - 1}")
        site.run("nft", "-f", "-", input=CHAINS)
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        (folder / "conf").write_text(f"ext_ifname=wan\next_ip={OUTSIDE}\nlistening_ip=lan\nenable_natpmp=yes\nenable_upnp=no\nport=0\n"
                                     f"uuid=00000000-0000-0000-0000-000000000001\nlease_file={folder}/leases\nallow 1024-65535 0.0.0.0/0 1024-65535\n")
        with site:
            self.process = subprocess.Popen(["/usr/sbin/miniupnpd", "-d", "-f", folder / "conf", "-P", folder / "pid"],
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert any("Listening for NAT-PMP/PCP" in line for line in self.process.stdout)

    def rules(self):
        return self.site.run("nft", "list", "chain", "inet", "filter", "prerouting_miniupnpd")

    def close(self):
        self.process.terminate()
        self.process.communicate()
        self.folder.cleanup()


def told(rtcast, sentence):
    deadline = time.monotonic() + 20
    while not any(sentence in line for line in rtcast.stderr):
        assert time.monotonic() < deadline, rtcast.stderr
        time.sleep(0.05)


@pytest.fixture
def router(bed):
    """Of alice's home, which carol reaches."""
    made = []

    def make():
        made.append(HomeRouter(bed.home, [bed.carol]))
        return made[-1]
    yield make
    for one in made:
        one.close()
        bed.home.run("ip", "address", "del", f"{OUTSIDE}/32", "dev", "wan")
        bed.home.run("nft", "delete", "table", "inet", "filter")


def test_a_browser_outside_sees_a_cast_whose_ports_the_router_forwards(bed, cast, router):
    """carol has the printed link, and no server between."""
    home = router()
    with bed.alice:
        rtcast = cast("test", *CLOCK, "--listen", "0.0.0.0:8080", "--udp-port", "5000", "--map-port")
        link = rtcast.wait_event("mapped")["url"]
    assert link.startswith(f"http://{OUTSIDE}:8080/#token=")
    page = Page(bed.browser("chromium", bed.carol), link).wait_live()
    assert_moving(page)
    assert f"dnat ip to {bed.alice.address}:5000" in home.rules() and f"dnat ip to {bed.alice.address}:8080" in home.rules()
    rtcast.stop()
    deadline = time.monotonic() + 10
    while "dnat" in home.rules():
        assert time.monotonic() < deadline, "the ports stay open"
        time.sleep(0.1)


def test_a_router_that_knows_nothing_of_it_is_named(bed, cast):
    with bed.dave:
        rtcast = cast("test", *CLOCK, "--listen", "0.0.0.0:8080", "--map-port")
        rtcast.url()
    told(rtcast, "The router does not forward the page's port 8080 (TCP): it answers neither PCP nor NAT-PMP.")


def test_a_page_for_this_machine_alone_is_not_mapped():
    code, _, err = run("test", "--map-port")
    assert code == 64 and "--listen 0.0.0.0:0" in err
    code, _, err = run("call", "bob", "--server", "ws://127.0.0.1:1", "--map-port")
    assert code == 64 and "--map-port is for casts and hubs" in err
