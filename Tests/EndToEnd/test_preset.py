"""Presets: by name, by path, overridden by flags, and wrong ones."""

import json
import statistics

import pytest

from harness.browser import Viewer
from harness.rtcast import ROOT, run

NAMES = ["text", "slides", "motion", "file", "call", "low-bandwidth", "lan"]
CAST = ("test", "--pattern", "clock", "--size", "640x360")


# Keys of `video`, what a rate log calls them, and their defaults (presets/README.md).
RATES = {
    "minBitrate": ("minimum_bps", 100_000),
    "maxBitrate": ("maximum_bps", 6_000_000),
    "startBitrate": ("start_bps", 1_000_000),
    "bitrateStepUp": ("step_up", 0.15),
    "bitrateStepDown": ("step_down", 0.15),
    "bitrateStepCriticalDown": ("critical_step_down", 0.25),
    "criticalPacketLossThreshold": ("critical_loss", 0.1),
    "highPacketLossThreshold": ("high_loss", 0.05),
    "lowPacketLossThreshold": ("low_loss", 0.01),
}


def of_kind(log, name):
    return [event for event in log if event["event"] == name]


@pytest.mark.quiet("the pace of frames")
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.alone("60 frames per second, which a browser shows")) if name == "file" else name for name in NAMES])
def test_every_preset_casts_as_its_file_says(name, cast, browser, tmp_path):
    preset = json.loads((ROOT / "presets" / f"{name}.json").read_text())
    path = tmp_path / "cast.jsonl"
    rtcast = cast("test", "--pattern", "clock", "--preset", name, "--rtc-log", str(path))
    Viewer(browser, rtcast.url()).wait_live()
    stats = rtcast.wait_event("stats", where=lambda event: event["viewers"] == 1 and event["target_bps"] > 0)
    assert stats["content_hint"] == preset["contentHint"]
    assert f"{stats['width']}x{stats['height']}" == preset.get("size", "1280x720")
    rates = [rtcast.wait_event("stats")["fps_captured"] for _ in range(3)]
    assert abs(statistics.median(rates) / preset["fps"] - 1) < 0.15, rates

    rtcast.interrupt()
    assert rtcast.wait() == 0
    log = [json.loads(line) for line in path.read_text().splitlines()]
    # What the estimator was told.
    video = preset["video"]
    limits = {field: video.get(key, default) for key, (field, default) in RATES.items()}
    [started] = of_kind(log, "started")
    assert {field: started[field] for field in limits} == limits
    # What came of it: it begins at the start rate, tries the network up to the maximum, and leaves the bounds at no time.
    targets = [event["target_bps"] for event in of_kind(log, "estimate")]
    assert targets[0] == video["startBitrate"]
    assert max(event["rate_bps"] for event in of_kind(log, "probe")) == video["maxBitrate"]
    assert limits["minimum_bps"] <= min(targets) and max(targets) <= video["maxBitrate"]
    assert stats["target_bps"] in targets, "the picture's rate is what the estimator decided"


def test_a_preset_sets_what_it_says_and_flags_win(cast):
    text = cast(*CAST, "--preset", "text").wait_event("stats")
    assert text["content_hint"] == "text"
    motion = cast(*CAST, "--preset", "motion").wait_event("stats")
    assert motion["content_hint"] == "motion"
    mixed = cast(*CAST, "--preset", "motion", "--content-hint", "text").wait_event("stats")
    assert mixed["content_hint"] == "text"


def test_a_preset_by_path(cast, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"fps": 3, "contentHint": "motion"}))
    rtcast = cast(*CAST, "--preset", str(path))
    stats = [rtcast.wait_event("stats") for _ in range(4)]
    assert {event["content_hint"] for event in stats} == {"motion"}
    # From the first to the last whole second.
    assert abs(sum(event["fps_captured"] for event in stats[1:]) / 3 - 3) < 0.4, stats


def test_a_file_beside_the_user_takes_no_built_in_name(tmp_path, monkeypatch):
    (tmp_path / "presets").mkdir()
    for name in ("text", "mine"):
        (tmp_path / "presets" / f"{name}.json").write_text("{ broken")
    monkeypatch.chdir(tmp_path)
    assert run(*CAST, "--preset", "text", "--duration", "1")[0] == 0
    code, _, err = run(*CAST, "--preset", "mine", "--duration", "1")
    assert code == 64 and "There is no preset mine" in err, (code, err)


WRONG = {
    "an unknown key": ({"fpss": 5}, ["fpss", "fps"]),
    "a value out of range": ({"fps": 100000}, ["fps", "240"]),
    "a value of the wrong kind": ({"fps": "many"}, ["fps"]),
    "a hint unheard of": ({"contentHint": "sparkle"}, ["contentHint", "motion"]),
    "a codec unheard of": ({"codec": "XYZ"}, ["codec"]),
    "no object": ([1, 2], []),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_a_wrong_preset_is_refused_with_key_file_and_what_is_allowed(name, tmp_path):
    content, words = WRONG[name]
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(content))
    code, _, err = run(*CAST, "--preset", str(path), "--duration", "1")
    assert code == 64, (code, err)
    for word in ["wrong.json", *words]:
        assert word in err, (word, err)


def test_a_preset_that_is_no_json_or_not_there(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{ fps: ")
    code, _, err = run(*CAST, "--preset", str(path), "--duration", "1")
    assert code == 64 and "broken.json" in err, (code, err)
    code, _, err = run(*CAST, "--preset", "no-such-preset", "--duration", "1")
    assert code == 64 and "no-such-preset" in err and "motion" in err, (code, err)
