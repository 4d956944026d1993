"""`rtcast doctor --ice`: every server of coturn's and none, a hub's and a service's, as a person and a program read it."""

import json

import pytest

from harness import coturn, json_page
from harness.coturn import PASSWORD, USER
from harness.reach import HUB_PORT
from harness.rtcast import run


def doctor(host, *arguments, **options):
    """What it says of each check, and its exit status."""
    with host:
        code, out, err = run("doctor", "--ice", *arguments, "--json", **options)
    checks = [json_page.check(json.loads(line), "doctor") for line in out.splitlines()]
    return code, checks, err


def one(checks, name, field="check"):
    found = [check for check in checks if check[field] == name]
    assert found, (name, checks)
    return found[0]


@pytest.mark.feature("S0.48", "S1.4", peer="coturn")
def test_a_stun_server_shows_the_address_of_the_nat(bed):
    turn = bed.turn()
    code, checks, err = doctor(bed.alice, "--ice-server", turn.url("stun"))
    server = one(checks, turn.url("stun"))
    assert server["verdict"] == "works" and server["mapped"].startswith(bed.home.address), checks
    assert {"host", "srflx"} <= {check["check"] for check in checks if "candidate" in check}
    assert one(checks, "NAT")["mapping"] == "some" and one(checks, "direct")["verdict"] == "works"
    assert code == 0, err


@pytest.mark.feature("S0.30", "S0.31", "S1.5", peer="coturn")
def test_a_relay_is_tried_by_a_connection_of_its_own(bed):
    turn = bed.turn()
    code, checks, err = doctor(bed.alice, "--ice-server", f"{turn.url()},{USER},{PASSWORD}")
    relays = [check for check in checks if check["check"] == turn.url()]
    assert [check["verdict"] for check in relays] == ["works", "works"], checks
    assert relays[0]["relayed"].startswith(bed.turn_host.address) and relays[1]["connected_ms"] > 0
    assert code == 0, err


def test_what_does_not_work_is_said_with_what_to_do(bed):
    turn = bed.turn()
    gone = f"stun:{bed.hub_host.address}:3999"
    code, checks, err = doctor(bed.alice, "--ice-server", f"{turn.url()},{USER},wrong", "--ice-server", gone, "--ice-server",
                               "stun:no.such.host.invalid")
    for name in (turn.url(), gone, "stun:no.such.host.invalid"):
        check = one(checks, name)
        assert check["verdict"] == "fails" and check["failure"] and check["advice"], check
    assert code == 69 and "do not work" in err or "does not work" in err


@pytest.mark.feature("S0.29", peer="coturn")
def test_the_servers_of_a_hub_and_of_a_service_are_asked(bed, cast):
    turn = bed.turn(secret=True)
    with bed.hub_host:
        hub = cast("serve", "--open", "--listen", f"{bed.hub_host.address}:{HUB_PORT}", "--turn-url", turn.url(), "--turn-secret", coturn.SECRET)
    page = hub.url()
    for url in (page.replace("http", "ws"), page + "whip/x"):
        _, checks, err = doctor(bed.alice, url)
        assert one(checks, turn.url())["verdict"] == "works", (url, checks, err)


def test_the_turn_server_in_a_hub_is_asked_and_relays_to_itself(bed, cast):
    """Both ends of the connection that is tried have their relays at the same hub."""
    with bed.hub_host:
        hub = cast("serve", "--open", "--listen", f"{bed.hub_host.address}:{HUB_PORT}", "--turn")
    listening = hub.listening()
    code, checks, err = doctor(bed.alice, listening["url"].replace("http", "ws"))
    for url in listening["turn"]:
        assert [check["verdict"] for check in checks if check["check"] == url] == ["works", "works"], (url, checks)
    assert code == 0, err


def test_a_person_reads_it_in_sections(bed):
    turn = bed.turn()
    with bed.alice:
        code, out, err = run("doctor", "--ice", "--ice-server", turn.url("stun"), "--udp-port", "5000")
    assert code == 0, (out, err)
    for title in ("Addresses", "STUN and TURN servers", "Candidates", "Network", "Connections between two ends on this machine"):
        assert f"{title}\n" in out, out
    assert "5000" in out and bed.home.address in out
