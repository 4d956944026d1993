"""`rtcast watch` with a peer or a room of a hub: what the peer sends is received, and nothing is sent."""

import pytest

from harness.reach import recorded

CLOCK = ("--pattern", "clock", "--size", "320x180", "--fps", "15")


@pytest.fixture
def hub(cast, tmp_path):
    """A hub by TLS, and what makes rtcast trust its certificate."""
    event = cast("serve", "--listen", "127.0.0.1:0", "--tls", env={"XDG_STATE_HOME": str(tmp_path)}).listening()
    return event["url"].replace("https", "wss"), {"SSL_CERT_FILE": str(tmp_path / "rtcast/serve-certificate.pem")}


@pytest.mark.parametrize("way", ["name", "room", "address"])
def test_a_peer_is_watched(cast, hub, way, tmp_path):
    """`watch NAME --server`, `watch room:NAME --server` and `watch wss://HOST/NAME`: the recording has the peer's pictures."""
    address, trust = hub
    base, _, fragment = address.partition("#")
    copy = tmp_path / "copy.mkv"
    if way == "room":
        alice = cast("test", "--to", "room:talk", "--server", address, "--name", "alice", "--no-window", *CLOCK, env=trust)
    else:
        alice = cast("call", "--server", address, "--name", "alice", "--answer", "auto", "--no-window", "--test", "--audio", "none", env=trust)
    alice.wait_event("registered")
    what = {"name": ["alice", "--server", address], "room": ["room:talk", "--server", address],
            "address": [base + "alice" + (f"#{fragment}" if fragment else "")]}[way]
    bob = cast("watch", *what, "--name", "bob", "--no-window", "--record", str(copy), env=trust)
    bob.wait_event("stats", where=lambda event: any(stream.get("frames_received", 0) > 20 for stream in event["streams"]))
    bob.interrupt()
    assert bob.wait() == 0
    told = [(event["event"], event["id"]) for event in bob.seen if event["event"] == "track" or event.get("state") == "connected"]
    assert ("peer", "alice") in told and ("track", "alice") in told, told
    numbers = recorded(copy)
    assert len(numbers) > 10 and numbers == sorted(numbers) and None not in numbers, numbers
    alice.drain()
    assert not [event for event in alice.seen if event["event"] == "track"], "the watcher sends nothing"
