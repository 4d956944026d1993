"""Rate logs of real casts: written, drawn, replayed."""

import json
import xml.etree.ElementTree

import pytest

from harness.browser import Viewer
from harness.rtcast import run


@pytest.fixture
def log(cast, browser, tmp_path):
    """Of a cast that a browser has watched for a moment."""
    path = tmp_path / "cast.jsonl"
    process = cast("test", "--pattern", "scroll-text", "--size", "640x360", "--rtc-log", str(path))
    viewer = Viewer(browser, process.url()).wait_live()
    viewer.until("document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > 60")
    process.interrupt()
    assert process.wait() == 0
    return path


def test_a_real_cast_is_logged_drawn_and_replayed(log):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[0]["event"] == "opened" and lines[0]["rate_control"] == "gcc"
    assert {"started", "feedback", "estimate"} <= {line["event"] for line in lines}
    assert len({line["viewer"] for line in lines}) == 1
    assert log.stat().st_mode & 0o077 == 0, "others need not know who watches"
    code, out, err = run("rtc-log", str(log), "--capacity", "0:5M,1:600k")
    assert (code, out.strip(), err) == (0, f"{log}.svg", "")
    picture = xml.etree.ElementTree.parse(f"{log}.svg").getroot()
    words = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"target", "sent", "capacity", "queueing delay"} <= words
    code, out, _ = run("rtc-log", str(log), "--replay")
    assert code == 0 and "are the same" in out, out


def test_a_log_that_was_changed_does_not_replay(log):
    lines = log.read_text().splitlines()
    last = max(index for index, line in enumerate(lines) if '"event":"estimate"' in line)
    changed = json.loads(lines[last])
    changed["target_bps"] += 1
    lines[last] = json.dumps(changed)
    code, out, _ = run("rtc-log", "-", "--replay", stdin="\n".join(lines).encode())
    assert code == 65 and f"line {last + 1}" in out, out


def test_bad_lines_are_named_and_the_others_drawn(log, tmp_path):
    lines = log.read_text().splitlines()
    lines[5:5] = ["no line", '{"t_ms":1e999}']
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes("\n".join(lines).encode() + b"\n\xff\x00{")
    code, _, err = run("rtc-log", str(bad), "--output", str(tmp_path / "bad.svg"))
    assert code == 0 and "line 6:" in err and "line 7:" in err and f"line {len(lines) + 1}:" in err, err
    assert (tmp_path / "bad.svg").stat().st_size > 1000


def test_what_is_no_log_is_refused(tmp_path):
    assert run("rtc-log", str(tmp_path / "none"))[0] == 66
    (tmp_path / "empty").write_text("")
    assert run("rtc-log", str(tmp_path / "empty"))[0] == 65
    assert run("rtc-log", str(tmp_path / "empty"), "--replay", "--output", "x")[0] == 64
    assert run("test", "--duration", "1", "--rtc-log", str(tmp_path / "no" / "such"))[0] == 73
