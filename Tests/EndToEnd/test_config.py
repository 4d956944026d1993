"""Configuration files: what they set, what counts before them, and what they may not say."""

import json
import re

import pytest

from harness import json_page
from harness.rtcast import run

CAST = ("test", "--pattern", "clock")


@pytest.fixture
def configure(tmp_path):
    """Writes the user's file; returns the environment in which it is found."""
    def write(text):
        path = tmp_path / "rtcast/config.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        path.chmod(0o600)
        return {"XDG_CONFIG_HOME": str(tmp_path)}
    return write


def settings(env, *arguments):
    code, out, err = run("config", "--json", *arguments, env=env)
    assert code == 0, err
    return {each["key"]: each for each in (json_page.check(json.loads(line), "config") for line in out.splitlines())}


def test_a_cast_takes_what_neither_options_nor_a_preset_say(cast, configure):
    env = configure({"fps": 7, "size": "640x360", "contentHint": "text"})
    rtcast = cast(*CAST, env=env)
    capture = rtcast.wait_event("capture")
    assert (capture["width"], capture["height"], capture["fps"]) == (640, 360, 7)
    assert rtcast.wait_event("stats")["content_hint"] == "text"
    rtcast = cast(*CAST, "--fps", "9", "--preset", "motion", env=env)
    capture = rtcast.wait_event("capture")
    assert (capture["width"], capture["fps"]) == (640, 9), "an option before the file"
    assert rtcast.wait_event("stats")["content_hint"] == "motion", "a preset before the file"


def test_the_token_is_for_our_own_servers_alone(cast, configure):
    env = configure({"token": "configured-secret"})
    assert cast(*CAST, env=env).listening()["token"] == "configured-secret"
    assert cast("serve", "--listen", "127.0.0.1:0", env=env).listening()["token"] == "configured-secret"
    assert cast(*CAST, env={**env, "RTCAST_TOKEN": "of-the-environment"}).listening()["token"] == "of-the-environment"


def test_options_of_units_come_from_the_file(cast, configure, tmp_path):
    (tmp_path / "token").write_text("configured-secret\n")
    (tmp_path / "token").chmod(0o600)
    state = tmp_path / "state"
    env = configure({"listen": "127.0.0.1:0", "tls": True, "tokenFile": str(tmp_path / "token"), "control": f"unix:{tmp_path}/talk.sock",
                     "record": str(tmp_path / "talk.mkv"), "stateFolder": str(state)})
    rtcast = cast(*CAST, env={**env, "XDG_STATE_HOME": ""})
    event = rtcast.listening()
    assert event["url"].startswith("https://127.0.0.1:") and event["token"] == "configured-secret"
    assert run("ctl", "--socket", str(tmp_path / "talk.sock"), "stop", env=env)[0] == 0
    assert rtcast.wait() == 0 and (tmp_path / "talk.mkv").stat().st_size > 0
    assert any(path.suffix == ".pem" for path in state.iterdir()), list(state.iterdir())
    rtcast = cast(*CAST, "--listen", "127.0.0.1:0", "--token", "other-secret", "--tls", "--record", str(tmp_path / "other.mkv"), env=env)
    assert rtcast.listening()["token"] == "other-secret", "the command line counts before the file"


@pytest.mark.quick
@pytest.mark.parametrize("text, words", [
    ('{\n"listen": "nowhere"}', ["line 2: listen is refused", "nowhere"]), ('{"lisen": 1}', ["line 1", "is listen meant?"]),
    ('{"tls": 1}', ["tls must be true or false"]), ('{"tls": true,\n"tlsCert": "a"}', ["config.json, line", "--tls-cert"]),
])
def test_an_option_that_is_wrong_is_named_with_its_line(configure, text, words):
    code, out, err = run("serve", env=configure(text))
    assert code == 64 and "rtcast/config.json" in err, (code, out, err)
    for word in words:
        assert word in err, (word, err)
    assert run("serve", "--help", env=configure(text))[0] == 0


@pytest.mark.quick
def test_config_says_where_each_value_comes_from(configure, tmp_path):
    env = configure('{\n  "fps": 7,\n  "token": "secret-secret",\n  "video": {\n    "maxBitrate": 3000000 }\n}\n')
    path = str(tmp_path / "rtcast/config.json")
    found = settings({**env, "RTCAST_ICE_SERVERS": "stun:a.example"})
    assert found["fps"] == {"key": "fps", "value": "7", "origin": path, "line": 2}
    assert found["token"] == {"key": "token", "value": "set", "origin": path, "line": 3}
    assert found["video.maxBitrate"]["value"] == "3000000" and found["video.maxBitrate"]["line"] == 5
    assert found["iceServers"]["origin"] == "RTCAST_ICE_SERVERS"
    assert found["codec"]["origin"] == "default" and found["codec"]["line"] is None
    assert found["listen"]["origin"] == "default" and found["stateFolder"]["origin"] == "XDG_STATE_HOME"
    found = settings(env, "--preset", "lan")
    assert found["fps"]["value"] == "30" and found["fps"]["origin"] == "preset lan"
    code, out, _ = run("config", env=env)
    assert code == 0 and re.search(rf"^fps +7 +{re.escape(path)}, line 2$", out, re.M) and "secret-secret" not in out


@pytest.mark.quick
@pytest.mark.parametrize("text, words", [
    ('{\n  "fsp": 5\n}', ["line 2", "fsp is unknown; is fps meant?"]), ('{\n"video": {\n"maxBitrat": 1}}', ["line 3", "is maxBitrate meant?"]),
    ("{", ["is not JSON"]), ('{"fps": 500}', ["line 1", "0.1 to 240"]), ('{"audioSource": 5}', ["audioSource must be a text"]),
])
def test_a_file_that_is_wrong_is_named_with_its_line(configure, text, words):
    env = configure(text)
    for command in (["test"], ["config"], ["serve"]):
        code, out, err = run(*command, env=env)
        assert code == 64 and "rtcast/config.json" in err, (command, code, out, err)
        for word in words:
            assert word in err, (word, err)
    assert run("--version", env=env)[0] == 0 and run("test", "--help", env=env)[0] == 0
