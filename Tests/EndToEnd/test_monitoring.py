"""What Prometheus and Grafana are given: each figure that the rules, the dashboard and the page name is one of a running cast or hub."""

import json
import re
import urllib.error
import urllib.request
from urllib.parse import urljoin

import pytest

from harness.rtcast import ROOT, bearer

FOLDER = ROOT / "packaging/monitoring"
NAME = re.compile(r"\brtcast_[a-z_]+[a-z]\b")


def figures(listening):
    """The names of the figures, with the values of those that have no label."""
    message = urllib.request.Request(urljoin(listening["url"], "metrics"), headers=bearer(listening))
    with urllib.request.urlopen(message, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        text = answer.read().decode()
    values = {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            values.setdefault(line.split()[2], None)
        elif not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            assert name.split("{")[0] in values, f"{name} without a type"
            values[name] = float(value)
    return values


@pytest.fixture(scope="module")
def known(request):
    from harness.rtcast import Rtcast
    running = [Rtcast("test", "--pattern", "clock", "--fps", "10", "--size", "320x180"), Rtcast("serve", "--listen", "127.0.0.1:0", "--token", "x" * 16, "--turn", "--turn-port", "0")]
    yield [figures(each.listening()) for each in running]
    for each in running:
        each.stop()


def test_a_cast_has_figures(cast):
    ours = cast("test", "--pattern", "clock", "--fps", "10", "--size", "320x180")
    listening = ours.listening()
    ours.wait_event("stats", where=lambda event: event["fps_captured"] > 0)
    found = figures(listening)
    assert found["rtcast_live"] == 1 and found["rtcast_viewers"] == 0 and found["rtcast_frames_captured_total"] > 0
    assert found["rtcast_processor_seconds_total"] > 0
    assert found['rtcast_datagrams_dropped_total{reason="send_queue_full"}'] == 0
    for reason in ("busy", "bitrate", "unchanged", "exact"):
        assert 0 <= found[f'rtcast_frames_left_out_total{{reason="{reason}"}}'] <= found["rtcast_frames_captured_total"]
    message = urllib.request.Request(urljoin(listening["url"], "metrics"))
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(message, timeout=10)


def test_a_refused_offer_is_counted(cast):
    listening = cast("test", "--pattern", "clock", "--fps", "10", "--size", "320x180").listening()
    before = figures(listening)['rtcast_refused_total{what="description"}']
    message = urllib.request.Request(listening["whep"], data=b"v=0\r\nx", method="POST",
                                     headers={"Content-Type": "application/sdp", **bearer(listening)})
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(message, timeout=10)
    assert figures(listening)['rtcast_refused_total{what="description"}'] == before + 1


@pytest.mark.parametrize("place", [FOLDER / "rules.yml", FOLDER / "dashboard.json", ROOT / "docs/operations.md"], ids=lambda place: place.name)
def test_each_figure_that_is_named_exists(known, place):
    text = place.read_text()
    if place.suffix == ".json":
        assert json.loads(text)["panels"]
    names = set(NAME.findall(text)) - {"rtcast_hub"}
    existing = set().union(*known)
    assert len(names) > 5 and names <= existing, names - existing
