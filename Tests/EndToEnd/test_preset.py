"""Presets: by name, by path, overridden by flags, and wrong ones."""

import json

import pytest

from harness.rtcast import ROOT, run

NAMES = ["text", "slides", "motion", "file", "call", "low-bandwidth", "lan"]
CAST = ("test", "--pattern", "clock", "--size", "640x360")


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_starts(name):
    assert (ROOT / "presets" / f"{name}.json").exists()
    code, _, err = run(*CAST, "--preset", name, "--duration", "1")
    assert code == 0, err


def test_a_preset_sets_what_it_says_and_flags_win(cast):
    text = cast(*CAST, "--preset", "text").wait_event("stats")
    assert text["content_hint"] in ("detail", "text")
    motion = cast(*CAST, "--preset", "motion").wait_event("stats")
    assert motion["content_hint"] == "motion"
    mixed = cast(*CAST, "--preset", "motion", "--content-hint", "text").wait_event("stats")
    assert mixed["content_hint"] == "text"


def test_a_preset_by_path(cast, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"fps": 3, "contentHint": "motion"}))
    rtcast = cast(*CAST, "--preset", str(path))
    for _ in range(2):
        stats = rtcast.wait_event("stats")
    assert stats["content_hint"] == "motion" and stats["fps_captured"] <= 4


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
    assert code in (64, 66), (code, err)
    for word in ["wrong.json", *words]:
        assert word in err, (word, err)


def test_a_preset_that_is_no_json_or_not_there(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{ fps: ")
    code, _, err = run(*CAST, "--preset", str(path), "--duration", "1")
    assert code in (64, 66) and "broken.json" in err, (code, err)
    code, _, err = run(*CAST, "--preset", "no-such-preset", "--duration", "1")
    assert code in (64, 66) and "no-such-preset" in err and "motion" in err, (code, err)
