"""What a person gets who types something wrong: one sentence and the right exit status."""

import json
import re
import socket
import subprocess
import urllib.error
import urllib.request

import pytest

from harness import json_page
from harness.rtcast import BINARY, ROOT, run


def refused(status, *arguments, says=(), **options):
    code, out, err = run(*arguments, **options)
    assert code == status, (code, out, err)
    text = (out + err).lower()
    for word in says:
        assert word.lower() in text, (word, out, err)
    assert "fatal error" not in text and "stack dump" not in text
    return err


@pytest.mark.quick
def test_the_version_names_the_commit():
    code, out, _ = run("--version")
    named = re.fullmatch(r"rtcast \d+\.\d+\.\d+(?: \(([0-9a-f]{9})\))?\n", out)
    assert code == 0 and named, out
    head = ROOT / ".git/HEAD"
    if head.is_file() and head.read_text() == "ref: refs/heads/main\n" and (ROOT / ".git/refs/heads/main").is_file():
        assert (ROOT / ".git/refs/heads/main").read_text().startswith(named[1])


@pytest.mark.parametrize("fps", ["0", "-5", "1000", "abc"])
def test_a_frame_rate_that_makes_no_sense_is_a_usage_error(fps):
    refused(64, "test", f"--fps={fps}", says=["fps"])


@pytest.mark.quick
def test_no_display():
    refused(69, "screen", says=["display"])


def test_a_display_that_does_not_answer():
    refused(69, "screen", display=":7654", says=[":7654"])


def test_a_window_that_does_not_exist(xserver):
    refused(66, "screen", "--window", "no such window anywhere", display=xserver.name, says=["no such window anywhere", "rtcast list windows"])
    refused(66, "screen", "--window", "0x7654321", display=xserver.name, says=["0x7654321"])


def test_a_monitor_that_does_not_exist(xserver):
    refused(66, "screen", "--monitor", "17", display=xserver.name, says=["17"])


@pytest.mark.parametrize("region", ["100x100+5000+0", "5000x100+0+0"])
def test_a_region_outside_the_screen(region, xserver):
    refused(66, "screen", "--region", region, display=xserver.name, says=[region, "not inside the screen", "1280x720"])


@pytest.mark.parametrize("region", ["0x0+0+0", "abc", "10x10"])
def test_a_region_that_is_none(region, xserver):
    refused(64, "screen", "--region", region, display=xserver.name, says=["--region", region])


def test_a_port_that_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(69, "test", "--listen", f"127.0.0.1:{port}", says=[str(port), "in use"])


@pytest.mark.parametrize("address", ["", "nonsense:99999", "127.0.0.1", "127.0.0.1:x"])
def test_a_listen_address_that_is_none(address):
    refused(64, "test", f"--listen={address}", says=["listen"])


def test_unknown_patterns_and_options_are_usage_errors():
    refused(64, "test", "--pattern", "nothing", says=["pattern"])
    refused(64, "test", "--no-such-option")
    refused(64, "frobnicate")


@pytest.mark.parametrize("words, meant", [
    (["sreen", "--fps", "5"], "'screen'"), (["scren"], "'screen'"), (["lst"], "'list'"), (["Serve"], "'serve'"), (["rtclog"], "'rtc-log'"),
    (["wibble", "--fps", "5"], "--help"),
])
def test_a_command_that_is_misspelt_is_said_before_its_options(words, meant):
    err = refused(64, *words, says=[words[0], meant])
    assert "--fps" not in err and "Unknown" not in err


def test_a_file_of_a_plugin_without_its_path_is_told_its_path(tmp_path):
    _, _, err = run("plugin", "libwaves.so")
    assert "./libwaves.so" in err and "liblib" not in err


def test_an_address_without_its_scheme_is_told_it():
    refused(64, "watch", "127.0.0.1:8080", "--no-window", says=["http://127.0.0.1:8080/"])


def test_a_recording_that_cannot_be_is_said_before_a_link_is_printed(tmp_path):
    code, out, err = run("test", "--listen", "127.0.0.1:0", "--record", str(tmp_path / "talk.avi"))
    assert code == 64 and ".mkv" in err and "http://" not in out, (code, out, err)


def test_input_that_is_not_y4m_is_told_the_option_of_raw_input():
    code, _, err = run("pipe", stdin=b"\0" * 1000)
    assert code == 66 and "--raw-size" in err and "--size" not in err.replace("--raw-size", ""), (code, err)


def test_help_is_worth_reading():
    for arguments in (["--help"], ["screen", "--help"], ["test", "--help"], ["list", "--help"], ["doctor", "--help"]):
        code, out, _ = run(*arguments)
        assert code == 0 and len(out.splitlines()) > 8, arguments
    assert "  rtcast screen\n" in run("--help")[1]


COMMANDS = ["screen", "file", "camera", "pipe", "plugin", "test", "call", "watch", "serve", "link", "list", "doctor", "rtc-log"]


