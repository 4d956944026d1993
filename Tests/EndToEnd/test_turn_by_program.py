"""TURN servers that a program is told of by a file or by its environment, or reaches through a web proxy: two rtcasts in a call by relay."""

import pytest

from harness.connect_proxy import ConnectProxy
from harness.reach import option, recorded

CLOCK = ["--pattern", "clock", "--size", "320x180", "--fps", "15"]


@pytest.fixture
def calling(bed, hub, cast, tmp_path):
    """alice calls bob with these options and this environment; what bob has received of her picture."""
    def call(turn, *options, env=None):
        url = hub()
        copy = tmp_path / "copy.mkv"
        with bed.bob:
            bob = cast("call", "--server", url, "--name", "bob", "--answer", "auto", "--no-window", "--record", str(copy), "--audio", "none",
                       *option(turn.url("stun")))
        bob.wait_event("registered")
        with bed.alice:
            alice = cast("test", "--to", "bob", "--server", url, "--name", "alice", "--no-window", *CLOCK, *options, env={**bed.trust(), **(env or {})})
        bob.wait_event("stats", timeout=40, where=lambda event: any(stream.get("frames_received", 0) > 20 for stream in event["streams"]))
        for each in (alice, bob):
            each.stop()
        numbers = recorded(copy)
        assert len(numbers) > 10 and None not in numbers and numbers == sorted(numbers), numbers
    return call


@pytest.mark.feature("S0.30", "S1.5", peer="coturn")
@pytest.mark.parametrize("place", ["file", "environment"])
def test_a_server_that_is_named_in_a_file_or_in_the_environment_relays(bed, calling, place, tmp_path):
    """`--ice-server-file` and RTCAST_ICE_SERVERS; nothing but the relay is allowed."""
    turn = bed.turn()
    server = option(turn.url())[1]
    if place == "file":
        listed = tmp_path / "servers"
        listed.write_text(f"# Ours\n\n{server}\n")
        listed.chmod(0o600)
        calling(turn, "--ice-policy", "relay", "--ice-server-file", str(listed))
    else:
        calling(turn, "--ice-policy", "relay", env={"RTCAST_ICE_SERVERS": f"stun:{turn.host.address} {server}"})
    assert turn.lines("new", "username=<ada>"), turn.log.read_text()[-2000:]


@pytest.mark.feature("S0.31", "S1.5", peer="coturn")
def test_a_relay_is_reached_by_tls_through_a_web_proxy(bed, calling):
    """alice's firewall lets out nobody but to port 443, where the proxy is, and the TURN server has another port."""
    turn = bed.turn(options=["--tls-listening-port=5349"])
    proxy = ConnectProxy(bed.carol, 443)
    try:
        bed.nats("https-only", "symmetric")
        calling(turn, *option(turn.url("turns", port=5349)), env={"https_proxy": proxy.url()})
        assert proxy.targets and set(proxy.targets) == {f"{turn.host.address}:5349"}, proxy.targets
        assert turn.lines("session", bed.carol.address), "the TURN server's client is the proxy"
    finally:
        proxy.close()