def options(command):
    """The help of each option, by its name."""
    found, name = {}, None
    for line in run(command, "--help", env={"COLUMNS": "1000"})[1].splitlines():
        if match := re.match(r"  (?:-\w, )?(--[a-z-]+)(?:/--[a-z-]+)?(?: <[^>]+>)?(.*)", line):
            name = match[1]
            found[name] = match[2].strip()
        elif name and line.startswith("      "):
            found[name] = f"{found[name]} {line.strip()}".strip()
        else:
            name = None
    return found


def test_an_option_means_the_same_in_every_command():
    """`--server` of `list`, `--listen` of `serve` and the like may have other defaults, and `--help` is argument-parser's."""
    meanings = {}
    for command in COMMANDS:
        for name, text in options(command).items():
            meanings.setdefault(name, {}).setdefault(text.split(" (default:")[0].split(" (values:")[0], []).append(command)
    assert {"--fps", "--size", "--audio", "--record", "--token", "--window"} <= meanings.keys()
    for name in ("--display", "--server", "--name", "--stream", "--listen", "--camera", "--file", "--screen", "--json", "--preset", "--copy"):
        meanings.pop(name, None)  # what they name is the same; the sentence says what for
    assert {name: each for name, each in meanings.items() if len(each) > 1} == {}


def test_a_screen_is_shown_by_a_call_with_the_options_of_a_cast():
    assert options("screen").keys() - options("call").keys() == {
        "--to", "--listen", "--no-qr", "--audit", "--cpu-limit", "--stats", "--open", "--tls", "--tls-cert", "--tls-key", "--host-name",
        "--frame-ancestors", "--trusted-proxy", "--listen-mode", "--base-path", "--public-url", "--pick", "--wait"}


def test_the_token_comes_by_file_and_environment_and_stays_out_of_the_process_list(cast, tmp_path):
    path = tmp_path / "token"
    path.write_text("s3cret\n")
    for arguments, env in ((["--token-file", str(path)], None), ([], {"RTCAST_TOKEN": "s3cret"})):
        rtcast = cast("test", "--listen", "0.0.0.0:0", *arguments, env=env)
        url = rtcast.url()
        assert "s3cret" not in " ".join(rtcast.process.args)
        status = []
        for secret in ({}, {"Authorization": "Bearer s3cret"}):
            request = urllib.request.Request(url.split("#")[0] + "whep", b"v=0", {"Content-Type": "application/sdp", **secret})
            with pytest.raises(urllib.error.HTTPError) as refusal:
                urllib.request.urlopen(request, timeout=10)
            status.append(refusal.value.code)
        assert status[0] == 401 and status[1] != 401, status


def test_a_token_file_that_is_none_is_refused(tmp_path):
    refused(66, "test", "--token-file", str(tmp_path / "none"), says=["token file"])
    (tmp_path / "empty").write_text("\n")
    refused(64, "test", "--token-file", str(tmp_path / "empty"), says=["token file", "visible ASCII"])
    refused(64, "test", "--token-file", str(tmp_path / "empty"), "--token", "x", says=["--token-file"])
    refused(64, "test", env={"RTCAST_TOKEN": "two words"}, says=["RTCAST_TOKEN"])


def test_list_and_doctor_tell_what_is_here(xserver):
    code, out, _ = run("list", display=xserver.name)
    assert code == 0 and "1280x720" in out and "VP8" in out
    code, out, _ = run("doctor", display=xserver.name)
    assert code == 0 and "MIT-SHM" in out and "DAMAGE" in out.upper()


@pytest.mark.parametrize("command", ["doctor", "list"])
def test_a_machine_without_folders_and_sound_has_no_stray_lines(command, tmp_path):
    """libpulse complains to standard error where it may not make its folder."""
    code, out, err = run(command, env={"HOME": str(tmp_path / "none"), "XDG_CONFIG_HOME": "", "PULSE_SERVER": f"unix:{tmp_path}/none"})
    # 69: there is no display.
    assert code in (0, 69) and "sound" in out.lower() and "secure directory" not in err, (code, err)


def test_what_list_and_doctor_print_for_programs_is_described(xserver):
    found = json_page.check(json.loads(run("list", "--json", display=xserver.name)[1]), "list")
    assert found.keys() | {"peers"} == json_page.PAGES["list"][0].keys()
    for line in run("doctor", "--json", display=xserver.name)[1].splitlines():
        json_page.check(json.loads(line), "doctor")


def test_duration_ends_the_cast_by_itself():
    code, _, err = run("test", "--duration", "1", "--json")
    assert code == 0, err


def test_the_manual_page_has_every_command_and_option():
    page = subprocess.run([ROOT / "scripts/manual", BINARY], capture_output=True, text=True, check=True).stdout.replace("\\-", "-")
    assert page.startswith(".TH RTCAST 1")
    for command in COMMANDS:
        section = re.search(rf"\.SS\nrtcast {command}\n(.*?)(?=\n\.S[SH])", page, re.S)[1]
        missing = [name for name in options(command) if f"\\fB{name}\\fR" not in section and name not in ("--help", "--version")]
        assert not missing, (command, missing)
